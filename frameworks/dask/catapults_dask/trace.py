"""Records which worker computed what, when, and why, as other hosts do: `catapults trace` reads it (docs/traces.md has the format).

    header │ names │ record │ record │ …
                   ◄──── a ring of CAPACITY of 32 bytes each ────►

A thread is a task, and a processor a worker. The file is mapped, so that a scheduler that is killed leaves a trace, too.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import struct
import time
from typing import Any

from catapults_dask.places import Place, Task
from catapults_dask.policy import Scheduler

logger = logging.getLogger("catapults.dask")

CAPACITY = 1 << 20
HEADER = struct.Struct("<8s2I3Q4I2Q")
RECORD = struct.Struct("<QI2BHI2HQ")
#: The format has no processors beyond these.
PROCESSORS = 8192
#: Where the header says how many records were ever written.
WRITTEN = 24
VERSION = 3
NOT_KNOWN = 0xFFFF
AS_THE_EVENT_SAYS = 255

NEW, NAMED, DISPATCHED, BLOCKED, RAISED, EXITED, POLICY_OUT, IDLE, REFUSED = 1, 2, 3, 5, 6, 7, 8, 11, 12
PREEMPTED, VALUE = 14, 15

EVENTS = ("init", "newthread", "schedule", "exit", "cancel", "arrival", "departure", "dispatch", "migrate", "steal")
TYPES = {"int": 0, "bool": 1, "time": 2, "float": 3}


class Trace:
    """All methods are called by the engine, which changes its books first."""

    def __init__(self, path: str, policy: type[Scheduler], capacity: int = CAPACITY) -> None:
        self.capacity, self.written = capacity, 0
        self.imports = policy.THREAD.IMPORTS
        self.defaults = policy.THREAD(0)
        names = [(0, policy.NAME), (0, policy.SOURCE), (0, "dask"), (0, "CLOCK_MONOTONIC")]
        self.events = {event: len(names) + place for place, event in enumerate(EVENTS)}
        #: Once the policy is out: no line of it decides.
        self.own = {event: number + len(EVENTS) for event, number in self.events.items()}
        names += [(policy.LINES.get(event, 0), event) for event in EVENTS] + [(0, event) for event in EVENTS]
        self.variables = {variable.name: len(names) + place for place, variable in enumerate(self.imports)}
        names += [(0, variable.name) for variable in self.imports]
        table = b"".join(struct.pack("<I", line) + text.encode() + b"\0\0" for line, text in names)
        self.records_at = -(-(HEADER.size + len(table)) // RECORD.size) * RECORD.size
        size = self.records_at + capacity * RECORD.size
        self.map = mapped(path, size)
        header = (b"CATTRACE", VERSION, RECORD.size, capacity, 0, time.monotonic_ns())
        HEADER.pack_into(self.map, 0, *header, self.records_at, len(table), len(names), 1, 0, 1)
        self.map[HEADER.size : HEADER.size + len(table)] = table
        #: Workers that have nothing to compute since the last decisions.
        self.idlers: dict[Place, None] = {}

    def came(self, task: Task, event: str) -> None:
        """The policy has a task: a new one, one whose worker has gone, or one from elsewhere."""
        if not task.recorded:
            task.recorded = True
            self.record(NEW, task, event)
            self.said(task)
        elif task.waits:
            task.waits = False
            self.record(RAISED, task, event)

    def refused(self, task: Task, event: str) -> None:
        if task.recorded:
            self.exited(task, event)
        else:
            self.record(REFUSED, task, event)
            self.named(task)

    def next(self, place: Place) -> None:
        """A worker begins what it has, or has nothing."""
        if place.runs is None:
            self.idlers[place] = None
        else:
            self.idlers.pop(place, None)
            self.record(DISPATCHED, place.runs, "schedule")

    def exited(self, task: Task, event: str) -> None:
        if not task.recorded:
            return
        place = task.place
        before = place.runs if place is not None and place.follows is task and event == "exit" else None
        if before is not None:
            # It was ahead, and the worker has begun it first.
            self.record(PREEMPTED, before, "")
            self.record(DISPATCHED, task, "schedule")
        self.record(EXITED, task, event)
        if before is not None:
            self.record(DISPATCHED, before, "schedule")

    def given_back(self, task: Task, place: Place) -> None:
        """A worker has not begun a task that was ahead, though the one before it may have ended meanwhile."""
        if place.runs is task:
            self.record(PREEMPTED, task, "")

    def free(self, place: Place) -> None:
        """A worker has come."""
        self.idlers[place] = None
        if place.number == PROCESSORS:
            logger.warning("there are more than %d workers: what the others compute is not recorded", PROCESSORS)

    def gone(self, place: Place) -> None:
        """A worker has gone. What it had waits until it comes again, or is not wanted any more; without nodes, it comes as a new one."""
        self.idlers.pop(place, None)
        for task in place.tasks.values() if place.node is not None else ():
            if task.running and task.recorded and not task.waits:
                task.waits = True
                self.record(BLOCKED, task, "departure", AS_THE_EVENT_SAYS)

    def idle(self) -> None:
        """All have been asked for whom there could be something."""
        for place in self.idlers:
            if place.number < PROCESSORS:
                self.write(IDLE, 0, place.number)
        self.idlers.clear()

    def out(self, line: int, event: str) -> None:
        """The policy is out."""
        self.write(POLICY_OUT, 0, 0, self.events.get(event, 0), line=line)
        self.events = self.own

    def record(self, kind: int, task: Task, event: str, detail: int = 0) -> None:
        processor = task.place.number if task.place is not None else 0
        if processor >= PROCESSORS:
            if kind in (DISPATCHED, PREEMPTED):
                return
            # It matters for turns alone.
            processor = 0
        self.write(kind, task.thread.id, processor, self.events.get(event, 0), detail)

    def said(self, task: Task) -> None:
        """The name, and the variables that the program has set."""
        self.named(task)
        for variable in self.imports:
            value = getattr(task.thread, variable.member)
            if value != getattr(self.defaults, variable.member):
                self.write(
                    VALUE, task.thread.id, 0, self.variables[variable.name], TYPES[variable.type], bits(variable.type, value)
                )

    def named(self, task: Task) -> None:
        name = str(task.key).encode(errors="backslashreplace")
        for part, start in enumerate(range(0, min(len(name), 16 * 256), 16)):
            at = self.slot()
            RECORD.pack_into(self.map, at, time.monotonic_ns(), task.thread.id, NAMED, part, 0, 0, 0, 0, 0)
            self.map[at + 16 : at + 32] = name[start : start + 16].ljust(16, b"\0")
            self.done()

    def write(
        self, kind: int, thread: int, processor: int, name: int = 0, detail: int = 0, value: int = 0, line: int = 0
    ) -> None:
        RECORD.pack_into(
            self.map, self.slot(), time.monotonic_ns(), thread, kind, detail, processor, line, name, NOT_KNOWN, value
        )
        self.done()

    def slot(self) -> int:
        return self.records_at + self.written % self.capacity * RECORD.size

    def done(self) -> None:
        """The record is whole: it counts."""
        self.written += 1
        struct.pack_into("<Q", self.map, WRITTEN, self.written)


def mapped(path: str, size: int) -> mmap.mmap:
    """Raises ValueError if there can be no such file."""
    try:
        with open(path, "w+b", buffering=0) as file:
            try:
                # A full disk is heard of now, and not by a signal later.
                os.posix_fallocate(file.fileno(), 0, size)
                return mmap.mmap(file.fileno(), size)
            except OSError:
                # What there was room for is of use to others.
                with contextlib.suppress(OSError):
                    os.truncate(file.fileno(), 0)
                raise
    except OSError as wrong:
        raise ValueError(f"cannot record in {path}: {wrong.strerror or wrong}") from wrong


def bits(type: str, value: Any) -> int:
    packed = struct.pack("<d", value) if type == "float" else struct.pack("<q", int(value))
    return int.from_bytes(packed, "little")
