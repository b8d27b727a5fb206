"""Tasks whose results are known, and the journal that says who has computed which, and how often."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

#: Of so many tasks in a row, the last one adds up what the others have.
GROUP = 10


class Journal:
    """A file that gets a line for each time that a task has been computed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def lines(self) -> list[tuple[int, int]]:
        """The number of a task, and the process that has computed it."""
        pairs = (line.split() for line in self.path.read_text().splitlines())
        return [(int(number), int(process)) for number, process in pairs]

    def times(self) -> Counter[int]:
        return Counter(number for number, _ in self.lines())


def note(path: str, number: int) -> None:
    """A line is written at once, so those of several processes do not mix."""
    journal = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(journal, f"{number} {os.getpid()}\n".encode())
    os.close(journal)


def square(number: int, path: str) -> tuple[int, int]:
    time.sleep(number % 5 / 1000)
    note(path, number)
    return number, number * number


def total(number: int, path: str, *parts: tuple[int, int]) -> tuple[int, int]:
    """Its inputs may have gone with their worker: then they are computed again."""
    note(path, number)
    return number, sum(value for _, value in parts)


def adds(number: int) -> bool:
    """Whether this task has others as its inputs."""
    return number % GROUP == GROUP - 1


def parts_of(number: int) -> range:
    return range(number - GROUP + 1, number)


def expected(number: int) -> int:
    return sum(part * part for part in parts_of(number)) if adds(number) else number * number
