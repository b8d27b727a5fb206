"""What the engine makes of a policy, without a cluster."""

from __future__ import annotations

import unittest

from catapults_dask.engine import Engine
from catapults_dask.policy import (
    READY,
    RUNNING,
    Guard,
    Import,
    Node,
    Nodes,
    Queue,
    Refused,
    Scheduler,
    Slot,
    Thread,
)


class Fifo(Scheduler):
    """As the compiler translates it, but for tasks that it refuses or stops at."""

    class Task(Thread):
        IMPORTS = (Import("size", "size", "int"),)

        def __init__(self, id: int) -> None:
            super().__init__(id)
            self.size = 0

    THREAD = Task

    def __init__(self) -> None:
        super().__init__()
        self.current = Slot(RUNNING)
        self.ready = Queue(READY)

    def newthread(self, t: Task) -> None:
        if t.size < 0:
            raise Refused(1, "too small")
        if t.size > 9:
            raise Guard(2, "too large")
        self.ready.put(t)

    def schedule(self) -> Thread:
        self.current.put(self.ready.first)
        return self.current.first

    def exit(self, t: Thread) -> None:
        t.destroy()

    cancel = exit


class Everywhere(Nodes):
    """Places everything on the node that came first."""

    THREAD = Fifo.Task

    class Worker(Node):
        IMPORTS = (Import("load", "load", "int"),)

        def __init__(self, id: int) -> None:
            super().__init__(id)
            self.load = 0

    NODE = Worker

    def __init__(self) -> None:
        super().__init__()
        self.workers = Queue(READY)

    def arrival(self, n: Node) -> None:
        self.workers.put(n)

    def departure(self, n: Node) -> None:
        n.destroy()

    def dispatch(self, t: Thread) -> None:
        self.send(t, self.workers.first)


class Stealing(Fifo):
    NODES = Everywhere

    def __init__(self, nodes: Everywhere) -> None:
        super().__init__()
        self.nodes = nodes

    migrate = Fifo.newthread

    def steal(self, n: Node) -> None:
        if len(self.ready) > 1:
            self.nodes.send(self.ready.first, n)


class OfOneScheduler(unittest.TestCase):
    def setUp(self) -> None:
        self.engine = Engine(Fifo)
        self.engine.arrive("a")
        self.engine.arrive("b")

    def test_each_worker_runs_one_task(self) -> None:
        for key in "123":
            self.engine.submit(key, {})
        self.assertEqual([self.engine.next(name) for name in "aba"], ["1", "2", None])
        self.engine.finish("2")
        self.assertEqual(self.engine.next("b"), "3")
        self.engine.finish("1")
        self.assertIsNone(self.engine.next("a"))

    def test_what_is_refused_is_told(self) -> None:
        self.engine.submit("1", {"size": -1})
        self.assertEqual(self.engine.refused, {"1": "too small"})
        self.assertIsNone(self.engine.next("a"))

    def test_a_variable_has_its_type(self) -> None:
        for wrong in ("large", True, 1.5):
            with self.assertRaises(TypeError):
                self.engine.submit(wrong, {"size": wrong})

    def test_tasks_outlive_a_policy(self) -> None:
        for key in "12":
            self.engine.submit(key, {})
        self.assertEqual(self.engine.next("a"), "1")
        with self.assertLogs("catapults.dask", "ERROR"):
            self.engine.submit("3", {"size": 10})
        self.engine.finish("1")
        self.engine.submit("4", {})
        self.assertEqual([self.engine.next(name) for name in "aba"], ["2", "3", None])
        self.engine.cancel("2")
        self.assertEqual(self.engine.next("a"), "4")

    def test_tasks_outlive_an_error_of_a_handler(self) -> None:
        for key in "123":
            self.engine.submit(key, {})
        self.assertEqual(self.engine.next("a"), "1")
        self.engine.single.instance.schedule = lambda: 1 // 0
        with self.assertLogs("catapults.dask", "ERROR") as logs:
            self.assertEqual(self.engine.next("b"), "2")
        self.assertIn("ZeroDivisionError", logs.output[0])
        self.engine.finish("1")
        self.assertEqual(self.engine.next("a"), "3")

    def test_what_a_worker_ran_goes_with_it(self) -> None:
        self.engine.submit("1", {})
        self.assertEqual(self.engine.next("a"), "1")
        self.engine.depart("a")
        self.engine.submit("1", {})
        self.assertEqual(self.engine.next("b"), "1")


