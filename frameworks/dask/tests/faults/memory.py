"""Tasks that take more memory than their worker may have, so that its nanny kills it. A cluster of the program's own."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker

from support import work
from support.own import cluster
from support.trial import Trial, say, trial

POLICIES = ("least_loaded", "fifo")
#: It starts its scheduler and workers by itself.
OWN = True
TASKS = 600
#: What a worker may have, in megabytes.
LIMIT = 400
#: Tasks that are too large at first, and how often. Another one always is: Dask gives it up once it was on four workers that went.
LARGE, TOO_LARGE, NEVER = 3, 2, 1000
#: The journals of these.
BEGUN, DONE = "begun", "done"
#: How long a task waits to be killed, in seconds, before it says that nobody did.
LONG = 120


def fill(number: int, path: str, times: int) -> tuple[int, int]:
    """Takes too much memory so many times, then none."""
    begun = Path(path)
    work.note(str(begun), number)
    if work.Journal(begun).times()[number] <= times:
        take()
        return number, -1
    work.note(str(begun.with_name(DONE)), number)
    return number, number * number


def take() -> None:
    """Ends soon with the worker, or late, if nobody kills it."""
    taken = []
    for _ in range(2 * LIMIT // 10):
        taken.append(bytearray(b"x") * 10_000_000)
        time.sleep(0.02)
    time.sleep(LONG)


def large(of: Trial, number: int, times: int) -> Any:
    return of.client.submit(fill, number, str(of.folder / BEGUN), times, pure=False)


def main() -> None:
    with (
        cluster(sys.argv[1], "--memory-limit", f"{LIMIT}MB") as own,
        Client(own.address) as client,
        trial(client, TASKS) as of,
    ):
        # They have journals of their own: it is no accident that they are begun more than once.
        begun, done = work.Journal(of.folder / BEGUN), work.Journal(of.folder / DONE)
        futures = []
        for number, share in enumerate(of.moments(LARGE)):
            of.reach(share)
            futures.append(large(of, number, TOO_LARGE))
        never = large(of, LARGE, NEVER)
        results = client.gather(futures)
        error = never.exception()
        right = [value == number * number for number, value in results] + [isinstance(error, KilledWorker)]
        of.extra(len(right), right.count(False))
        # Whoever has begun such a task and not ended it has been killed.
        of.kills = len(begun.lines()) - len(done.lines())
        say(f"begun for each task that is too large: {sorted(begun.times().items())}; the last one ends with {type(error).__name__}")


if __name__ == "__main__":
    main()
