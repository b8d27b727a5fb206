"""The scheduler is killed, and started again at the same address. A cluster of the program's own.

Dask keeps no tasks beyond that: workers end, and the client is told that its futures are cancelled. The program keeps what it has got,
and asks for the others again.
"""

from __future__ import annotations

import sys

from distributed import Client

from support.own import cluster
from support.trial import PATIENCE, say, trial, until

POLICIES = ("least_loaded", "fifo")
OWN = True
TASKS = 1000
RESTARTS = 3


def main() -> None:
    with (
        cluster(sys.argv[1], "--no-nanny") as own,
        Client(own.address, timeout=PATIENCE) as client,
        trial(client, TASKS) as of,
    ):
        for share in of.moments(RESTARTS):
            of.reach(share)
            of.take_done()
            futures = of.futures
            own.scheduler.kill()
            own.scheduler.wait()
            until(lambda: all(bool(future.cancelled()) for future in futures.values()))
            own.start_scheduler()
            until(lambda: bool(client.status == "running"))
            of.submit()
        say(f"the scheduler has been restarted {RESTARTS} times")


if __name__ == "__main__":
    main()
