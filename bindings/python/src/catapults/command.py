"""Runs the command. It is another process, and no library that is loaded: what is said is data already, and whatever
happens to the command, to its memory and to its C compiler, does not happen to the caller."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from .errors import CommandMissing, Failed, Refused, WrongUsage
from .messages import Diagnostic, diagnostic

PathLike = Union[str, "os.PathLike[str]"]

USAGE = 2


@dataclass(frozen=True)
class Said:
    """What the command has said."""

    status: int
    objects: list[dict[str, Any]]
    text: str

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The objects of this type."""
        return [one for one in self.objects if one["type"] == kind]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Its errors, warnings and notes."""
        return [diagnostic(one) for one in self.of("diagnostic")]

    def refuse(self) -> None:
        """Raises an error if there is one among the diagnostics."""
        found = self.diagnostics
        if any(one.severity == "error" for one in found):
            raise Refused(found)


def run(words: Sequence[PathLike], statuses: Iterable[int] = (0, 1)) -> Said:
    """Runs the command with these words. Wrong usage, and a status that it does not end with, raise."""
    command = [found(), "--message-format", "json", *(os.fspath(word) for word in words)]
    try:
        process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        why = f"{command[0]} cannot be started: {error.strerror}; CATAPULTS_COMMAND is to name the command `catapults`"
        raise CommandMissing(why) from error
    objects, others = [], []
    for line in process.stderr.splitlines():
        try:
            objects.append(json.loads(line))
        except ValueError:
            others.append(line)
    said = Said(process.returncode, objects, process.stdout)
    if said.status == USAGE:
        titles = [one.rendered for one in said.diagnostics]
        raise WrongUsage("\n".join([*titles, *others]).strip())
    if said.status not in statuses:
        raise Failed(said.status, process.stderr)
    return said


def found() -> str:
    """Where the command is."""
    named = os.environ.get("CATAPULTS_COMMAND")
    if named:
        return named
    on_path = shutil.which("catapults")
    if on_path:
        return on_path
    for folder in Path(__file__).resolve().parents:
        built = folder / "build" / "bin" / "catapults"
        if built.is_file():
            return str(built)
    raise CommandMissing(
        "there is no command `catapults`: install it (in a clone of Catapults: `make build && sudo make install`), "
        "or let CATAPULTS_COMMAND name it"
    )


def option(name: str, value: object) -> list[str]:
    """An option with its value, unless that is None."""
    return [] if value is None else [f"--{name}={value}"]
