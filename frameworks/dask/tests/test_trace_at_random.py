"""Whatever happens to a cluster, and in whatever order it is heard of: what is recorded can be so."""

from __future__ import annotations

import logging
import random
import runpy
import tempfile
import unittest
from pathlib import Path
from typing import Any

from catapults_dask.ahead import STREAK, Ahead
from catapults_dask.engine import Engine
from catapults_dask.policy import Scheduler
from catapults_dask.trace import Trace
from recording import computed
from support.records import records
from test_engine import Fifo, Stealing

SEEDS, ACTIONS = 25, 400
#: Enough for all that is recorded.
CAPACITY = 1 << 13

Cluster: Any = runpy.run_path(str(Path(__file__).parent / "random" / "workload.py"))["Cluster"]


class Tolerant(Stealing):
    """Refuses nothing and stops nowhere, whatever is said of a task."""

    def newthread(self, t: Fifo.Task) -> None:
        self.ready.put(t)

    migrate = newthread


class Disorderly(Cluster):
    """As the other, but workers also begin tasks ahead first, and give some back after they have ended those before."""

    def act(self) -> None:
        if self.rng.random() < 0.05:
            for keys in self.computing.values():
                keys.reverse()
        if self.rng.random() < 0.05:
            for name, key in self.engine.overdue(0.0):
                keys = self.computing[name]
                if keys[0] != key:
                    self.engine.finish(keys.pop(0), 0.0)
                keys.remove(key)
                self.engine.take_back(key)
        super().act()


class AtRandom(unittest.TestCase):
    def test_what_is_recorded_can_be_so(self) -> None:
        # Some policies stop at guards.
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "random.trace"
            for policy in (Fifo, Stealing, Tolerant):
                for seed in range(SEEDS):
                    with self.subTest(policy=policy.__name__, seed=seed):
                        engine = self.engine(policy, path)
                        cluster = Disorderly(engine, random.Random(seed))
                        for _ in range(ACTIONS):
                            cluster.act()
                        computed(path)
                        self.assertEqual(living(path), {task.thread.id for task in engine.tasks.values() if task.recorded})

    def engine(self, policy: type[Scheduler], path: Path) -> Engine:
        ahead = Ahead()
        for _ in range(STREAK):
            ahead.ended("short", 0.0)
        return Engine(policy, ahead, trace=Trace(str(path), policy, CAPACITY))


def living(path: Path) -> set[int]:
    """Those that have come, and have not ended."""
    found = set()
    for record in records(path):
        if record.kind == "new":
            found.add(record.thread)
        elif record.kind == "exited":
            found.remove(record.thread)
    return found


if __name__ == "__main__":
    unittest.main()
