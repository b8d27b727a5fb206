"""A policy at work on a cluster: which task goes where, and which one is next. It knows nothing of Dask."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable
from typing import Any

from catapults_dask.containers import READY, RUNNING, Entity, Import
from catapults_dask.policy import Guard, Nodes, Refused, Scheduler, Thread

logger = logging.getLogger("catapults.dask")

Key = Hashable


class Task:
    """A thread of the policy, and what the cluster knows of it."""

    def __init__(self, key: Key, thread: Thread) -> None:
        self.key, self.thread = key, thread
        #: Where it is placed; without nodes, where it runs.
        self.place: Place | None = None
        self.running = False
        #: Whether the policy has had it on some node.
        self.known = False
        #: Its worker went while it ran: the cluster asks for it again.
        self.lost = False


class Place:
    """A worker, which computes one task at a time."""

    def __init__(self, name: str, number: int, instance: Scheduler, node: Any) -> None:
        self.name, self.number, self.instance, self.node = name, number, instance, node
        self.runs: Task | None = None
        self.load = 0
        #: Without nodes: what it has in the RUNNING containers of the one scheduler, while it is not its turn.
        self.frame: list[Any] = []


class Engine:
    """Raises the events of a policy. What the policy refuses is kept for the caller; one that stops is out."""

    def __init__(self, policy: type[Scheduler]) -> None:
        self.policy = policy
        self.nodes: Nodes | None = policy.NODES() if policy.NODES else None
        self.single: Scheduler | None = None if self.nodes else policy()
        self.once: Any = self.nodes or self.single
        self.places: dict[str, Place] = {}
        self.tasks: dict[Key, Task] = {}
        self.by_thread: dict[Thread, Task] = {}
        #: Those that wait for the first worker, in order.
        self.unplaced: dict[Key, Task] = {}
        self.refused: dict[Key, str] = {}
        #: Whose frame is in the one scheduler.
        self.turn: Place | None = None
        self.numbers = 0
        self.began = time.monotonic_ns()
        #: Once the policy is out, all that could run, in order.
        self.fifo: dict[Key, Task] | None = None
        if (begin := getattr(self.single, "init", None)) is not None:
            self.raised(begin)

    def arrive(self, name: str) -> None:
        """A worker has come."""
        number = next(number for number in range(len(self.places) + 1) if number not in self.taken())
        node = self.nodes.NODE(number) if self.nodes else None
        instance = self.single or self.policy(self.nodes)
        place = self.places[name] = Place(name, number, instance, node)
        if self.nodes is not None and self.fifo is None:
            if (begin := getattr(instance, "init", None)) is not None:
                self.raised(begin)
            self.say(node, "number", number)
            self.raised(self.nodes.arrival, node)
        unplaced, self.unplaced = self.unplaced, {}
        for task in unplaced.values():
            self.put(task)

    def depart(self, name: str) -> None:
        """A worker has gone. What ran there is lost until it is submitted again."""
        place = self.places.pop(name)
        if self.nodes is None:
            if place.runs is not None:
                self.cancel(place.runs.key)
            return
        there = [task for task in self.tasks.values() if task.place is place]
        for task in there:
            if task.thread.container is not None:
                task.thread.container.remove(task.thread)
            task.lost, task.running, task.place = task.running, False, None
        if self.fifo is None:
            self.raised(self.nodes.departure, place.node)
        for task in there:
            if not task.lost and (self.fifo is None or task.key not in self.fifo):
                self.put(task)

    def submit(self, key: Key, said: dict[str, Any]) -> None:
        """A task can run. What is said of it are the variables that the policy imports."""
        task = self.tasks.get(key)
        if task is None:
            self.numbers += 1
            task = self.tasks[key] = Task(key, self.policy.THREAD(self.numbers))
            self.by_thread[task.thread] = task
            for name, value in said.items():
                self.say(task.thread, name, value)
        elif not task.lost:
            return
        task.lost = False
        if self.places:
            self.put(task)
        else:
            self.unplaced[key] = task

    def next(self, name: str) -> Key | None:
        """Which task this worker computes now, if it has nothing to do and there is one."""
        place = self.places[name]
        if place.runs is not None:
            return None
        task = self.from_fifo() if self.fifo is not None else self.scheduled(place)
        if task is None:
            return None
        if self.nodes is None or self.fifo is not None:
            self.move(task, place)
        task.running, place.runs = True, task
        return task.key

    def finish(self, key: Key) -> None:
        """A task has been computed, or has failed."""
        self.end(key, "exit")

    def cancel(self, key: Key) -> None:
        """Nobody wants a task any more."""
        self.end(key, "cancel")

    def end(self, key: Key, event: str) -> None:
        task = self.tasks.pop(key, None)
        if task is None:
            return
        del self.by_thread[task.thread]
        placed = key not in self.unplaced and not task.lost and task.known
        self.unplaced.pop(key, None)
        place, instance = task.place, self.single or (task.place and task.place.instance)
        if self.fifo is not None:
            self.fifo.pop(key, None)
        elif placed and instance is not None:
            self.enter(place if task.running else None)
            self.raised(getattr(instance, event), task.thread)
        if place is not None and place.runs is task:
            place.runs = None
        self.move(task, None)

    def put(self, task: Task) -> None:
        """Places a task: somewhere, if there are nodes."""
        if self.fifo is not None:
            self.fifo[task.key] = task
        elif self.nodes is None:
            self.enter(None)
            self.come(task, self.single, "newthread")
        elif not self.places:
            self.unplaced[task.key] = task
        else:
            place = self.chosen(task)
            if self.fifo is None:
                self.move(task, place)
                self.come(task, place.instance, "migrate" if task.known else "newthread")

    def chosen(self, task: Task) -> Place:
        """The worker on which the policy wants a task."""
        if hasattr(self.nodes, "dispatch"):
            self.raised(self.nodes.dispatch, task.thread)
            for _, node in self.nodes.take_sent():
                return self.of(node)
        return min(self.places.values(), key=lambda place: (place.load, place.number))

    def come(self, task: Task, instance: Any, event: str) -> None:
        try:
            self.raised(getattr(instance, event), task.thread)
            task.known = True
        except Refused as refusal:
            self.move(task, None)
            del self.tasks[task.key], self.by_thread[task.thread]
            self.refused[task.key] = refusal.text

    def scheduled(self, place: Place) -> Task | None:
        self.enter(place)
        if not self.ready(place.instance) and self.nodes is not None and hasattr(place.instance, "steal"):
            self.steal(place)
        if self.fifo is not None or not self.ready(place.instance):
            return self.from_fifo() if self.fifo is not None else None
        thread = self.raised(place.instance.schedule)
        if self.fifo is not None:
            return self.from_fifo()
        return None if thread is None else self.by_thread[thread]

    def steal(self, thief: Place) -> None:
        """Asks the others, the highest load first, until one gives something."""
        for victim in sorted(self.places.values(), key=lambda place: (-place.load, place.number)):
            if victim is thief or not self.ready(victim.instance):
                continue
            self.raised(victim.instance.steal, thief.node)
            if self.fifo is not None:
                return
            sent = self.nodes.take_sent()
            for thread, node in sent:
                place, task = self.of(node), self.by_thread[thread]
                self.move(task, place)
                self.come(task, place.instance, "migrate")
            if sent:
                return

    def raised(self, handler: Any, *of: Entity) -> Any:
        """Runs a handler. One that stops puts the policy out: the tasks go on in the order in which they came."""
        self.once.now = time.monotonic_ns() - self.began
        try:
            return handler(*of)
        except Refused:
            raise
        except Exception as error:
            # Of any other than a guard, it matters where in the translation.
            where = f"line {error.line}: " if isinstance(error, Guard) else ""
            logger.error(
                "the policy is out: %s%s; tasks go on, first come, first served", where, error, exc_info=not where
            )
            self.fifo = {
                task.key: task
                for task in self.tasks.values()
                if not task.running and not task.lost and task.key not in self.unplaced
            }
            return None

    def from_fifo(self) -> Task | None:
        for key in self.fifo or {}:
            return self.fifo.pop(key)
        return None

    def enter(self, place: Place | None) -> None:
        """Without nodes: what this worker runs, and nobody else, is in the RUNNING containers."""
        if self.single is None or place is self.turn:
            return
        containers = [container for container in self.single.containers() if container.state == RUNNING]
        if self.turn is not None:
            self.turn.frame = [container.items for container in containers]
        frame = place.frame if place is not None else []
        for index, container in enumerate(containers):
            container.items = frame[index] if frame else container.empty()
        self.turn = place

    def ready(self, instance: Scheduler) -> bool:
        return any(container for container in instance.containers() if container.state == READY)

    def move(self, task: Task, place: Place | None) -> None:
        """Keeps the books of loads."""
        for there, change in ((task.place, -1), (place, 1)):
            if there is not None:
                there.load += change
                if there.node is not None and not there.node.ended:
                    self.say(there.node, "load", there.load)
        task.place = place

    def say(self, entity: Entity, name: str, value: Any) -> None:
        """Sets an imported variable or a property, if the policy has it."""
        variable: Import | None = next((known for known in entity.IMPORTS if known.name == name), None)
        if variable is not None:
            setattr(entity, variable.member, variable.converted(value))
            entity.refile(variable.member)

    def taken(self) -> set[int]:
        return {place.number for place in self.places.values()}

    def of(self, node: Any) -> Place:
        return next(place for place in self.places.values() if place.node is node)
