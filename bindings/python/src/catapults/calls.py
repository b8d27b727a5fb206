"""The commands that work on policies and scenarios."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .command import PathLike, Said, option, run
from .errors import CommandMissing
from .messages import Diagnostic, made
from .results import Exploration, Simulation, Tested, exploration, simulation

# `explore` ends so if it has explored within a bound only.
BOUNDED = 3


def check(*files: PathLike, framework: PathLike | None = None) -> list[Diagnostic]:
    """Checks policies, hierarchies and scenarios. Returns warnings and notes; raises Refused if one is wrong."""
    said = run(["check", *option("framework", framework), *files])
    said.refuse()
    return said.diagnostics


def sim(
    file: PathLike,
    *,
    policies: Iterable[PathLike] = (),
    only: str | None = None,
    seed: int | None = None,
    processors: int | None = None,
    compiled: bool = False,
    trace: PathLike | None = None,
    html: PathLike | None = None,
    framework: PathLike | None = None,
) -> list[Simulation]:
    """Simulates the scenarios of a file, or a policy alone; under each of `policies`, if there are any.

    `trace` and `html` name files that are written: a recording (see Trace), a page for a browser. An expectation that does
    not hold is no error: look at `as_expected`. Raises Refused if an input is wrong.
    """
    words = [word for policy in policies for word in option("policy", policy)]
    words += option("only", only) + option("seed", seed) + option("processors", processors)
    words += option("trace", trace) + option("html", html) + option("framework", framework)
    words += ["--compiled"] if compiled else []
    said = run(["sim", *words, file])
    said.refuse()
    simulated = said.of("simulated")
    if not simulated:
        raise CommandMissing("the command `catapults` is older than this module: install both from one version")
    return [simulation(one) for one in simulated]


def test(
    *paths: PathLike,
    policy: PathLike | None = None,
    only: str | None = None,
    framework: PathLike | None = None,
) -> list[Tested]:
    """Runs scenarios as tests: files, or all in folders. Raises Refused if nothing could be run.

    `wrong` says what differs from what a scenario expects, or why a file is refused.
    """
    said = run(["test", *option("policy", policy), *option("only", only), *option("framework", framework), *paths])
    tested = [made(Tested, one) for one in said.of("tested")]
    if all(one.result == "refused" for one in tested):
        said.refuse()
    return [replace(one, wrong=why_refused(said, one.file)) if one.result == "refused" else one for one in tested]


def why_refused(said: Said, file: str) -> str:
    """The errors in this file, or all of them if none is: they are in a policy that it names."""
    errors = [one for one in said.diagnostics if one.severity == "error"]
    in_file = [one for one in errors if one.file == file]
    return "\n".join(one.rendered.rstrip() for one in in_file or errors)


def explore(
    *files: PathLike,
    threads: int | None = None,
    states: int | None = None,
    seconds: int | None = None,
    fair: bool = False,
    framework: PathLike | None = None,
) -> list[Exploration]:
    """Tries every order of events on policies, within bounds. Raises Refused if one is wrong.

    What can happen and should not is no error here: look at `error` and `starvation`.
    """
    words = option("threads", threads) + option("states", states) + option("seconds", seconds)
    words += option("framework", framework) + (["--fair"] if fair else [])
    said = run(["explore", *words, *files], statuses=(0, 1, BOUNDED))
    explored = [exploration(one) for one in said.of("explored")]
    if len(explored) < len(files):
        said.refuse()
    return explored
