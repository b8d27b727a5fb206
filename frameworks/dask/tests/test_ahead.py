"""A worker gets its next task while it computes a short one."""

from __future__ import annotations

import unittest
from unittest import mock

from catapults_dask.ahead import LEAST, MOST, STREAK, TIMES, Ahead
from catapults_dask.engine import Engine
from catapults_dask.policy import Scheduler
from test_engine import Fifo, Stealing


def engine_of(policy: type[Scheduler], workers: str, tasks: str) -> Engine:
    """An engine whose tasks are taken for short."""
    engine = Engine(policy, Ahead())
    for _ in range(STREAK):
        engine.ahead.ended("short", 0)
    for name in workers:
        engine.arrive(name)
    for key in tasks:
        engine.submit(key, {}, "short")
    return engine


class Short(unittest.TestCase):
    def test_so_many_in_a_row_are_short(self) -> None:
        ahead = Ahead()
        for _ in range(STREAK - 1):
            ahead.ended("f", 0)
        self.assertFalse(ahead.short("f"))
        ahead.ended("f", 0)
        ahead.ended("g", LEAST)
        self.assertEqual((ahead.short("f"), ahead.short("g")), (True, False))
        ahead.ended("f", LEAST)
        self.assertFalse(ahead.short("f"))

    def test_what_is_short_depends_on_what_lies_between_tasks(self) -> None:
        ahead = Ahead()
        for _ in range(200):
            ahead.ended("f", 0.010, 0.015)
        self.assertAlmostEqual(ahead.limit, TIMES * 0.005, places=5)
        self.assertTrue(ahead.short("f"))
        for _ in range(200):
            ahead.ended("f", 0.010, 1.010)
        self.assertEqual(ahead.limit, MOST)
        for _ in range(200):
            ahead.ended("f", 1.0, 0.5)
        self.assertAlmostEqual(ahead.limit, LEAST)


