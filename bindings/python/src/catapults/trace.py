"""Recordings of which thread ran when: of programs (CATAPULTS_TRACE=FILE.trace), and of simulations."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .command import PathLike, option, run
from .messages import made

# The rows of threads in an exported timeline; the processors are another process.
THREADS = 2


@dataclass(frozen=True)
class RecordedThread:
    """The threads of one name in a recording."""

    name: str
    count: int
    running: int
    ready: int
    lending: int
    blocked: int
    turns: int
    borrowed: int
    ready_worst: int


@dataclass(frozen=True)
class RecordedProcessor:
    """A processor in a recording."""

    number: int
    busy: int
    idle: int
    switches: int


@dataclass(frozen=True)
class RecordedHandler:
    """How often a handler of the policy decided something; `line` None: it is the host's own."""

    event: str
    line: int | None
    decided: int


@dataclass(frozen=True)
class Summary:
    """A recording in numbers. Times are nanoseconds."""

    host: str
    policy: str
    length: int
    resolution: int
    records: int
    lost: int
    threads: tuple[RecordedThread, ...]
    processors: tuple[RecordedProcessor, ...]
    handlers: tuple[RecordedHandler, ...]


@dataclass(frozen=True)
class Stay:
    """For how long a thread was `running`, `ready`, or whatever else, and the handler that had decided it."""

    thread: str
    state: str
    since: int
    length: int
    handler: str | None
    line: int | None


class Trace:
    """A recording: a file that the command reads."""

    def __init__(self, file: PathLike) -> None:
        self.file = Path(file)

    def summary(self, *, newest: int | None = None) -> Summary:
        """How long each thread ran, was ready and was blocked; of the newest records only, if that is given."""
        said = run(["trace", "summary", *option("newest", newest), self.file])
        said.refuse()
        [object] = said.of("summary")
        return made(
            Summary,
            object,
            threads=tuple(made(RecordedThread, one) for one in object["threads"]),
            processors=tuple(made(RecordedProcessor, one) for one in object["processors"]),
            handlers=tuple(made(RecordedHandler, one) for one in object["handlers"]),
        )

    def stays(self, *, newest: int | None = None) -> list[Stay]:
        """What each thread did when, in the order of beginnings; of the newest records only, if that is given."""
        with tempfile.TemporaryDirectory() as folder:
            exported = os.path.join(folder, "exported.json")
            run(["trace", "export", *option("newest", newest), "--output", exported, self.file]).refuse()
            with open(exported, encoding="utf-8") as timeline:
                events = json.load(timeline)["traceEvents"]
        mine = [event for event in events if event.get("pid") == THREADS]
        names = {event["tid"]: event["args"]["name"] for event in mine if event["name"] == "thread_name"}
        stays = [stay(event, names) for event in mine if event["ph"] == "X"]
        return sorted(stays, key=lambda one: one.since)


def stay(event: Mapping[str, Any], names: Mapping[int, str]) -> Stay:
    """A stay from an event of the exported timeline, which counts microseconds."""
    why = event.get("args", {})
    return Stay(
        thread=names.get(event["tid"], str(event["tid"])),
        state=event["name"],
        since=round(event["ts"] * 1000),
        length=round(event["dur"] * 1000),
        handler=why.get("handler"),
        line=why.get("line"),
    )
