"""The workers of a cluster and the tasks on them, and workers in the order of their loads."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterator
from typing import Any

from catapults_dask.policy import Thread
from catapults_dask.view import View

Key = Hashable


class Task:
    """A thread of the policy, and what the cluster knows of it."""

    def __init__(self, key: Key, thread: Thread, kind: Hashable) -> None:
        self.key, self.thread = key, thread
        #: Tasks of one kind are expected to last about as long as each other.
        self.kind = kind
        #: Where it is placed; without nodes, where it runs.
        self.place: Place | None = None
        #: Whether the policy has given it to a worker.
        self.running = False
        #: Whether the policy has had it on some node.
        self.known = False
        #: Its worker went while it ran: the cluster asks for it again.
        self.lost = False
        #: Whether a trace has it, and whether it waits there.
        self.recorded = self.waits = False


class Place:
    """A worker, which computes one task at a time."""

    def __init__(self, name: str, number: int, view: View, node: Any) -> None:
        self.name, self.number, self.view, self.node = name, number, view, node
        self.runs: Task | None = None
        #: Since when, in seconds.
        self.since = 0.0
        #: Whether it had nothing else to do then.
        self.began_idle = True
        #: What it computes next: it has that already.
        self.follows: Task | None = None
        #: Those that are placed there, whether they run or not.
        self.tasks: dict[Key, Task] = {}

    @property
    def load(self) -> int:
        return len(self.tasks)


class ByLoad:
    """Workers by load; of those with the same load, the lowest number comes first. Finding a position takes a logarithm of their number."""

    def __init__(self, highest_first: bool) -> None:
        self.sign = -1 if highest_first else 1
        self.order: list[tuple[int, int, Place]] = []
        self.entries: dict[Place, tuple[int, int, Place]] = {}

    def put(self, place: Place) -> None:
        """Also for one that is there, when its load has changed."""
        entry = (self.sign * place.load, place.number, place)
        if self.entries.get(place) != entry:
            self.discard(place)
            insort(self.order, entry)
            self.entries[place] = entry

    def refresh(self, place: Place) -> None:
        if place in self.entries:
            self.put(place)

    def discard(self, place: Place) -> None:
        entry = self.entries.pop(place, None)
        if entry is not None:
            del self.order[bisect_left(self.order, entry)]

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[Place]:
        for *_, place in self.order:
            yield place

    @property
    def first(self) -> Place:
        return self.order[0][2]
