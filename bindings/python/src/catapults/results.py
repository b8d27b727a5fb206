"""What commands result in, as docs/messages.md describes it. Times are nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .messages import made


@dataclass(frozen=True)
class Kind:
    """The threads of one name in a simulation. What there is none of is None."""

    name: str
    came: int
    refused: int
    ran: int
    share: float
    jobs: int
    missed: int | None
    response_mean: int | None
    response_p99: int | None
    response_worst: int | None
    unfinished: bool
    ready_mean: int | None
    ready_worst: int | None
    dispatched: int
    preempted: int
    ended: int | None


@dataclass(frozen=True)
class Expectation:
    """What a scenario expects, and what was found."""

    text: str
    line: int
    holds: bool
    found: str
    since: int | None


@dataclass(frozen=True)
class Simulation:
    """A scenario that was simulated under a policy. `ending` is `duration`, `all ended`, `stuck` or `out`."""

    file: str
    scenario: str
    policy: str
    processors: int
    seed: int
    end: int
    ending: str
    as_expected: bool
    threads: tuple[Kind, ...]
    expectations: tuple[Expectation, ...]

    def __getitem__(self, name: str) -> Kind:
        """The threads of this name."""
        for kind in self.threads:
            if kind.name == name:
                return kind
        raise KeyError(name)


@dataclass(frozen=True)
class Tested:
    """A scenario that was tested. `result` is `ok`, `failed`, `refused` or `not run`."""

    file: str
    scenario: str | None
    result: str
    wrong: str | None


@dataclass(frozen=True)
class Finding:
    """What can happen under a policy and should not. `script` replays it."""

    kind: str
    what: str
    steps: tuple[str, ...]
    script: str


@dataclass(frozen=True)
class Exploration:
    """A policy that was explored. `complete`: that is all, so finding nothing is a proof for so many threads."""

    file: str
    threads: int
    situations: int
    transitions: int
    complete: bool
    interrupted: bool
    limits: tuple[str, ...]
    assumptions: tuple[str, ...]
    error: Finding | None
    starvation: Finding | None


def simulation(object: Mapping[str, Any]) -> Simulation:
    """A simulation from its object."""
    kinds = tuple(made(Kind, one) for one in object["threads"])
    expectations = tuple(made(Expectation, one) for one in object["expectations"])
    return made(Simulation, object, threads=kinds, expectations=expectations)


def exploration(object: Mapping[str, Any]) -> Exploration:
    """An exploration from its object."""

    def finding(one: Mapping[str, Any] | None) -> Finding | None:
        return None if one is None else made(Finding, one, steps=tuple(one["steps"]))

    return made(
        Exploration,
        object,
        limits=tuple(object["limits"]),
        assumptions=tuple(object["assumptions"]),
        error=finding(object["error"]),
        starvation=finding(object["starvation"]),
    )
