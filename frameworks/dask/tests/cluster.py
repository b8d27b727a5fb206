"""Thousands of tasks under `least_loaded`, while workers are killed. Run by `catapults run`; the last line says what became of them.

`long.py` is the long form, with more kinds of faults.
"""

from __future__ import annotations

import os

import dask
from distributed import Client

from faults.kill import kill
from support.trial import Trial, trial

TASKS = 3000
KILLS = 4
BOUND = 50


def process(_: int) -> int:
    return os.getpid()


def bound(of: Trial) -> None:
    """Tasks that are bound to a worker run there alone."""
    with dask.annotate(processor=0):
        processes = of.client.gather(of.client.map(process, range(BOUND), pure=False))
    of.extra(BOUND, len(set(processes)) != 1)


def main() -> None:
    with Client() as client, trial(client, TASKS) as of:
        kill(of, KILLS)
        of.collect()
        of.complete()
        bound(of)


if __name__ == "__main__":
    main()
