"""The network between a worker and all others is cut, some times until the scheduler gives the worker up. A cluster of the program's own.

Each worker is in a network namespace, and joined with the scheduler's by a pair of devices and a bridge:

    namespace of worker 0: inner --- outer0 \\
    namespace of worker 1: inner --- outer1 --- hub, where the scheduler and the client are
    namespace of worker 2: inner --- outer2 /

All namespaces are inside one that this program makes for itself, and end with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from distributed import Client

from support.own import cluster
from support.trial import GIVES_UP_SOON, WORKERS, Trial, say, trial, until

POLICIES = ("per_processor_fifo", "fifo")
OWN = True
SETTINGS = GIVES_UP_SOON
TASKS = 1000
#: Cuts that last until others have computed some tasks, and cuts that last until a worker has been given up.
BRIEFLY, FOR_LONG = 3, 3
SOME = 30
HOST = "10.77.0.1"


def address(number: int) -> str:
    return f"10.77.0.{10 + number}"


def inside() -> None:
    """This program again, as root of a network of its own."""
    if os.environ.get("CLUSTER_CUT") != "inside":
        os.environ["CLUSTER_CUT"] = "inside"
        unshare = ["unshare", "--user", "--map-root-user", "--net", "--mount"]
        os.execvp("unshare", [*unshare, sys.executable, *sys.argv])


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def build() -> None:
    # Names of namespaces are files there, and they are nobody else's affair.
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
    ip("link", "set", "lo", "up")
    ip("link", "add", "hub", "type", "bridge")
    ip("address", "add", f"{HOST}/24", "dev", "hub")
    ip("link", "set", "hub", "up")
    for number in range(WORKERS):
        space = f"worker{number}"
        ip("netns", "add", space)
        ip("link", "add", f"outer{number}", "type", "veth", "peer", "name", "inner", "netns", space)
        ip("link", "set", f"outer{number}", "master", "hub", "up")
        ip("-n", space, "address", "add", f"{address(number)}/24", "dev", "inner")
        ip("-n", space, "link", "set", "inner", "up")
        ip("-n", space, "link", "set", "lo", "up")


def elsewhere(number: int) -> Sequence[str]:
    return "ip", "netns", "exec", f"worker{number}"


def cut(of: Trial, for_long: bool) -> None:
    worker = of.victim()
    number = next(number for number in range(WORKERS) if f"//{address(number)}:" in worker.address)
    enough = min(of.done() + SOME, of.tasks)
    ip("link", "set", f"outer{number}", "down")
    until(lambda: of.given_up(worker) or (not for_long and of.done() >= enough))
    of.recovered(worker)
    # One that has been given up finds that nobody waits for it.
    ip("link", "set", f"outer{number}", "up")


def main() -> None:
    inside()
    build()
    with (
        cluster(sys.argv[1], "--no-nanny", host=HOST, elsewhere=elsewhere) as own,
        Client(own.address) as client,
        trial(client, TASKS) as of,
    ):
        kinds = [True] * FOR_LONG + [False] * BRIEFLY
        of.random.shuffle(kinds)
        for share, for_long in zip(of.moments(len(kinds)), kinds, strict=True):
            of.reach(share)
            cut(of, for_long)
        say(f"{BRIEFLY + FOR_LONG} workers cut off, {of.kills} given up")


if __name__ == "__main__":
    main()
