"""Many tasks on a cluster while something fails, and what has become of them."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, NoReturn

from distributed import Client

from support import work

WORKERS = int(os.environ.get("CATAPULTS_DASK_WORKERS", "3"))
#: How long a trial may take, in seconds: what has not been computed then is lost.
PATIENCE = int(os.environ.get("CLUSTER_PATIENCE", "240"))
SEED = os.environ.get("SEED") or str(time.time_ns() % 1_000_000)
#: For a fault of workers that Dask has to notice by itself: the least that it can do with as few workers.
GIVES_UP_SOON = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s"}
#: Policies with an order find three levels.
LEVELS = 3


@dataclass
class Tally:
    """What has become of tasks. `kills` are workers that went: killed, or given up by the scheduler."""

    twice: int = 0
    tasks: int = 0
    kills: int = 0
    lost: int = 0
    wrong: int = 0

    LINES = re.compile(r"done twice (\d+)\ncluster: tasks (\d+), kills (\d+), lost (\d+), wrong (\d+)\n$")

    @property
    def summary(self) -> str:
        return f"tasks {self.tasks}, kills {self.kills}, lost {self.lost}, wrong {self.wrong}"

    def __str__(self) -> str:
        """The last two lines of a program."""
        return f"done twice {self.twice}\ncluster: {self.summary}"

    @classmethod
    def read(cls, output: str) -> Tally | None:
        found = cls.LINES.search(output)
        return cls(*map(int, found.groups())) if found else None

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(mine + its for mine, its in zip(self.numbers(), other.numbers(), strict=True)))

    def numbers(self) -> tuple[int, ...]:
        return self.twice, self.tasks, self.kills, self.lost, self.wrong


class Worker(NamedTuple):
    """The number of a process alone may be that of another one later."""

    address: str
    process: int

    def send(self, what: signal.Signals) -> None:
        # It may have ended by itself: what comes of it is the same.
        with suppress(ProcessLookupError):
            os.kill(self.process, what)


class Trial:
    """The tasks have the numbers from 0. Whoever makes something fail counts it here."""

    def __init__(self, client: Client, tasks: int, folder: Path) -> None:
        self.client, self.tasks, self.folder = client, tasks, folder
        self.random = Random(SEED)
        self.journal = work.Journal(folder / "journal")
        self.futures: dict[int, Any] = {}
        self.results: dict[int, int] = {}
        #: Those that have been made to fail.
        self.struck: set[Worker] = set()
        self.kills = self.others = self.wrong = 0

    def submit(self) -> None:
        """All tasks that have no result."""
        path = str(self.journal.path)
        missing = [number for number in range(self.tasks) if number not in self.results]
        self.futures = {}
        for level in range(LEVELS):
            squares = [number for number in missing if not work.adds(number) and level_of(number) == level]
            futures = self.client.map(work.square, squares, path=path, priority=level, pure=False)
            self.futures.update(zip(squares, futures, strict=True))
        for number in filter(work.adds, missing):
            parts = [self.part(part) for part in work.parts_of(number)]
            self.futures[number] = self.client.submit(
                work.total, number, path, *parts, priority=level_of(number), pure=False
            )

    def part(self, number: int) -> Any:
        return (number, self.results[number]) if number in self.results else self.futures[number]

    def done(self) -> int:
        return len(self.results) + sum(bool(future.done()) for future in self.futures.values())

    def reach(self, share: float) -> None:
        """Waits until so much of the tasks has been done."""
        until(lambda: self.done() >= share * self.tasks)

    def moments(self, number: int) -> list[float]:
        """So many random instants, as shares of the tasks."""
        return sorted(self.random.uniform(0.05, 0.85) for _ in range(number))

    def victim(self) -> Worker:
        """A random worker that nothing has happened to."""
        untouched: list[Worker] = []

        def any_untouched() -> bool:
            untouched[:] = sorted(self.workers() - self.struck)
            return bool(untouched)

        until(any_untouched)
        chosen = self.random.choice(untouched)
        self.struck.add(chosen)
        return chosen

    def recovered(self, worker: Worker) -> None:
        """A victim is as good as any other again, unless the scheduler has given it up."""
        if self.given_up(worker):
            self.kills += 1
        else:
            self.struck.discard(worker)

    def given_up(self, worker: Worker) -> bool:
        return worker not in self.workers()

    def kill(self) -> None:
        self.victim().send(signal.SIGKILL)
        self.kills += 1

    def workers(self) -> set[Worker]:
        """Those that the scheduler knows."""
        return {Worker(*of) for of in self.client.run_on_scheduler(known_workers)}

    def complete(self) -> None:
        """Waits until there are as many workers as at first, none of them struck."""
        until(lambda: len(self.workers() - self.struck) == WORKERS)

    def collect(self) -> None:
        """Takes the results of all tasks."""
        # Who waits for a result that goes with its worker meanwhile waits again: `gather` does so, `wait` does not.
        self.results.update(self.client.gather(list(self.futures.values()), errors="skip"))
        for number, future in self.futures.items():
            if future.status == "error":
                say(f"task {number}: {future.exception()!r}")
        self.futures = {}

    def take_done(self) -> None:
        """Takes the results that are there."""
        there = [future for future in self.futures.values() if future.done()]
        self.results.update(self.client.gather(there, errors="skip"))
        self.futures = {number: future for number, future in self.futures.items() if number not in self.results}

    def extra(self, tasks: int, wrong: int) -> None:
        """Tasks of another kind, as whoever has submitted them has found them."""
        self.others += tasks
        self.wrong += wrong

    def tally(self) -> Tally:
        times = self.journal.times()
        wrong = [
            number for number, value in self.results.items() if value != work.expected(number) or not times[number]
        ]
        return Tally(
            sum(times.values()) - len(times),
            self.tasks + self.others,
            self.kills,
            self.tasks - len(self.results),
            len(wrong) + self.wrong,
        )


def level_of(number: int) -> int:
    return number // work.GROUP % LEVELS


def known_workers(dask_scheduler: Any) -> list[tuple[str, int]]:
    return [(worker.address, worker.pid) for worker in dask_scheduler.workers.values()]


def until(condition: Callable[[], bool]) -> None:
    """Waits for something; `PATIENCE` bounds the whole trial."""
    while not condition():
        time.sleep(0.05)


def say(what: str) -> None:
    print(what, flush=True)


@contextmanager
def trial(client: Client, tasks: int) -> Iterator[Trial]:
    """Begins the tasks; ends with all results, or when patience is at its end. Then the program ends: it says the tally last."""
    with tempfile.TemporaryDirectory() as folder:
        of = Trial(client, tasks, Path(folder))
        signal.signal(signal.SIGALRM, out_of_patience)
        signal.alarm(PATIENCE)
        undone: int | None = None
        try:
            of.submit()
            yield of
            of.collect()
            of.complete()
        except OutOfPatience:
            undone = tasks - of.done()
            say(f"after {PATIENCE} s, {tasks - undone} of {tasks} tasks are done; the workers are {of.workers()}")
        finally:
            signal.alarm(0)
        tally = of.tally()
        if undone is not None:
            # Those that are done have no result here, but they are not lost.
            tally.lost = undone
    say(str(tally))
    # A cluster that does not end by itself is ended by whoever has started it.
    sys.exit(undone is not None or tally.lost + tally.wrong > 0)


class OutOfPatience(Exception):
    pass


def out_of_patience(*_: object) -> NoReturn:
    raise OutOfPatience
