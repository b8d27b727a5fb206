"""The compiler's messages, as docs/messages.md describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

T = TypeVar("T")


def made(kind: type[T], object: Mapping[str, Any], **instead: Any) -> T:
    """One of this kind from an object. Fields that later versions of the command have more are left out."""
    names = [field.name for field in fields(kind)]
    return kind(**{name: instead[name] if name in instead else object[name] for name in names})


@dataclass(frozen=True)
class Span:
    """A place in a file. Lines and columns are counted from 1, bytes from 0."""

    file: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    label: str
    primary: bool


@dataclass(frozen=True)
class Suggestion:
    """A change of a file that mends it: `text` takes the place of the bytes from `start` to before `end`."""

    file: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """An error, a warning or a note of the compiler."""

    severity: str
    code: str | None
    title: str
    file: str
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    help: tuple[str, ...]
    suggestions: tuple[Suggestion, ...]
    rendered: str

    @property
    def line(self) -> int | None:
        """The line of the place that it is about; None: it is about the whole file."""
        return next((span.line for span in self.spans if span.primary), None)

    @property
    def column(self) -> int | None:
        """The column of that place."""
        return next((span.column for span in self.spans if span.primary), None)

    @property
    def hint(self) -> str | None:
        """What to write or to do instead."""
        return "\n".join(self.help) or None


def diagnostic(object: Mapping[str, Any]) -> Diagnostic:
    """A diagnostic from its object."""
    return made(
        Diagnostic,
        object,
        spans=tuple(made(Span, one) for one in object["spans"]),
        notes=tuple(object["notes"]),
        help=tuple(object["help"]),
        suggestions=tuple(made(Suggestion, one) for one in object["suggestions"]),
    )
