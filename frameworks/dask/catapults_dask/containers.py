"""The five kinds of containers. Whatever is put into one leaves the one where it was."""

from __future__ import annotations

import operator
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, SupportsFloat, SupportsIndex, TypeVar

from catapults_dask.arithmetic import int64, number

RUNNING, READY, BLOCKED, TERMINATED = "RUNNING", "READY", "BLOCKED", "TERMINATED"


class Entity:
    """A thread or a node: it is in one container, or in hand."""

    #: What the host sets, as the policy declares it.
    IMPORTS: tuple[Import, ...] = ()
    #: The members that name other threads.
    LINKS: tuple[str, ...] = ()

    def __init__(self, id: int) -> None:
        self.id = id
        self.container: Container[Any] | None = None
        #: Its place in a sorted container.
        self.rank: tuple[Any, ...] = ()
        #: Whose links name it, and which.
        self.named_by: set[tuple[Entity, str]] = set()
        self.ended = False

    def destroy(self) -> None:
        """It leaves the policy for good: no link names it any more."""
        if self.container is not None:
            self.container.remove(self)
        for link in self.LINKS:
            self.link(link, None)
        for owner, link in list(self.named_by):
            owner.link(link, None)
        self.ended = True

    def link(self, link: str, to: Entity | None) -> None:
        before = getattr(self, link)
        if before is not None:
            before.named_by.discard((self, link))
        setattr(self, link, to)
        if to is not None:
            to.named_by.add((self, link))

    def refile(self, key: str) -> None:
        """A member has changed: where it is a sort key, this comes anew."""
        container = self.container
        if isinstance(container, Sorted) and key in container.names:
            container.put(self)


class Import:
    """A variable that is set from outside: its name there, the member, and its type."""

    def __init__(self, name: str, member: str, type: str) -> None:
        self.name, self.member, self.type = name, member, type

    def converted(self, value: Any) -> Any:
        """What a program says, as a policy has it. Whoever says something else is told so."""
        if self.type == "bool":
            suits = isinstance(value, bool)
        else:
            wanted = SupportsFloat if self.type == "float" else SupportsIndex
            suits = isinstance(value, wanted) and not isinstance(value, bool)
        if not suits:
            unit = ": write a whole number of nanoseconds" if self.type == "time" else ""
            raise TypeError(f"`{self.name}` is of type {self.type} for the policy, and {value!r} is not{unit}")
        if self.type == "bool":
            return value
        return number(float(value)) if self.type == "float" else int64(operator.index(value))


E = TypeVar("E", bound=Entity)


class Container(Generic[E]):
    """Subclasses say where something comes in. It leaves at the beginning."""

    def __init__(self, state: str) -> None:
        self.state = state
        self.items: Any = self.empty()

    def empty(self) -> Any:
        return OrderedDict()

    def put(self, entity: E) -> None:
        if entity.container is not None:
            entity.container.remove(entity)
        self.enter(entity)
        entity.container = self

    def enter(self, entity: E) -> None:
        self.items[entity] = None

    def remove(self, entity: E) -> None:
        del self.items[entity]
        entity.container = None

    @property
    def held(self) -> E | None:
        """What leaves next, if there is anything."""
        return next(iter(self), None)

    @property
    def first(self) -> E:
        """What leaves next. The compiler has proved that there is something, or a guard has looked."""
        held = self.held
        if held is None:
            raise AssertionError("nothing is in the container")
        return held

    def __iter__(self) -> Iterator[E]:
        """What is in it now, in the order of leaving, whatever is moved meanwhile."""
        return iter(list(self.items))

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, entity: object) -> bool:
        return isinstance(entity, Entity) and entity.container is self


class Queue(Container[E]):
    @property
    def held(self) -> E | None:
        return next(iter(self.items), None)


class Slot(Queue[E]):
    def enter(self, entity: E) -> None:
        if self.items:
            raise AssertionError("the slot already holds something")
        super().enter(entity)


class Stack(Container[E]):
    @property
    def held(self) -> E | None:
        return next(reversed(self.items), None)

    def __iter__(self) -> Iterator[E]:
        return iter(list(reversed(self.items)))


Key = tuple[str, Callable[[Any], Any]]


def highest(name: str) -> Key:
    """The highest value leaves first."""
    return name, lambda value: -value


def lowest(name: str) -> Key:
    """The lowest value leaves first."""
    return name, lambda value: value


class Sorted(Container[E]):
    """Sorted by a rank of keys and of when something came, which no two have in common."""

    #: Whether of equals the last to come leaves first.
    last_first = False
    arrivals = 0

    def __init__(self, state: str, *keys: Key) -> None:
        super().__init__(state)
        self.keys = keys
        self.names = {name for name, _ in keys}

    def empty(self) -> Any:
        return []

    def enter(self, entity: E) -> None:
        Sorted.arrivals += 1
        came = -Sorted.arrivals if self.last_first else Sorted.arrivals
        entity.rank = (*(of(getattr(entity, name)) for name, of in self.keys), came)
        insort(self.items, (entity.rank, entity))

    def remove(self, entity: E) -> None:
        del self.items[bisect_left(self.items, (entity.rank,))]
        entity.container = None

    @property
    def held(self) -> E | None:
        return self.items[0][1] if self.items else None

    def __iter__(self) -> Iterator[E]:
        return iter([entity for _, entity in self.items])


class Pqueue(Sorted[E]):
    pass


class Pstack(Sorted[E]):
    last_first = True


def every(array: Iterable[Container[E]]) -> list[E]:
    """What is in an array of containers, the lowest element first."""
    return [entity for container in array for entity in container]


def occupied(array: list[Container[E]]) -> Container[E]:
    """The lowest element that holds something; if none does, the first."""
    return next((container for container in array if container), array[0])


def named(entity: E | None) -> tuple[E, ...]:
    """What a link names: one, or none."""
    return () if entity is None else (entity,)
