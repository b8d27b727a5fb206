"""What is recorded of a cluster."""

from __future__ import annotations

import errno
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from catapults_dask import trace
from catapults_dask.ahead import STREAK, Ahead
from catapults_dask.engine import Engine
from catapults_dask.policy import Guard, Refused, Scheduler, Thread
from support.records import names, records
from test_engine import Fifo, Stealing


class Told(Stealing):
    NAME = "told"
    SOURCE = "told.sched"
    LINES = {"newthread": 7, "schedule": 9}


class Recorded(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "cluster.trace"

    def engine(self, policy: type[Scheduler], workers: str, capacity: int = 64) -> Engine:
        engine = Engine(policy, Ahead(), trace=trace.Trace(str(self.path), policy, capacity))
        for _ in range(STREAK):
            engine.ahead.ended("short", 0)
        for name in workers:
            engine.arrive(name)
        return engine

    def found(self) -> list[tuple[str, int, int, str]]:
        """Without names of tasks."""
        return [(of.kind, of.thread, of.processor, of.name) for of in records(self.path) if of.kind != "named"]

    def test_it_says_whose_it_is(self) -> None:
        self.engine(Told, "")
        known = names(self.path.read_bytes())
        self.assertEqual(known[:4], [(0, "told"), (0, "told.sched"), (0, "dask"), (0, "CLOCK_MONOTONIC")])
        self.assertIn((9, "schedule"), known)
        self.assertIn((0, "departure"), known)
        self.assertEqual(known[-1], (0, "size"))

    def test_a_worker_computes_one_task_after_the_other(self) -> None:
        engine = self.engine(Told, "ab")
        engine.decisions()
        engine.submit("1", {})
        engine.submit("2", {"size": 3})
        engine.decisions()
        engine.finish("1")
        engine.decisions()
        engine.finish("2")
        self.assertEqual(
            self.found(),
            [
                ("idle", 0, 0, ""),
                ("idle", 0, 1, ""),
                ("new", 1, 0, "newthread"),
                ("new", 2, 0, "newthread"),
                ("value", 2, 0, "size"),
                ("dispatched", 1, 0, "schedule"),
                ("exited", 1, 0, "exit"),
                ("dispatched", 2, 0, "schedule"),
                ("exited", 2, 0, "exit"),
            ],
        )
        times = [record.time for record in records(self.path)]
        self.assertEqual(times, sorted(times))
        self.assertEqual([record.value for record in records(self.path) if record.kind == "value"], [3])

    def test_a_task_ahead_runs_once_the_one_before_it_is_done(self) -> None:
        engine = self.engine(Fifo, "a")
        for key in "12":
            engine.submit(key, {}, "short")
        self.assertEqual(engine.decisions(), [("a", "1"), ("a", "2")])
        engine.finish("1")
        engine.cancel("2")
        engine.decisions()
        self.assertEqual(
            self.found()[2:],
            [
                ("dispatched", 1, 0, "schedule"),
                ("exited", 1, 0, "exit"),
                ("dispatched", 2, 0, "schedule"),
                ("exited", 2, 0, "cancel"),
                ("idle", 0, 0, ""),
            ],
        )

    def test_what_goes_with_a_worker_waits_until_it_comes_again(self) -> None:
        engine = self.engine(Told, "ab")
        for key in "12":
            engine.submit(key, {})
        self.assertEqual(engine.next("a"), "1")
        engine.depart("a")
        self.assertEqual(engine.next("b"), "2")
        engine.submit("1", {})
        engine.finish("2")
        self.assertEqual(engine.next("b"), "1")
        self.assertEqual(
            self.found()[2:],
            [
                ("dispatched", 1, 0, "schedule"),
                ("blocked", 1, 0, "departure"),
                ("dispatched", 2, 1, "schedule"),
                ("raised", 1, 1, "migrate"),
                ("exited", 2, 1, "exit"),
                ("dispatched", 1, 1, "schedule"),
            ],
        )

    def test_without_nodes_it_comes_as_another(self) -> None:
        engine = self.engine(Fifo, "a")
        for key in "12":
            engine.submit(key, {}, "short")
        self.assertEqual(len(engine.decisions()), 2)
        engine.depart("a")
        engine.arrive("b")
        engine.submit("1", {})
        engine.decisions()
        self.assertEqual(
            self.found()[2:],
            [
                ("dispatched", 1, 0, "schedule"),
                ("exited", 1, 0, "cancel"),
                ("exited", 2, 0, "cancel"),
                ("new", 3, 0, "newthread"),
                ("dispatched", 3, 0, "schedule"),
            ],
        )

    def test_a_task_ahead_can_be_first(self) -> None:
        engine = self.engine(Fifo, "a")
        for key in "12":
            engine.submit(key, {}, "short")
        engine.decisions()
        engine.finish("2")
        engine.finish("1")
        self.assertEqual(
            self.found()[2:],
            [
                ("dispatched", 1, 0, "schedule"),
                ("preempted", 1, 0, ""),
                ("dispatched", 2, 0, "schedule"),
                ("exited", 2, 0, "exit"),
                ("dispatched", 1, 0, "schedule"),
                ("exited", 1, 0, "exit"),
            ],
        )

    def test_what_is_given_back_has_not_begun(self) -> None:
        engine = self.engine(Told, "ab")
        for key in "123":
            engine.submit(key, {}, "short")
        self.assertEqual(engine.decisions(), [("a", "1"), ("b", "2"), ("a", "3")])
        self.assertEqual(engine.overdue(patience=0), [("a", "3")])
        engine.finish("1")
        # The worker waited for what the task needs.
        engine.take_back("3")
        engine.decisions()
        self.assertEqual(
            self.found()[3:],
            [
                ("dispatched", 1, 0, "schedule"),
                ("dispatched", 2, 1, "schedule"),
                ("exited", 1, 0, "exit"),
                ("dispatched", 3, 0, "schedule"),
                ("preempted", 3, 0, ""),
                ("dispatched", 3, 0, "schedule"),
            ],
        )

    def test_a_policy_that_is_out_where_it_places(self) -> None:
        class Lost(Told.NODES):
            def dispatch(self, t: Thread) -> None:
                raise Guard(5, "no")

        class Nowhere(Told):
            NODES = Lost

        engine = self.engine(Nowhere, "a")
        with self.assertLogs("catapults.dask", "ERROR"):
            engine.submit("1", {})
        engine.decisions()
        engine.finish("1")
        self.assertEqual(
            self.found(),
            [
                ("policy-out", 0, 0, "dispatch"),
                ("new", 1, 0, ""),
                ("dispatched", 1, 0, "schedule"),
                ("exited", 1, 0, "exit"),
            ],
        )

    def test_what_is_refused_and_a_policy_that_is_out(self) -> None:
        engine = self.engine(Told, "a")
        engine.submit("1", {"size": -1})
        with self.assertLogs("catapults.dask", "ERROR"):
            engine.submit("2", {"size": 10})
        engine.submit("3", {})
        engine.decisions()
        found = self.found()
        self.assertEqual([found[0], found[1]], [("refused", 1, 0, "newthread"), ("policy-out", 0, 0, "newthread")])
        self.assertEqual(found[-2:], [("new", 3, 0, ""), ("dispatched", 2, 0, "schedule")])
        # The policy's own line is behind the guard, and then there is none.
        self.assertEqual([of.line for of in records(self.path) if of.name in trace.EVENTS], [7, 2, 0, 0])

    def test_one_that_comes_again_can_be_refused(self) -> None:
        class Once(Told):
            def migrate(self, t: Thread) -> None:
                raise Refused(6, "not again")

        engine = self.engine(Once, "ab")
        engine.submit("1", {})
        engine.decisions()
        engine.depart("a")
        engine.submit("1", {})
        self.assertEqual(self.found()[-2:], [("blocked", 1, 0, "departure"), ("exited", 1, 1, "migrate")])

    def test_more_workers_than_can_be_told_apart(self) -> None:
        self.addCleanup(setattr, trace, "PROCESSORS", trace.PROCESSORS)
        trace.PROCESSORS = 1
        with self.assertLogs("catapults.dask", "WARNING"):
            engine = self.engine(Fifo, "abc")
        for key in "123":
            engine.submit(key, {})
        engine.decisions()
        for key in "321":
            engine.finish(key)
        engine.decisions()
        self.assertEqual(
            self.found()[3:],
            [
                ("dispatched", 1, 0, "schedule"),
                ("exited", 3, 0, "exit"),
                ("exited", 2, 0, "exit"),
                ("exited", 1, 0, "exit"),
                ("idle", 0, 0, ""),
            ],
        )

    def test_the_ring_keeps_the_last(self) -> None:
        engine = self.engine(Fifo, "a", capacity=8)
        for key in range(9):
            engine.submit(key, {})
            engine.decisions()
            engine.finish(key)
        self.assertEqual(len(list(records(self.path))), 8)
        self.assertEqual(self.found()[-1], ("exited", 9, 0, "exit"))

    def test_long_names_are_whole(self) -> None:
        engine = self.engine(Fifo, "a")
        engine.submit(("x" * 20, 1), {})
        self.assertIn(b"('xxxxxxxxxxxxxx", self.path.read_bytes())
        self.assertEqual([record.kind for record in records(self.path)], ["new", "named", "named"])

    def test_where_nothing_can_be_written_nothing_begins(self) -> None:
        with self.assertRaisesRegex(ValueError, "cannot record in .*: No such file or directory"):
            trace.Trace(str(self.path / "missing"), Fifo)
        os.mkfifo(self.path)
        with self.assertRaisesRegex(ValueError, "cannot record in .*: Illegal seek"):
            trace.Trace(str(self.path), Fifo)

    def test_where_there_is_no_room_none_is_taken(self) -> None:
        no_room = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def filled(descriptor: int, start: int, size: int) -> None:
            os.truncate(descriptor, 1000)
            raise no_room

        with mock.patch("os.posix_fallocate", filled), self.assertRaisesRegex(ValueError, "No space left on device"):
            trace.Trace(str(self.path), Fifo)
        self.assertEqual(self.path.stat().st_size, 0)


if __name__ == "__main__":
    unittest.main()
