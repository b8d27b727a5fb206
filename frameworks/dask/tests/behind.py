"""Tasks behind others that turn out to last: the short ones before them make each worker get two. Run by `catapults run`."""

from __future__ import annotations

import os
import time

from distributed import Client, Event, secede, wait

WORKERS = int(os.environ["CATAPULTS_DASK_WORKERS"])
#: In seconds; more than whatever else may take here.
LONG = 120


def lasts(gate: str | None) -> int:
    if gate is not None:
        Event(f"{gate}-begun").set()
        Event(gate).wait(LONG)
    return os.getpid()


def leaves(gate: str | None) -> int:
    """As above, but lets others compute meanwhile."""
    if gate is not None:
        secede()
    return lasts(gate)


def warm(client: Client, function: object) -> None:
    """Makes the tasks of a function pass for short."""
    client.gather(client.map(function, [None] * 200, pure=False))


def blocked(client: Client, function: object, gate: str) -> tuple[object, list[object]]:
    """One task that lasts, and many that could be behind it."""
    first, *others = client.map(function, [gate] + [None] * 40, pure=False)
    Event(f"{gate}-begun").wait(LONG)
    return first, others


def main() -> None:
    with Client() as client:
        for number in range(5):
            gate = f"others-{number}"
            warm(client, lasts)
            first, others = blocked(client, lasts, gate)
            if WORKERS > 1:
                # What is behind it is computed by another worker.
                wait(others, timeout=LONG)
                assert not first.done()
            else:
                client.cancel(others)
            Event(gate).set()
            assert isinstance(first.result(), int)

            gate = f"seceded-{number}"
            warm(client, leaves)
            first, others = blocked(client, leaves, gate)
            # Its own worker computes them, too.
            processes = set(client.gather(others))
            assert len(processes) <= WORKERS and not first.done()
            Event(gate).set()
            first.result()
            del first, others
        left, requests = client.run_on_scheduler(books)
        assert left == 0, left
        assert requests > 0 or WORKERS == 1
        print(f"behind: all as expected, {requests} asked for")


def books(dask_scheduler: object) -> tuple[int, int]:
    """What is left of tasks that are over, and how many of them workers have been asked to give back."""
    engine = dask_scheduler.engine
    left = (engine.tasks, engine.by_thread, engine.following, engine.returned, dask_scheduler.asked_back)
    return sum(map(len, left)) + sum(place.load for place in engine.places.values()), dask_scheduler.requests


if __name__ == "__main__":
    main()
