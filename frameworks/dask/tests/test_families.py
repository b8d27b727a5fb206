"""Of which family a worker is, by its resources, and which workers a cluster of this machine has."""

from __future__ import annotations

import math
import unittest
from typing import Any

from catapults_dask.containers import READY, RUNNING, Import, Queue, Slot
from catapults_dask.engine import Engine
from catapults_dask.families import Unknown, told, workers
from catapults_dask.policy import Node, Nodes, Scheduler, Thread


class MachineNode(Node):
    IMPORTS = (Import("freeram", "freeram", "int"), Import("family", "of", "int"))

    def __init__(self, id: int) -> None:
        super().__init__(id)
        self.freeram = self.of = 0


class Machines(Nodes):
    THREAD = Thread
    NODE = MachineNode

    def __init__(self) -> None:
        super().__init__()
        self.all: Queue[MachineNode] = Queue(READY)

    def arrival(self, n: MachineNode) -> None:
        self.all.put(n)

    def departure(self, n: MachineNode) -> None:
        n.destroy()


class TwoKinds(Scheduler):
    THREAD = Thread
    NODES = Machines
    FAMILIES = ("fast", "big")
    PROPERTIES = ((), (("freeram", "int"), ("shared", "bool")))
    FAMILY = "here"
    FAMILY_OF_NODE = "of"

    def __init__(self, nodes: Machines) -> None:
        super().__init__()
        self.here = 0
        self.began = -1
        self.ready: Queue[Thread] = Queue(READY)
        self.current: Slot[Thread] = Slot(RUNNING)

    def init(self) -> None:
        self.began = self.here


class Alike(Scheduler):
    THREAD = Thread


class Told(unittest.TestCase):
    def test_a_worker_tells_its_family_and_its_properties(self) -> None:
        self.assertEqual(told(TwoKinds, {"fast": 1.0, "GPU": 2.0}), (0, {}))
        big = {"big": 1.0, "freeram": 64.0, "shared": 1.0}
        self.assertEqual(told(TwoKinds, big), (1, {"freeram": 64, "shared": True}))
        self.assertEqual(told(Alike, {"GPU": 2.0}), (0, {}))

    def refused(self, resources: dict[str, float]) -> str:
        with self.assertRaises(Unknown) as caught:
            told(TwoKinds, resources)
        return str(caught.exception)

    def test_others_are_refused_with_what_to_add(self) -> None:
        self.assertIn('of no family that the policy has: start it with `--resources "fast=1"` or', self.refused({}))
        self.assertIn("of several families", self.refused({"fast": 1.0, "big": 1.0}))
        self.assertIn("does not tell `freeram`, which nodes of the family `big` have", self.refused({"big": 1.0}))
        for odd in (0.5, math.inf, math.nan):
            self.assertIn(f"its `freeram` is {odd}", self.refused({"big": 1.0, "freeram": odd, "shared": 0.0}))

    def test_the_policy_knows_it_before_anything_else(self) -> None:
        engine = Engine(TwoKinds)
        engine.arrive("w", 1, {"freeram": 64})
        instance: Any = engine.places["w"].view.instance
        self.assertEqual((instance.here, instance.began), (1, 1))
        node: Any = engine.places["w"].node
        self.assertEqual((node.of, node.freeram), (1, 64))


class Workers(unittest.TestCase):
    def test_numbers(self) -> None:
        self.assertEqual(workers(Alike, "3"), [{}, {}, {}])
        two = [{"fast": 1}, {"fast": 1}]
        self.assertEqual(workers(TwoKinds, "fast=2; big=1 freeram=64 shared=0"), [*two, {"big": 1, "freeram": 64, "shared": 0}])

    def test_what_is_no_number(self) -> None:
        for policy, written, why in (
            (Alike, "0", "write a whole number from 1"),
            (Alike, "fast=2", "write a whole number from 1"),
            (TwoKinds, "3", "write how many workers of each family there are, as in `fast=2`; the families are `fast`, `big`"),
            (TwoKinds, "", "write how many workers of each family"),
            (TwoKinds, "fast=none", "write how many workers of each family"),
            (TwoKinds, "big=1", "of a worker of `big`, it does not tell `freeram`"),
            (TwoKinds, "big=1 freeram", "`freeram` is no property: write `NAME=N`"),
        ):
            with self.subTest(written), self.assertRaisesRegex(ValueError, why):
                workers(policy, written)


if __name__ == "__main__":
    unittest.main()
