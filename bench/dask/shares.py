"""Which part of the processors' time processes get (control groups of Linux; needs root)."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
UNIFIED = (ROOT / "cgroup.controllers").exists()
PARENT = ROOT if UNIFIED else ROOT / "cpu"
PERIOD = 20_000


class Group:
    """Processes, and those that they start, which share what they get as one."""

    def __init__(self, name: str) -> None:
        if UNIFIED:
            (PARENT / "cgroup.subtree_control").write_text("+cpu")
        self.folder = PARENT / f"catapults-bench-{os.getpid()}-{name}"
        self.folder.mkdir()
        # They come before nearly all other programs, each side alike.
        if UNIFIED:
            (self.folder / "cpu.weight").write_text("10000")
        else:
            (self.folder / "cpu.shares").write_text("102400")

    def limit(self, share: float) -> None:
        """No more than this share of one processor."""
        quota = int(PERIOD * share)
        if UNIFIED:
            (self.folder / "cpu.max").write_text(f"{quota} {PERIOD}")
        else:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))

    def enter(self) -> None:
        """The calling process."""
        self.add(os.getpid())

    def add(self, process: int) -> None:
        (self.folder / "cgroup.procs").write_text(str(process))

    def end(self) -> None:
        """Gives back what is in it; what is about to end may take a while."""
        deadline = time.monotonic() + 10
        while True:
            for process in (self.folder / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    (PARENT / "cgroup.procs").write_text(process)
            try:
                return self.folder.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def possible() -> bool:
    return os.geteuid() == 0 and (PARENT / "cgroup.procs").exists()
