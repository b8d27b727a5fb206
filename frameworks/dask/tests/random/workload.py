"""Whatever can happen to a cluster, in a random order, to an engine without one: workload.py POLICY.py SEED ACTIONS STEPS

What the policy is told and answers is written to STEPS.
"""

from __future__ import annotations

import logging
import random
import sys
from typing import Any

from catapults_dask.ahead import STREAK, Ahead
from catapults_dask.containers import Import
from catapults_dask.engine import Engine
from catapults_dask.modules import load
from catapults_dask.steps import Steps

MOST_WORKERS = 4
MOST_TASKS = 12


class Cluster:
    def __init__(self, engine: Engine, rng: random.Random) -> None:
        self.engine, self.rng = engine, rng
        self.tasks = self.workers = 0
        #: What each worker computes, in this order.
        self.computing: dict[str, list[int]] = {}
        #: What ran on workers that have gone, and nobody has asked for again.
        self.lost: list[int] = []

    def act(self) -> None:
        rng, engine = self.rng, self.engine
        busy = [name for name, keys in self.computing.items() if keys]
        action = rng.choices(("come", "go", "submit", "decide", "finish", "cancel", "back"), (2, 1, 12, 12, 10, 2, 2))[0]
        if action == "come" and len(self.computing) < MOST_WORKERS or not self.computing:
            self.workers += 1
            self.computing[str(self.workers)] = []
            self.arrive(str(self.workers))
        elif action == "go":
            name = rng.choice(list(self.computing))
            engine.depart(name)
            self.lost += [key for key in self.computing.pop(name) if key in engine.tasks]
        elif action == "submit" and len(engine.tasks) < MOST_TASKS:
            self.submit()
        elif action == "decide":
            able = {name for name in self.computing if rng.random() < 0.9}
            for name, key in engine.decisions(able.__contains__):
                self.computing[name].append(key)
        elif action == "finish" and busy:
            name = rng.choice(busy)
            engine.finish(self.computing[name].pop(0), rng.choice((0.0, 0.0, 0.0, 1.0)))
        elif action == "cancel" and engine.tasks:
            self.cancel(rng.choice(list(engine.tasks)))
        elif action == "back":
            for name, key in engine.overdue(0.0):
                # Unless it has begun meanwhile.
                if rng.random() < 0.8:
                    self.computing[name].remove(key)
                    engine.take_back(key)
        engine.refused.clear()

    def arrive(self, name: str) -> None:
        policy, rng = self.engine.policy, self.rng
        if not policy.FAMILIES:
            self.engine.arrive(name)
            return
        family = rng.randrange(len(policy.FAMILIES))
        told = {property: rng.randrange(-2, 200) for property, type in policy.PROPERTIES[family]}
        self.engine.arrive(name, family, told)

    def submit(self) -> None:
        kind = self.rng.choice(("short", "short", "other"))
        if self.lost and self.rng.random() < 0.5:
            self.engine.submit(self.lost.pop(), {}, kind)
            return
        self.tasks += 1
        imports = self.engine.policy.THREAD.IMPORTS
        said = {variable.name: self.value(variable) for variable in imports if self.rng.random() < 0.7}
        self.engine.submit(self.tasks, said, kind)

    def value(self, variable: Import) -> Any:
        rng = self.rng
        if variable.type == "bool":
            return rng.random() < 0.5
        if variable.type == "float":
            return rng.choice((0.0, 0.5, -1.25, 3.0))
        return rng.choice((rng.randrange(-2, 8), rng.randrange(-2, 8), rng.randrange(0, 10**9)))

    def cancel(self, key: Any) -> None:
        for keys in self.computing.values():
            if key in keys:
                keys.remove(key)
        if key in self.lost:
            self.lost.remove(key)
        self.engine.cancel(key)


def main() -> None:
    policy, seed, actions, steps = sys.argv[1:]
    # A guard that fails is what steps are for, too.
    logging.disable(logging.CRITICAL)
    ahead = Ahead()
    for _ in range(STREAK):
        ahead.ended("short", 0.0)
    cluster = Cluster(Engine(load(policy), ahead, steps=Steps(steps)), random.Random(int(seed)))
    for _ in range(int(actions)):
        cluster.act()
        if cluster.engine.fifo is not None:
            break


if __name__ == "__main__":
    main()
