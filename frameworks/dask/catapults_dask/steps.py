"""Writes down what a policy is told and what it answers, as steps that the interpreter takes, too (tests/tests/cluster.rs)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from catapults_dask.containers import Entity, Import
from catapults_dask.policy import Guard, Node, Nodes, Once, Refused
from catapults_dask.view import View


class Steps:
    """A line for each step, with the decision behind an arrow. The file is whole whenever the process ends."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "w", encoding="utf-8", buffering=1)
        self.now = 0
        #: Whose instance the last events were raised in; `None`: that of no node.
        self.node: int | None = None
        #: What runs, as far as the steps have said, in each instance.
        self.running: dict[View, int | None] = {}

    def line(self, *words: object) -> None:
        self.file.write(" ".join(map(str, words)) + "\n")

    def said(self, entity: Entity, variable: Import, value: Any) -> None:
        """The host has set an imported variable of a thread, or a property of a node."""
        step = "set_property" if isinstance(entity, Node) else "set_thread_import"
        self.line(step, entity.id, variable.name, written(variable.type, value))

    def taken(self, thread: Entity) -> None:
        """The host has taken a thread from where it was. The event of a thread that comes follows."""
        self.line("take", thread.id)

    def follow(self, once: Once, view: View | None, event: str, handler: Callable[..., Any]) -> Callable[..., Any]:
        """The handler of an event, raised in an instance or in that of no node, which is written down with what comes of it."""
        self.begins(once.now, view)

        def followed(*of: Entity) -> Any:
            outcome = "error"
            try:
                dispatched = handler(*of)
                outcome = ", ".join(sent(once)) if dispatched is None else str(dispatched.id)
                return dispatched
            except Refused as stop:
                outcome = f"fail {stop.text}"
                raise
            except Guard as stop:
                outcome = f"guard {stop.line} {stop.text}"
                raise
            finally:
                self.ends(view, event, of, outcome)

        return followed

    def begins(self, now: int, view: View | None) -> None:
        if now != self.now:
            self.line("at", f"{now}ns")
            self.now = now
        if view is None:
            return
        if view.number is not None and view.number != self.node:
            self.line("node", view.number)
            self.node = view.number
        # What has ended, or was taken away, is not there.
        shown = None if view.shown is None or view.shown.container is None else view.shown.id
        if self.running.get(view) != shown:
            self.line("running", "none" if shown is None else shown)
            self.running[view] = shown

    def ends(self, view: View | None, event: str, of: tuple[Entity, ...], outcome: str) -> None:
        self.line(event, *(entity.id for entity in of), *(["->", outcome] if outcome else []))
        if event == "schedule" and view is not None and outcome.isdecimal():
            self.running[view] = int(outcome)
        if event == "departure" and of[0].id == self.node:
            self.node = None


def sent(once: Once) -> list[str]:
    """What the handler has sent to nodes."""
    return [f"{thread.id} to node {node.id}" for thread, node in once.sent] if isinstance(once, Nodes) else []


def written(type: str, value: Any) -> str:
    if type == "bool":
        return "true" if value else "false"
    return f"{value}ns" if type == "time" else repr(value)
