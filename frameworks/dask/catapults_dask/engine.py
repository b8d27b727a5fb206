"""A policy at work on a cluster: which task goes where, and which one is next. It knows nothing of Dask."""

from __future__ import annotations

import heapq
import logging
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from catapults_dask.ahead import PATIENCE, Ahead
from catapults_dask.containers import Entity, Import
from catapults_dask.places import ByLoad, Key, Place, Task
from catapults_dask.policy import Guard, Refused, Scheduler, Thread
from catapults_dask.steps import Steps
from catapults_dask.trace import Trace
from catapults_dask.view import View

logger = logging.getLogger("catapults.dask")


def anyone(name: str) -> bool:
    return True


class Engine:
    """Raises the events of a policy. What the policy refuses is kept for the caller; one that stops is out."""

    def __init__(
        self,
        policy: type[Scheduler],
        ahead: Ahead | None = None,
        *,
        trace: Trace | None = None,
        steps: Steps | None = None,
    ) -> None:
        # Which events it has, the policy says: Any, here and below.
        self.policy: Any = policy
        #: Without it, no worker gets a task while it computes another.
        self.ahead = ahead
        #: Where it is recorded who computes what, and where it is written down what the policy is told; if anywhere.
        self.trace, self.steps = trace, steps
        self.nodes: Any = policy.NODES() if policy.NODES else None
        self.single: View | None = None if self.nodes else View(policy())
        self.once: Any = self.nodes or (self.single and self.single.instance)
        self.steals = self.nodes is not None and hasattr(policy, "steal")
        self.places: dict[str, Place] = {}
        self.by_node: dict[Any, Place] = {}
        self.by_load = ByLoad(highest_first=False)
        #: Where something is READY, and where anything has happened since idle workers have been refused there.
        self.rich = ByLoad(highest_first=True)
        self.news: dict[Place, None] = {}
        #: Workers that have nothing to do: where something is READY; those to be asked; those that nobody has given anything.
        self.due: dict[Place, None] = {}
        self.fresh: dict[Place, None] = {}
        self.refused_by_all: dict[Place, None] = {}
        #: Workers that compute, and could have a second task.
        self.alone: dict[Place, None] = {}
        #: Since when each second task waits, the longest first, until it has been asked for.
        self.following: dict[Key, float] = {}
        #: What the policy has given to a worker that did not get to it: the next one that is free computes it.
        self.returned: dict[Key, Task] = {}
        self.tasks: dict[Key, Task] = {}
        self.by_thread: dict[Thread, Task] = {}
        #: Those that wait for the first worker, in order.
        self.unplaced: dict[Key, Task] = {}
        self.refused: dict[Key, str] = {}
        self.numbers = 0
        #: Numbers of workers that have gone; above them, as many have been given as there are workers and these.
        self.free: list[int] = []
        self.began = time.monotonic_ns()
        #: Once the policy is out, all that could run, in order.
        self.fifo: dict[Key, Task] | None = None
        if self.single is not None and hasattr(self.single.instance, "init"):
            self.raised(self.single, "init")

    def arrive(self, name: str, family: int = 0, properties: dict[str, Any] | None = None) -> None:
        """A worker has come: of the family with this number, if there are families, with these properties."""
        number = heapq.heappop(self.free) if self.free else len(self.places)
        node: Any = self.nodes.NODE(number) if self.nodes else None
        view = self.single or View(self.policy(self.nodes), number)
        if self.policy.FAMILIES:
            setattr(view.instance, self.policy.FAMILY, family)
        place = self.places[name] = Place(name, number, view, node)
        self.by_load.put(place)
        if self.nodes is not None:
            self.by_node[node] = place
            if self.fifo is None:
                self.say(node, "number", number)
                for told, value in {**(properties or {}), "family": family}.items():
                    self.say(node, told, value)
                self.raised(None, "arrival", node)
                if self.fifo is None and hasattr(view.instance, "init"):
                    self.raised(view, "init")
        if self.trace is not None:
            self.trace.free(place)
        self.file(place)
        unplaced, self.unplaced = self.unplaced, {}
        for task in unplaced.values():
            self.put(task)

    def depart(self, name: str) -> None:
        """A worker has gone. What ran there is lost until it is submitted again."""
        place = self.places.pop(name)
        heapq.heappush(self.free, place.number)
        self.by_load.discard(place)
        self.rich.discard(place)
        for queue in (self.news, self.due, self.fresh, self.refused_by_all, self.alone):
            queue.pop(place, None)
        if self.trace is not None:
            self.trace.gone(place)
        if self.nodes is None:
            for task in list(place.tasks.values()):
                self.cancel(task.key)
            return
        there = sorted(place.tasks.values(), key=lambda task: task.thread.id)
        for task in there:
            self.take_out(task)
            self.following.pop(task.key, None)
            task.lost, task.running, task.place = task.running, False, None
        if self.fifo is None:
            self.raised(None, "departure", place.node)
        del self.by_node[place.node]
        for task in there:
            if not task.lost and (self.fifo is None or task.key not in self.fifo):
                self.put(task)

    def submit(self, key: Key, said: dict[str, Any], kind: Hashable = None) -> None:
        """A task can run. What is said of it are the variables that the policy imports."""
        task = self.tasks.get(key)
        if task is None:
            self.numbers += 1
            task = self.tasks[key] = Task(key, self.policy.THREAD(self.numbers), kind)
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

    def decisions(self, able: Callable[[str], bool] = anyone) -> list[tuple[str, Key]]:
        """What each worker is to compute. Only workers are looked at that have nothing to do, or that could have a second task; `able`
        says which ones can compute at all."""
        given: list[tuple[str, Key]] = []

        def ask_all(places: Iterable[Place], give: Callable[[Place], Key | None]) -> None:
            for place in places:
                if not self.anything():
                    return
                if able(place.name) and (key := give(place)) is not None:
                    given.append((place.name, key))

        for waiting in (self.due, self.fresh):
            if waiting and self.anything():
                ask_all(list(waiting), self.given)
        while self.refused_by_all and self.news:
            for place in [place for place in self.refused_by_all if not able(place.name)]:
                # The news of now is old once it can compute: it is asked as if nobody had refused it.
                del self.refused_by_all[place]
                self.fresh[place] = None
            victims = sorted(self.news, key=lambda place: (-place.load, place.number))
            self.news.clear()
            ask_all(list(self.refused_by_all), lambda place: self.given(place, victims))
        if self.alone and self.anything():
            ask_all(list(self.alone), self.given_ahead)
        if self.trace is not None:
            self.trace.idle()
        return given

    def next(self, name: str) -> Key | None:
        """Which task this worker computes now, if it has nothing to do and there is one."""
        return self.given(self.places[name])

    def finish(self, key: Key, seconds: float | None = None) -> None:
        """A task has been computed, or has failed, after so much time."""
        if self.ahead is not None and seconds is not None and (task := self.tasks.get(key)) is not None:
            place = task.place
            alone = place is not None and place.runs is task and place.began_idle
            self.ahead.ended(task.kind, seconds, time.monotonic() - place.since if place is not None and alone else None)
        self.end(key, "exit")

    def cancel(self, key: Key) -> None:
        """Nobody wants a task any more."""
        self.end(key, "cancel")

    def overdue(self, patience: float = PATIENCE) -> list[tuple[str, Key]]:
        """What has waited too long behind a task that lasts, and where. Each is told once."""
        late = []
        for key, since in list(self.following.items()):
            if time.monotonic() - since < patience:
                break
            del self.following[key]
            task = self.tasks[key]
            if (place := task.place) is not None:
                late.append((place.name, key))
                if self.ahead is not None and place.runs is not None:
                    self.ahead.lasts(place.runs.kind)
        return late

    def take_back(self, key: Key) -> None:
        """A worker has given back the task that it had ahead."""
        task = self.tasks.get(key)
        if task is None or (place := task.place) is None:
            return
        if self.trace is not None:
            self.trace.given_back(task, place)
        self.leave(task, place)
        if self.nodes is None or self.fifo is not None:
            # For the policy, it runs: the next worker that is free computes it.
            self.move(task, None)
            self.returned[key] = task
        else:
            self.take_out(task)
            if self.steps is not None:
                self.steps.taken(task.thread)
            task.running = False
            self.come(task, place, "migrate")
        self.file(place)

    def end(self, key: Key, event: str) -> None:
        task = self.tasks.pop(key, None)
        if task is None:
            return
        del self.by_thread[task.thread]
        placed = key not in self.unplaced and not task.lost and task.known
        place = task.place
        self.unplaced.pop(key, None)
        self.returned.pop(key, None)
        self.following.pop(key, None)
        view = place.view if place is not None else self.single
        if self.fifo is not None:
            self.fifo.pop(key, None)
        elif placed and view is not None:
            view.show(task.thread if task.running else None)
            self.raised(view, event, task.thread)
        if self.trace is not None:
            self.trace.exited(task, event)
        self.move(task, None)
        if place is not None:
            self.leave(task, place)
            self.happened(place)
            self.file(place)

    def leave(self, task: Task, place: Place) -> None:
        """A worker has done with a task, or is not to compute it: the next one is what it computes."""
        if place.follows is task:
            place.follows = None
        elif place.runs is task:
            place.runs, place.since, place.follows = place.follows, time.monotonic(), None
            place.began_idle = False
            if place.runs is not None:
                self.following.pop(place.runs.key, None)
            if self.trace is not None and self.there(place):
                self.trace.next(place)

    def put(self, task: Task) -> None:
        """Places a task: somewhere, if there are nodes."""
        if self.fifo is not None:
            self.fifo[task.key] = task
            if self.trace is not None:
                self.trace.came(task, "")
        elif self.nodes is None:
            self.come(task, None, "newthread")
        elif not self.places:
            self.unplaced[task.key] = task
        else:
            place = self.chosen(task)
            if self.fifo is None:
                self.move(task, place)
                self.come(task, place, "migrate" if task.known else "newthread")
            elif self.trace is not None:
                self.trace.came(task, "")

    def chosen(self, task: Task) -> Place:
        """The worker on which the policy wants a task."""
        if hasattr(self.nodes, "dispatch"):
            self.raised(None, "dispatch", task.thread)
            for _, node in self.nodes.take_sent():
                return self.by_node[node]
        return self.by_load.first

    def come(self, task: Task, place: Place | None, event: str) -> None:
        view = self.single if place is None else place.view
        assert view is not None
        view.show(None)
        try:
            self.raised(view, event, task.thread)
            task.known = True
            if self.trace is not None:
                self.trace.came(task, event)
        except Refused as refusal:
            if self.trace is not None:
                self.trace.refused(task, event)
            self.move(task, None)
            del self.tasks[task.key], self.by_thread[task.thread]
            self.refused[task.key] = refusal.text
        if place is not None:
            self.happened(place)
            self.file(place)

    def given(self, place: Place, victims: Iterable[Place] | None = None) -> Key | None:
        """What a worker that has nothing to do computes now. It asks these for something if it has nothing; all, unless it is said whom."""
        if place.runs is not None:
            return None
        task = next(iter(self.returned.values()), None)
        if task is not None:
            del self.returned[task.key]
        else:
            if self.steals and self.fifo is None and not place.view.ready():
                self.steal(place, self.rich if victims is None else victims)
            task = self.scheduled(place)
        if task is None:
            if self.steals and self.fifo is None:
                self.fresh.pop(place, None)
                self.refused_by_all[place] = None
            return None
        self.move(task, place)
        task.running, place.runs, place.since, place.began_idle = True, task, time.monotonic(), True
        if self.trace is not None:
            self.trace.next(place)
        self.happened(place)
        self.file(place)
        return task.key

    def given_ahead(self, place: Place) -> Key | None:
        """What a worker computes once it is done with what it has."""
        if place.runs is None or place.follows is not None or self.ahead is None:
            return None
        self.alone.pop(place, None)
        now = time.monotonic()
        if now - place.since >= PATIENCE or not self.ahead.short(place.runs.kind):
            return None
        task = self.scheduled(place)
        if task is None:
            return None
        self.move(task, place)
        task.running, place.follows, self.following[task.key] = True, task, now
        self.happened(place)
        return task.key

    def scheduled(self, place: Place) -> Task | None:
        """What the policy gives to a worker. It sees nothing that runs: what the worker may still compute is out of its sight."""
        if self.fifo is not None or not place.view.ready():
            return self.from_fifo()
        place.view.show(None)
        thread = self.raised(place.view, "schedule")
        if self.fifo is not None:
            return self.from_fifo()
        place.view.began(thread)
        return None if thread is None else self.by_thread[thread]

    def steal(self, thief: Place, victims: Iterable[Place]) -> None:
        """Asks others, the highest load first, until one gives something."""
        for victim in victims:
            if victim is thief or not victim.view.ready():
                continue
            # The only one that finds what a worker computes: it cannot take the processor from it.
            victim.view.show(None if victim.runs is None else victim.runs.thread)
            self.raised(victim.view, "steal", thief.node)
            if self.fifo is not None:
                return
            sent = self.nodes.take_sent()
            for thread, node in sent:
                place, task = self.by_node[node], self.by_thread[thread]
                self.move(task, place)
                if self.fifo is None:
                    self.come(task, place, "migrate")
            if sent:
                self.happened(victim)
                return

    def raised(self, view: View | None, event: str, *of: Entity) -> Any:
        """Raises an event in an instance, or in that of no node. A handler that stops puts the policy out: the tasks go on in the order
        in which they came."""
        self.once.now = time.monotonic_ns() - self.began
        handler = getattr(self.nodes if view is None else view.instance, event)
        if self.steps is not None:
            handler = self.steps.follow(self.once, view, event, handler)
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
            if self.trace is not None:
                self.trace.out(error.line if isinstance(error, Guard) else 0, event)
            self.fifo = {
                task.key: task
                for task in self.tasks.values()
                if not task.running and not task.lost and task.key not in self.unplaced
            }
            for place in self.places.values():
                self.file(place)
            return None

    def from_fifo(self) -> Task | None:
        fifo = self.fifo or {}
        return fifo.pop(next(iter(fifo))) if fifo else None

    def anything(self) -> bool:
        """Whether there is a task that some worker could be given."""
        if self.returned or self.fifo is not None:
            return bool(self.returned or self.fifo)
        return bool(self.rich) if self.single is None else self.single.ready()

    def there(self, place: Place) -> bool:
        return self.places.get(place.name) is place

    def take_out(self, task: Task) -> None:
        """Takes a task from the instance of its node."""
        if task.thread.container is not None:
            if task.running and task.place is not None:
                task.place.view.show(task.thread)
            task.thread.container.remove(task.thread)

    def happened(self, place: Place) -> None:
        """Something has changed in the instance of a node."""
        if self.nodes is None or self.fifo is not None or not self.there(place):
            return
        if place.view.ready():
            self.rich.put(place)
            self.news[place] = None
        else:
            self.rich.discard(place)
            self.news.pop(place, None)

    def file(self, place: Place) -> None:
        """Notes what a worker is to be asked."""
        for queue in (self.due, self.fresh, self.refused_by_all, self.alone):
            queue.pop(place, None)
        if not self.there(place):
            return
        if place.runs is None:
            ready = self.nodes is not None and self.fifo is None and place.view.ready()
            (self.due if ready else self.fresh)[place] = None
        elif place.follows is None and self.ahead is not None:
            self.alone[place] = None

    def move(self, task: Task, place: Place | None) -> None:
        """Keeps the books of loads."""
        before = task.place
        if before is place:
            return
        task.place = place
        if before is not None:
            before.tasks.pop(task.key, None)
        if place is not None:
            place.tasks[task.key] = task
        for there in (before, place):
            if there is not None and self.there(there):
                self.by_load.refresh(there)
                self.rich.refresh(there)
                if there.node is not None and not there.node.ended:
                    self.say(there.node, "load", there.load)

    def say(self, entity: Entity, name: str, value: Any) -> None:
        """Sets an imported variable or a property, if the policy has it."""
        variable: Import | None = next((known for known in entity.IMPORTS if known.name == name), None)
        if variable is not None:
            setattr(entity, variable.member, variable.converted(value))
            entity.refile(variable.member)
            if self.steps is not None:
                self.steps.said(entity, variable, getattr(entity, variable.member))
