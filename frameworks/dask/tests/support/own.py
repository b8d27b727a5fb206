"""A cluster that a program starts by itself: a scheduler under a policy, and stock workers."""

from __future__ import annotations

import contextlib
import errno
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from support.trial import WORKERS

SCHEDULER = Path(__file__).with_name("scheduler.py")
#: How long a process may take to end, in seconds.
GRACE = 10

#: What runs a worker with this number somewhere else: a command that is followed by its own.
Elsewhere = Callable[[int], Sequence[str]]


def here(number: int) -> Sequence[str]:
    return ()


def free_port(host: str) -> int:
    """One that Linux gives to nobody who asks for any: it stays free while the scheduler is not there."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
                return port
            except OSError as wrong:
                if wrong.errno != errno.EADDRINUSE:
                    raise


class Cluster:
    """`policy` is a translated one. A worker that ends is followed by another."""

    def __init__(
        self, policy: str, options: Sequence[str], host: str = "127.0.0.1", elsewhere: Elsewhere = here
    ) -> None:
        self.policy, self.options, self.host, self.elsewhere = policy, options, host, elsewhere
        self.port = free_port(host)
        self.closing = False
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self.start_scheduler()
        self.keepers = [threading.Thread(target=self.keep, args=(number,)) for number in range(WORKERS)]
        for keeper in self.keepers:
            keeper.start()

    def start_scheduler(self) -> None:
        """One that is started again has the same address."""
        command = [sys.executable, str(SCHEDULER), self.policy, self.host, str(self.port)]
        self.scheduler = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.scheduler.stdout is not None
        self.address = self.scheduler.stdout.readline().strip()
        if not self.address:
            raise OSError("the scheduler has not started: what Python says of it is above")

    def keep(self, number: int) -> None:
        """Keeps a worker there."""
        dask = [sys.executable, "-m", "distributed.cli.dask_worker", self.address]
        command = [*self.elsewhere(number), *dask, "--nthreads", "1", "--no-dashboard", *self.options]
        while not self.closing:
            worker = self.running[number] = subprocess.Popen(command)
            worker.wait()

    def close(self) -> None:
        self.closing = True
        self.scheduler.kill()
        for worker in self.running.values():
            worker.terminate()
        for keeper in self.keepers:
            keeper.join(GRACE)
        for worker in self.running.values():
            worker.kill()
        self.scheduler.wait()


@contextlib.contextmanager
def cluster(
    policy: str, *options: str, host: str = "127.0.0.1", elsewhere: Elsewhere = here
) -> Iterator[Cluster]:
    of = Cluster(policy, options, host, elsewhere)
    try:
        yield of
    finally:
        of.close()
