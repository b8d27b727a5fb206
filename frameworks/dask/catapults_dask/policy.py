"""What translated policies are derived from, and all else that they import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from catapults_dask.arithmetic import (
    INFINITY,
    MS,
    S,
    US,
    int16,
    int32,
    int64,
    nearest,
    number,
    quotient,
    ratio,
    remainder,
    shift_left,
    shift_right,
    told_bool,
    told_time,
    truncated,
)
from catapults_dask.containers import (
    BLOCKED,
    READY,
    RUNNING,
    TERMINATED,
    Container,
    Entity,
    Import,
    Pqueue,
    Pstack,
    Queue,
    Slot,
    Stack,
    every,
    highest,
    lowest,
    named,
    occupied,
)
from catapults_dask.draws import Random

# The version of what translated policies expect here: `abi` of dask.framework.
ABI = 1

__all__ = [
    "BLOCKED",
    "INFINITY",
    "MS",
    "READY",
    "RUNNING",
    "S",
    "TERMINATED",
    "US",
    "Guard",
    "Import",
    "Node",
    "Nodes",
    "Pqueue",
    "Pstack",
    "Queue",
    "Refused",
    "Scheduler",
    "Slot",
    "Stack",
    "Thread",
    "every",
    "highest",
    "int16",
    "int32",
    "int64",
    "lowest",
    "named",
    "nearest",
    "number",
    "occupied",
    "quotient",
    "ratio",
    "remainder",
    "shift_left",
    "shift_right",
    "told_bool",
    "told_time",
    "truncated",
]


class Stop(Exception):
    """Why a handler stopped: the line of the policy, and a text."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line, self.text = line, text


class Guard(Stop):
    """A guard did not hold: the policy is out."""


class Refused(Stop):
    """`fail`: the request is refused."""


class Thread(Entity):
    pass


class Node(Entity):
    pass


class Instance:
    """Containers, variables, and a method for each event and query."""

    #: The imported variables.
    IMPORTS: tuple[Import, ...] = ()

    def handler(self, event: str) -> Callable[..., Any] | None:
        """What handles this event, or answers this query."""
        return getattr(self, event.replace(".", "_"), None)

    def containers(self) -> Iterator[Container[Any]]:
        for member in vars(self).values():
            if isinstance(member, Container):
                yield member
            elif isinstance(member, list):
                yield from (element for element in member if isinstance(element, Container))


class Once(Instance):
    """What exists once, however many instances there are."""

    def __init__(self) -> None:
        self.now = 0
        self.random = Random()


class Nodes(Once):
    """What the schedulers of all nodes share."""

    THREAD: ClassVar[type[Thread]]
    NODE: ClassVar[type[Node]]

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[Thread, Node]] = []

    def send(self, thread: Thread, node: Node) -> None:
        """The thread leaves for a node: the host raises the event of a thread that comes there."""
        if thread.container is not None:
            thread.container.remove(thread)
        self.sent.append((thread, node))

    def take_sent(self) -> list[tuple[Thread, Node]]:
        sent, self.sent = self.sent, []
        return sent


class Scheduler(Once):
    """A policy; with nodes, that of one of them, which draws nothing and has no time of its own."""

    #: What it is called, its file, and the lines there where its handlers begin, by event.
    NAME: ClassVar[str] = ""
    SOURCE: ClassVar[str] = ""
    LINES: ClassVar[dict[str, int]] = {}
    #: The families of nodes, and what nodes of each tell of themselves, with types. Which one a scheduler is of, and a node, is the number in
    #: these members.
    FAMILIES: ClassVar[tuple[str, ...]] = ()
    PROPERTIES: ClassVar[tuple[tuple[tuple[str, str], ...], ...]] = ()
    FAMILY: ClassVar[str] = ""
    FAMILY_OF_NODE: ClassVar[str] = ""
    THREAD: ClassVar[type[Thread]]
    NODES: ClassVar[type[Nodes] | None] = None
