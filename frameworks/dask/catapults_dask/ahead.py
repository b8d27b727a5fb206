"""Which tasks are so short that a worker is given the next one before it is done."""

from __future__ import annotations

from collections.abc import Hashable

#: Tasks that take less are short, in seconds. A decision ahead is taken so much too soon.
SHORT = 0.010
#: So many tasks of a kind in a row have been short before the next one is taken for short, too.
STREAK = 8
#: How long a task waits behind one that turns out to last, in seconds, until the policy gets it back.
PATIENCE = 0.100


class Ahead:
    """Learns from each task that ends. A kind is whatever its tasks have in common, in Dask the name of a function."""

    def __init__(self) -> None:
        #: How many in a row have been short, by kind.
        self.streaks: dict[Hashable, int] = {}

    def ended(self, kind: Hashable, seconds: float) -> None:
        self.streaks[kind] = self.streaks.get(kind, 0) + 1 if seconds < SHORT else 0

    def lasts(self, kind: Hashable) -> None:
        """One has not ended for long."""
        self.streaks[kind] = 0

    def short(self, kind: Hashable) -> bool:
        return self.streaks.get(kind, 0) >= STREAK