class OfOneScheduler(unittest.TestCase):
    def setUp(self) -> None:
        self.engine = engine_of(Fifo, "ab", "12345")
        self.policy = self.engine.single.instance

    def test_those_with_nothing_to_do_come_first(self) -> None:
        self.assertEqual(self.engine.decisions(), [("a", "1"), ("b", "2"), ("a", "3"), ("b", "4")])
        self.assertEqual(self.engine.decisions(), [])
        self.engine.finish("1")
        self.assertEqual(self.engine.decisions(), [("a", "5")])
        for key in "4325":
            self.engine.finish(key)
        self.assertEqual((self.engine.decisions(), self.engine.tasks, self.engine.following), ([], {}, {}))
        self.assertEqual([place.runs for place in self.engine.places.values()], [None, None])

    def test_none_behind_a_task_of_which_nothing_is_known(self) -> None:
        self.engine.cancel("1")
        self.engine.submit("1", {}, "other")
        self.engine.cancel("3")
        self.engine.cancel("4")
        self.assertEqual(self.engine.decisions(), [("a", "2"), ("b", "5"), ("a", "1")])
        self.engine.finish("2")
        self.engine.submit("6", {}, "short")
        self.assertEqual(self.engine.decisions(), [("b", "6")])

    def test_none_behind_a_task_that_has_run_for_long(self) -> None:
        for key in "345":
            self.engine.cancel(key)
        self.engine.decisions()
        with mock.patch("time.monotonic", lambda: 1e9):
            self.engine.submit("6", {}, "short")
            self.assertEqual(self.engine.decisions(), [])

    def test_none_without_it(self) -> None:
        self.engine.ahead = None
        self.assertEqual(len(self.engine.decisions()), 2)

    def test_each_event_sees_its_own_task(self) -> None:
        seen = []

        def exit(t: Fifo.Task) -> None:
            seen.append(t is self.policy.current.first and len(self.policy.current))
            t.destroy()

        self.policy.exit = self.policy.cancel = exit
        self.engine.decisions()
        for key in "32":
            self.engine.finish(key)
        for key in "14":
            self.engine.cancel(key)
        self.assertEqual(seen, [1, 1, 1, 1])

    def test_a_task_is_taken_back(self) -> None:
        self.engine.decisions()
        self.assertEqual(self.engine.overdue(0), [("a", "3"), ("b", "4")])
        self.assertEqual(self.engine.overdue(0), [])
        self.assertFalse(self.engine.ahead.short("short"))
        self.engine.take_back("3")
        # It comes before all that the policy decides later.
        self.engine.finish("2")
        self.engine.finish("4")
        self.assertEqual(self.engine.decisions(), [("b", "3")])
        self.engine.finish("3")
        self.assertEqual(self.engine.decisions(), [("b", "5")])

    def test_one_that_is_taken_back_can_be_cancelled(self) -> None:
        self.engine.decisions()
        self.engine.take_back("3")
        self.engine.cancel("3")
        self.engine.finish("2")
        self.engine.finish("4")
        self.assertEqual(self.engine.decisions(), [("b", "5")])

    def test_one_that_was_late_in_being_taken_back(self) -> None:
        self.engine.decisions()
        self.engine.finish("1")
        # It had come to its turn for the policy, and its worker has not begun it.
        self.engine.take_back("3")
        self.assertEqual(self.engine.decisions(), [("a", "3"), ("a", "5")])

    def test_both_go_with_a_worker(self) -> None:
        self.engine.decisions()
        self.engine.depart("a")
        for key in "13":
            self.engine.submit(key, {}, "short")
        for key in "24":
            self.engine.finish(key)
        self.assertEqual(self.engine.decisions(), [("b", "5"), ("b", "1")])
        for key in "51":
            self.engine.finish(key)
        self.assertEqual(self.engine.decisions(), [("b", "3")])

    def test_tasks_outlive_a_policy(self) -> None:
        self.engine.decisions()
        with self.assertLogs("catapults.dask", "ERROR"):
            self.engine.submit("6", {"size": 10}, "short")
        self.engine.take_back("4")
        for key in "13":
            self.engine.finish(key)
        self.assertEqual(self.engine.decisions(), [("a", "4"), ("b", "5"), ("a", "6")])
        for key in "2456":
            self.engine.finish(key)
        self.assertEqual((self.engine.decisions(), self.engine.tasks), ([], {}))


class OfNodes(unittest.TestCase):
    def test_nothing_is_stolen_for_later(self) -> None:
        engine = engine_of(Stealing, "ab", "1234")
        self.assertEqual(engine.decisions(), [("a", "1"), ("b", "2"), ("a", "3")])
        self.assertEqual([place.node.load for place in engine.places.values()], [3, 1])
        engine.finish("1")
        self.assertEqual(engine.decisions(), [("a", "4")])

    def test_a_task_is_taken_back(self) -> None:
        engine = engine_of(Stealing, "ab", "12345")
        self.assertEqual(engine.decisions(), [("a", "1"), ("b", "2"), ("a", "3")])
        engine.overdue(0)
        engine.take_back("3")
        place = engine.places["a"]
        # It is the last one there now, and nothing comes in its place.
        self.assertEqual([engine.by_thread[thread].key for thread in place.view.instance.ready], ["4", "5", "3"])
        engine.finish("2")
        self.assertEqual(engine.decisions(), [("b", "4")])
        self.assertEqual(place.load, 3)

    def test_both_go_with_a_worker(self) -> None:
        engine = engine_of(Stealing, "ab", "1234")
        engine.decisions()
        engine.depart("a")
        for key in "13":
            engine.submit(key, {}, "short")
        engine.finish("2")
        self.assertEqual(engine.decisions(), [("b", "4"), ("b", "1")])
        for key in "413":
            engine.finish(key)
            engine.decisions()
        self.assertEqual((engine.tasks, engine.by_thread, engine.places["b"].load), ({}, {}, 0))


if __name__ == "__main__":
    unittest.main()
