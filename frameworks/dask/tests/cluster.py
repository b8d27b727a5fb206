"""Thousands of tasks under `least_loaded`, while workers are killed. Run by `catapults run`; the last line says what was lost."""

from __future__ import annotations

import os
import signal
import sys
import time

import dask
from distributed import Client, wait

TASKS = 3000
KILLS = 4
BOUND = 50


def square(number: int) -> tuple[int, int]:
    time.sleep(0.001)
    return number * number, os.getpid()


def main() -> None:
    with Client() as client:
        futures = client.map(square, range(TASKS), pure=False)
        for kill in range(KILLS):
            while sum(future.done() for future in futures) < TASKS * (kill + 1) // (KILLS + 2):
                time.sleep(0.05)
            victims = sorted(client.run(os.getpid).values())
            os.kill(victims[kill % len(victims)], signal.SIGKILL)
        wait(futures)
        lost = sum(future.status != "finished" for future in futures)
        results = client.gather([future for future in futures if future.status == "finished"])
        wrong = sum(result != number * number for number, (result, _) in enumerate(results)) if not lost else 0
        used = len({process for _, process in results})
        # Those that are bound to a worker run there alone.
        with dask.annotate(processor=0):
            bound = client.gather(client.map(square, range(BOUND), pure=False))
        wrong += len({process for _, process in bound}) != 1
        print(f"cluster: {used} processes have computed")
        print(f"cluster: tasks {TASKS + BOUND}, kills {KILLS}, lost {lost}, wrong {wrong}")
        sys.exit(lost + wrong > 0)


if __name__ == "__main__":
    main()
