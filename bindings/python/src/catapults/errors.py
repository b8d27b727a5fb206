"""What can go wrong."""

from __future__ import annotations

from collections.abc import Sequence

from .messages import Diagnostic


class CatapultsError(Exception):
    """Any of the errors below."""


class CommandMissing(CatapultsError):
    """The command `catapults` is not there, or too old for this module."""


class WrongUsage(CatapultsError):
    """No file can make this call right; the text says why."""


class Refused(CatapultsError):
    """A policy, a scenario or another input is wrong; `diagnostics` says where and why, as the compiler does."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        super().__init__("\n".join(one.rendered.rstrip() for one in self.errors))

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics that are errors."""
        return [one for one in self.diagnostics if one.severity == "error"]


class Failed(CatapultsError):
    """The command ended otherwise than it says that it does."""

    def __init__(self, status: int, said: str) -> None:
        self.status = status
        super().__init__(f"catapults ended with status {status}: {said.strip()}")
