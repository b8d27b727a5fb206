"""What a cluster is given to compute. One program for stock Dask and for policies: `python loads.py stock|policy LOAD WORKERS`.

It says `ready N`, with the processes of its N workers, once they are there. For each line that it then reads, it computes the load
once and says how many seconds that took. Annotations are for policies; stock Dask ignores them.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import time
from collections.abc import Callable, Iterator

import dask
from distributed import Client, Future, LocalCluster, wait

#: Where a service answers, after a while: `HOST PORT`.
SERVICE = "CATAPULTS_BENCH_SERVICE"


def empty(number: int) -> int:
    return number


def compute(milliseconds: float) -> float:
    """Takes so much of a processor's time, however long that takes."""
    end = time.thread_time() + milliseconds / 1000
    while time.thread_time() < end:
        pass
    return milliseconds


def ask(host: str, port: int) -> bytes:
    """Waits for an answer of the service."""
    with socket.create_connection((host, port)) as connection:
        return connection.recv(1)


def empty_tasks(client: Client, scale: float) -> list[Future]:
    return list(client.map(empty, range(int(2000 * scale)), pure=False))


def equal_tasks(client: Client, scale: float) -> list[Future]:
    return list(client.map(compute, [20.0] * int(120 * scale), pure=False))


def mix(client: Client, scale: float) -> list[Future]:
    """Few long tasks among many short ones, in any order, but each time the same."""
    costs = [400] * 4 + [100] * 10 + [20] * 40
    random.Random(1).shuffle(costs)
    return [costly(client, int(cost * scale)) for cost in costs]


def costly(client: Client, milliseconds: int) -> Future:
    with dask.annotate(cost=milliseconds):
        return client.submit(compute, milliseconds, pure=False)


def both_kinds(client: Client, scale: float, apart: float = 0.0) -> list[Future]:
    """What computes, and then what asks a service. Stock Dask takes what comes at about the same time as one: first of each, and so on."""
    host, port = os.environ[SERVICE].split()
    number = int(32 * scale)
    computing = client.map(compute, [100.0] * number, pure=False)
    time.sleep(apart)
    with dask.annotate(waits=True):
        asking = client.map(ask, [host] * number, [int(port)] * number, pure=False)
    return [*computing, *asking]


def one_after_other(client: Client, scale: float) -> list[Future]:
    """As above, but so that stock Dask tells which came first (its `fifo-timeout` is 100 ms), as from two programs, or two cells."""
    return both_kinds(client, scale, apart=0.15)


LOADS: dict[str, Callable[[Client, float], list[Future]]] = {
    "empty": empty_tasks,
    "equal": equal_tasks,
    "mix": mix,
    "after": one_after_other,
    "both": both_kinds,
}


@contextlib.contextmanager
def connected(whose: str, workers: int) -> Iterator[Client]:
    if whose == "policy":
        with Client() as client:
            yield client
    else:
        # As users have it; without a page that shows it, which costs time.
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                yield client


def main() -> None:
    whose, load, workers, scale = sys.argv[1], LOADS[sys.argv[2]], int(sys.argv[3]), float(sys.argv[4])
    with connected(whose, workers) as client:
        client.wait_for_workers(workers)
        print("ready", *client.run(os.getpid).values(), flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            futures = load(client, scale)
            wait(futures)
            seconds = time.perf_counter() - start
            assert all(future.status == "finished" for future in futures)
            print(len(futures), seconds, flush=True)
            del futures
            # What is forgotten is not of the next measurement.
            time.sleep(0.3)


if __name__ == "__main__":
    main()
