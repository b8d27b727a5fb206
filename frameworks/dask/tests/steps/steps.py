"""Takes steps from standard input, as tests/run/driver.c does: each is answered with a line. The argument is a policy."""

from __future__ import annotations

import re
import sys
from typing import Any

from catapults_dask.containers import Entity, Import
from catapults_dask.modules import load
from catapults_dask.policy import Guard, Nodes, Refused, Scheduler

UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def value_of(text: str, type: str) -> Any:
    if type == "int":
        return int(text)
    if type == "bool":
        return text == "true"
    if type == "float":
        return float(text)
    count, unit = re.fullmatch(r"(-?\d+)(\w+)", text).groups()
    return int(count) * UNITS[unit]


def assign(target: Any, name: str, text: str) -> None:
    """Sets what is imported, or a property of a node."""
    variable: Import = next(variable for variable in target.IMPORTS if variable.name == name)
    setattr(target, variable.member, value_of(text, variable.type))
    if isinstance(target, Entity):
        target.refile(variable.member)


class Host:
    def __init__(self, policy: type[Scheduler]) -> None:
        self.policy = policy
        self.nodes: Nodes | None = policy.NODES() if policy.NODES else None
        self.instance: Scheduler | None = None if self.nodes else policy()
        self.once: Any = self.nodes or self.instance
        self.threads: dict[int, Any] = {}
        #: What the application has said of threads, before they are there and after.
        self.said: dict[int, dict[str, str]] = {}
        self.places: dict[int, Any] = {}
        self.instances: dict[int, Scheduler] = {}
        self.homes: dict[int, int | None] = {}
        self.here: int | None = None

    def step(self, words: list[str]) -> str:
        match words:
            case ["at", instant]:
                self.once.now = value_of(instant, "time")
            case ["expire"]:
                return "nothing"
            case ["node", number]:
                self.enter(int(number))
            case ["set_property", number, name, value]:
                assign(self.node(int(number)), name, value)
            case ["set_import", name, value]:
                assign(self.once, name, value)
            case ["set_thread_import", number, name, value]:
                self.said.setdefault(int(number), {})[name] = value
                assign(self.thread(int(number)), name, value)
            case ["ask", query, *of]:
                answer = self.instance.handler(query)(*(self.threads[int(number)] for number in of))
                if isinstance(answer, bool):
                    return "true" if answer else "false"
                return f"{answer:.17g}" if isinstance(answer, float) else str(answer)
            case [event, *of]:
                return self.event(event, *map(int, of))
        return ""

    def event(self, event: str, number: int | None = None) -> str:
        method = event.replace(".", "_")
        shared = self.nodes is not None and hasattr(self.nodes, method)
        handler = getattr(self.nodes if shared else self.instance, method)
        if event in ("arrival", "departure", "steal"):
            node = self.node(number)
            handler(node)
            answer = self.sent()
            if node.container is None:
                self.evacuate(number)
            return answer
        if number is None:
            dispatched = handler()
            return self.sent() if dispatched is None else str(dispatched.id)
        thread = self.thread(number)
        try:
            handler(thread)
        except Refused:
            self.forget(number)
            raise
        answer = self.sent()
        if thread.container is not None:
            self.homes[number] = self.here
        elif not answer:
            self.forget(number)
        return answer

    def forget(self, number: int) -> None:
        del self.threads[number]
        self.homes.pop(number, None)

    def thread(self, number: int) -> Any:
        """The thread of that number, which is new if there is none."""
        if number not in self.threads:
            self.threads[number] = self.policy.THREAD(number)
            for name, value in self.said.get(number, {}).items():
                assign(self.threads[number], name, value)
        return self.threads[number]

    def node(self, number: int) -> Any:
        if number not in self.places:
            self.places[number] = self.nodes.NODE(number)
        return self.places[number]

    def enter(self, number: int) -> None:
        if number not in self.instances:
            instance = self.instances[number] = self.policy(self.nodes)
            if self.policy.FAMILIES:
                setattr(instance, self.policy.FAMILY, getattr(self.node(number), self.policy.FAMILY_OF_NODE))
        self.instance, self.here = self.instances[number], number

    def sent(self) -> str:
        if self.nodes is None:
            return ""
        sent = self.nodes.take_sent()
        for thread, _ in sent:
            self.homes.pop(thread.id, None)
        return ", ".join(f"{thread.id} to node {node.id}" for thread, node in sent)

    def evacuate(self, number: int) -> None:
        """A node has departed: whoever was there is the host's."""
        for thread, home in list(self.homes.items()):
            if home == number:
                self.threads[thread].container.remove(self.threads[thread])
                del self.homes[thread]
        if self.here == number:
            self.instance, self.here = None, None
        self.instances.pop(number, None)
        del self.places[number]


def main() -> None:
    policy = load(sys.argv[1])
    host = Host(policy)
    for line in sys.stdin:
        words = line.split()
        if words == ["restart"]:
            host = Host(policy)
            continue
        if not words:
            continue
        try:
            print(host.step(words))
        except Refused as stop:
            print(f"fail {stop.text}")
        except Guard as stop:
            print(f"guard {stop.line} {stop.text}")


main()
