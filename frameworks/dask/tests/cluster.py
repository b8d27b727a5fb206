"""Thousands of tasks under `least_loaded`, while workers are killed. Run by `catapults run`; the last line says what was lost."""

from __future__ import annotations

import os
import signal
import sys
import time

import dask
from distributed import Client

TASKS = 3000
KILLS = 4
BOUND = 50
WORKERS = int(os.environ["CATAPULTS_DASK_WORKERS"])


def square(number: int) -> tuple[int, int, int]:
    time.sleep(0.001)
    return number, number * number, os.getpid()


def workers(client: Client) -> list[int]:
    """The processes of all workers, once all are there."""
    while True:
        answers = client.run(os.getpid, on_error="return").values()
        processes = sorted(process for process in answers if isinstance(process, int))
        if len(processes) == WORKERS:
            return processes
        time.sleep(0.05)


def main() -> None:
    with Client() as client:
        futures = client.map(square, range(TASKS), pure=False)
        for kill in range(KILLS):
            while sum(future.done() for future in futures) < TASKS * (kill + 1) // (KILLS + 2):
                time.sleep(0.05)
            os.kill(workers(client)[kill % WORKERS], signal.SIGKILL)
        # Who waits for a result that goes with its worker meanwhile waits again: `gather` does so, `wait` does not.
        results = client.gather(futures, errors="skip")
        for future in futures:
            if future.status == "error":
                print(f"cluster: {future.key}: {future.exception()!r}")
        lost = TASKS - len(results)
        wrong = sum(square != number * number for number, square, _ in results)
        used = len({process for *_, process in results})
        workers(client)
        # Those that are bound to a worker run there alone.
        with dask.annotate(processor=0):
            bound = client.gather(client.map(square, range(BOUND), pure=False))
        wrong += len({process for *_, process in bound}) != 1
        print(f"cluster: {used} processes have computed")
        print(f"cluster: tasks {TASKS + BOUND}, kills {KILLS}, lost {lost}, wrong {wrong}")
        sys.exit(lost + wrong > 0)


if __name__ == "__main__":
    main()
