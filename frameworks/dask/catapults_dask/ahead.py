"""Which tasks are so short that a worker is given the next one before it is done."""

from __future__ import annotations

from collections.abc import Hashable

#: Tasks are short that take less than so many times what it takes to give a worker a task, and to hear of its end.
TIMES = 5
#: And these take at least so much, and at most, in seconds: so much too soon can a decision ahead be.
LEAST, MOST = 0.010, 0.100
#: So many tasks of a kind in a row have been short before the next one is taken for short, too.
STREAK = 8
#: How long a task waits behind one that turns out to last, in seconds, until the policy gets it back.
PATIENCE = 2 * MOST
#: Of each new value, in a mean that forgets.
WEIGHT = 1 / 16


class Ahead:
    """Learns from each task that ends. A kind is whatever its tasks have in common, in Dask the name of a function."""

    def __init__(self) -> None:
        #: How many in a row have been short, by kind.
        self.streaks: dict[Hashable, int] = {}
        #: What it takes beside computing, in seconds: the worker has nothing to do meanwhile, unless it has a second task.
        self.between = 0.0

    def ended(self, kind: Hashable, seconds: float, elapsed: float | None = None) -> None:
        """A task has ended that took so long to compute, and so long since it was given to a worker that had nothing to do."""
        if elapsed is not None:
            self.between += WEIGHT * (max(elapsed - seconds, 0.0) - self.between)
        self.streaks[kind] = self.streaks.get(kind, 0) + 1 if seconds < self.limit else 0

    @property
    def limit(self) -> float:
        """How long a short task takes at the most."""
        return min(max(TIMES * self.between, LEAST), MOST)

    def lasts(self, kind: Hashable) -> None:
        """One has not ended for long."""
        self.streaks[kind] = 0

    def short(self, kind: Hashable) -> bool:
        return self.streaks.get(kind, 0) >= STREAK
