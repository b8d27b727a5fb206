"""Dask's scheduler, in which a policy decides what is computed where, and in which order."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import dask
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.protocol import pickle
from distributed.scheduler import DEFAULT_EXTENSIONS, Scheduler, TaskState, WorkerState

from catapults_dask.ahead import PATIENCE, Ahead
from catapults_dask.engine import Engine
from catapults_dask.families import Unknown, told
from catapults_dask.policy import Scheduler as Policy
from catapults_dask.steps import Steps
from catapults_dask.trace import Trace

logger = logging.getLogger("catapults.dask")

#: What else would move tasks or data.
CONFIGURATION = {
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
}


#: States of a task on a worker that has not begun it.
NOT_BEGUN = {"ready", "constrained", "waiting"}


class Refusal(RuntimeError):
    """The error of a task that the policy did not take."""


class PolicyScheduler(Scheduler):
    """A task that the policy has not yet given to a worker is in the state `no-worker`.

    With `ahead`, a worker gets its next task while it computes one that is short. With `trace`, it is recorded who computed what, when,
    and why.
    """

    def __init__(
        self,
        policy: type[Policy],
        *,
        ahead: bool = True,
        trace: Trace | None = None,
        steps: Steps | None = None,
        **options: Any,
    ) -> None:
        self.engine = Engine(policy, Ahead() if ahead else None, trace=trace, steps=steps)
        #: How many tasks have been given to workers: they compute them in this order.
        self.given = 0
        #: Tasks that workers have been asked to give back, and in which message.
        self.asked_back: dict[Any, str] = {}
        self.requests = 0
        #: The one that is given back now.
        self.returning: Any = None
        self.looks_back = False
        #: Where the policy has sent a task that is on its way there.
        self.chosen: dict[Any, str] = {}
        self.refused: dict[Any, str] = {}
        self.asked = False
        #: Whether a worker has ever come, and whether a client has.
        self.came = self.asked_for = False
        dask.config.set(CONFIGURATION)
        extensions = {name: extension for name, extension in DEFAULT_EXTENSIONS.items() if name != "stealing"}
        super().__init__(extensions=extensions, **options)
        self.stream_handlers["steal-response"] = self.answered
        self.add_plugin(Watch(self), name="catapults")

    def is_rootish(self, ts: TaskState) -> bool:
        return False

    def decide_worker_non_rootish(self, ts: TaskState) -> WorkerState | None:
        address = self.chosen.pop(ts.key, None)
        if address is not None:
            return self.workers[address]
        self.wake()
        if ts.actor or ts.worker_restrictions or ts.host_restrictions or ts.resource_restrictions:
            self.refused[ts.key] = "where it runs is for the policy to say: no actors, and no `workers=` or `resources=`"
            return None
        try:
            self.engine.submit(ts.key, ts.annotations or {}, ts.prefix.name)
        except TypeError as wrong:
            self.engine.cancel(ts.key)
            self.refused[ts.key] = str(wrong)
        return None

    def bulk_schedule_unrunnable_after_adding_worker(self, ws: WorkerState) -> dict[Any, Any]:
        if ws.nthreads != 1:
            logger.error("worker %s has %d threads; a policy decides for workers with one", ws.address, ws.nthreads)
        elif ws.address not in self.engine.places:
            self.came = True
            try:
                family, properties = told(self.engine.policy, dict(ws.resources))
                self.engine.arrive(ws.address, family, properties)
            except Unknown as wrong:
                logger.error("worker %s gets no tasks: %s", ws.address, wrong)
        self.wake()
        return {}

    async def remove_worker(
        self, address: str, *, stimulus_id: str, expected: bool = False, close: bool = True
    ) -> Any:
        # Before its tasks are placed anew.
        address = self.coerce_address(address)
        if address in self.engine.places:
            self.engine.depart(address)
        removed = await super().remove_worker(address, stimulus_id=stimulus_id, expected=expected, close=close)
        self.wake()
        return removed

    def handle_long_running(
        self, key: Any, worker: str, run_id: int, compute_duration: float | None, stimulus_id: str
    ) -> None:
        super().handle_long_running(key, worker, run_id, compute_duration, stimulus_id)
        # A task that waits for tasks of its own has left the worker's thread to others (`secede`, `worker_client`).
        ts, ws = self.tasks.get(key), self.workers.get(worker)
        if ts is not None and ws is not None and ts in ws.long_running:
            self.engine.finish(key)
            self.wake()

    def wake(self) -> None:
        """Asks the policy soon, once all that happens now has happened."""
        if not self.asked:
            self.asked = True
            asyncio.get_running_loop().call_soon(self.ask)

    def ask(self) -> None:
        """Gives workers what the policy says."""
        self.asked = False
        self.refuse()
        recommendations = {}
        for address, key in self.engine.decisions(self.able):
            if (ts := self.tasks.get(key)) is not None and ts.state == "no-worker":
                self.chosen[key] = address
                self.given += 1
                # A worker that has two tasks begins with the lower one.
                ts.priority = (self.given, 0, 0)
                recommendations[key] = "processing"
            else:
                # Nobody waits for it any more.
                self.engine.cancel(key)
                self.wake()
        if recommendations:
            # Dask takes the last one first, and a worker begins the first one that it gets.
            self.transitions(dict(reversed(recommendations.items())), "catapults-schedule")
        self.refuse()
        if self.engine.following and not self.looks_back:
            self.looks_back = True
            asyncio.get_running_loop().call_later(PATIENCE, self.look_back)

    def able(self, address: str) -> bool:
        """Whether a worker computes: it may have been paused."""
        return self.workers.get(address) in self.running

    def look_back(self) -> None:
        """Asks for tasks that wait behind one that lasts."""
        self.looks_back = False
        for address, key in self.engine.overdue():
            self.requests += 1
            self.asked_back[key] = message = f"catapults-back-{self.requests}"
            self.worker_send(address, {"op": "steal-request", "key": key, "stimulus_id": message})
        self.wake()

    def answered(self, key: Any, state: str | None, stimulus_id: str, worker: str) -> None:
        """A worker says in which state a task was that it has been asked for. It keeps one that it has begun."""
        # Whatever has become of the task meanwhile, it has gone from `asked_back`.
        if self.asked_back.get(key) == stimulus_id and self.asked_back.pop(key) and state in NOT_BEGUN:
            self.returning = key
            self.transitions({key: "released"}, stimulus_id)
            self.returning = None
            self.engine.take_back(key)
            self.wake()

    def refuse(self) -> None:
        """What the policy has refused becomes the error of the task."""
        if not self.refused and not self.engine.refused:
            return
        refused = {**self.refused, **self.engine.refused}
        self.refused, self.engine.refused = {}, {}
        for key, why in refused.items():
            ts = self.tasks.get(key)
            if ts is not None and ts.state == "no-worker":
                error = pickle.dumps(Refusal(why))
                after = self.transition(
                    key, "erred", stimulus_id="catapults-refuse", exception=error, cause=key, exception_text=why
                )
                self.transitions(after, "catapults-refuse")


class Watch(SchedulerPlugin):
    """Tells the policy what becomes of tasks."""

    def __init__(self, scheduler: PolicyScheduler) -> None:
        self.scheduler = scheduler

    def add_client(self, scheduler: Scheduler, client: str) -> None:
        self.scheduler.asked_for = True

    def transition(self, key: Any, start: str, finish: str, *of: Any, stimulus_id: str, **more: Any) -> None:
        engine = self.scheduler.engine
        task = engine.tasks.get(key)
        if start == "processing":
            self.scheduler.asked_back.pop(key, None)
        if task is None:
            return
        if start == "processing" and finish in ("memory", "erred") and task.running:
            engine.finish(key, computed(more.get("startstops")))
        elif key == self.scheduler.returning and finish != "forgotten":
            # It stays a task of the policy.
            return
        elif finish == "forgotten" or (start in ("processing", "no-worker") and finish != "processing"):
            # It is asked for again, if its worker has gone.
            if finish == "forgotten" or not task.lost:
                engine.cancel(key)
        else:
            return
        self.scheduler.wake()


def computed(startstops: Any) -> float | None:
    """How long a worker has computed a task, as far as it says."""
    times = [of["stop"] - of["start"] for of in startstops or () if of["action"] == "compute"]
    return sum(times) if times else None