class OfNodes(unittest.TestCase):
    def setUp(self) -> None:
        self.engine = Engine(Stealing)

    def loads(self) -> list[int]:
        return [place.node.load for place in self.engine.places.values()]

    def test_tasks_wait_for_the_first_worker(self) -> None:
        self.engine.submit("1", {})
        self.engine.arrive("a")
        self.assertEqual(self.engine.next("a"), "1")

    def test_who_has_nothing_steals(self) -> None:
        self.engine.arrive("a")
        self.engine.arrive("b")
        for key in "123":
            self.engine.submit(key, {})
        self.assertEqual(self.loads(), [3, 0])
        self.assertEqual([self.engine.next("a"), self.engine.next("b")], ["1", "2"])
        self.assertEqual(self.loads(), [2, 1])
        self.engine.finish("2")
        self.assertIsNone(self.engine.next("b"))

    def test_tasks_of_a_worker_that_goes_are_placed_anew(self) -> None:
        self.engine.arrive("a")
        self.engine.arrive("b")
        for key in "123":
            self.engine.submit(key, {})
        self.assertEqual(self.engine.next("a"), "1")
        self.engine.depart("a")
        # What ran there is asked for again, and comes last.
        self.engine.submit("1", {})
        taken = []
        while (key := self.engine.next("b")) is not None:
            taken.append(key)
            self.engine.finish(key)
        self.assertEqual(taken, ["2", "3", "1"])
        self.assertEqual(self.loads(), [0])

    def test_nothing_is_left_once_all_workers_are_gone(self) -> None:
        self.engine.arrive("a")
        self.engine.submit("1", {})
        self.engine.depart("a")
        self.engine.cancel("1")
        self.engine.arrive("b")
        self.assertIsNone(self.engine.next("b"))
        self.assertEqual((self.engine.tasks, self.engine.by_thread), ({}, {}))

    def test_only_workers_are_asked_that_have_nothing_to_do(self) -> None:
        for name in "abc":
            self.engine.arrive(name)
        for key in "123":
            self.engine.submit(key, {})
        # Of three tasks on `a`, `b` steals one, and `c` is refused the last.
        self.assertEqual(self.engine.decisions(), [("a", "1"), ("b", "2")])
        self.assertEqual(list(self.engine.refused_by_all), [self.engine.places["c"]])
        self.assertEqual(self.engine.decisions(), [])
        self.engine.submit("4", {})
        self.assertEqual(self.engine.decisions(), [("c", "3")])
        self.engine.finish("1")
        self.assertEqual(self.engine.decisions(lambda name: name != "a"), [])
        self.assertEqual(self.engine.decisions(), [("a", "4")])
        for key in "234":
            self.engine.finish(key)
        self.assertEqual((self.engine.decisions(), self.loads()), ([], [0, 0, 0]))

    def test_who_could_not_compute_when_something_came_is_asked_later(self) -> None:
        for name in "ab":
            self.engine.arrive(name)
        for key in "12":
            self.engine.submit(key, {})
        # `b` is refused the last task of `a`, and then neither can compute for a while.
        self.assertEqual(self.engine.decisions(), [("a", "1")])
        self.engine.submit("3", {})
        self.assertEqual(self.engine.decisions(lambda name: False), [])
        self.assertEqual(self.engine.decisions(lambda name: name == "b"), [("b", "2")])

    def test_no_event_takes_a_worker_from_what_it_computes(self) -> None:
        self.engine.arrive("a")
        self.engine.submit("1", {})
        self.assertEqual(self.engine.next("a"), "1")
        there = self.engine.places["a"].view.instance
        found: list[int] = []

        def newthread(t: Fifo.Task) -> None:
            found.append(len(there.current))
            there.ready.put(t)

        def steal(n: Node) -> None:
            found.append(len(there.current))

        there.newthread, there.steal = newthread, steal
        self.engine.submit("2", {})
        self.engine.arrive("b")
        self.assertIsNone(self.engine.next("b"))
        # Only `steal`, which cannot move it, finds it.
        self.assertEqual(found, [0, 1])

    def test_a_policy_that_is_out_is_told_nothing(self) -> None:
        self.engine.arrive("a")
        self.engine.submit("1", {})
        self.engine.submit("2", {})
        self.engine.arrive("b")
        there, here = (self.engine.places[name].view.instance for name in "ab")
        comes: list[int] = []

        def migrate(t: Fifo.Task) -> None:
            comes.append(t.id)
            raise Guard(1, "nothing comes here")

        def steal(n: Node) -> None:
            for _ in range(2):
                there.nodes.send(there.ready.first, n)

        here.migrate, there.steal = migrate, steal
        with self.assertLogs("catapults.dask", "ERROR"):
            self.assertEqual(self.engine.next("b"), "1")
        self.assertEqual((comes, self.engine.next("a")), ([1], "2"))

    def test_numbers_are_the_lowest_that_are_free(self) -> None:
        for name in "abc":
            self.engine.arrive(name)
        self.engine.depart("b")
        self.engine.arrive("d")
        self.assertEqual(self.engine.places["d"].number, 1)

        self.engine.arrive("e")
        self.assertEqual(self.engine.places["e"].number, 3)


if __name__ == "__main__":
    unittest.main()
