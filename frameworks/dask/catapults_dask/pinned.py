"""The parts of Dask's scheduler that are replaced here are its own affair: they are looked at before anything starts."""

from __future__ import annotations

import inspect

import distributed
from distributed.scheduler import Scheduler

VERSION = "2026.8.0"

#: Methods, and their parameters.
HOOKS = {
    "is_rootish": ["self", "ts"],
    "decide_worker_non_rootish": ["self", "ts"],
    "bulk_schedule_unrunnable_after_adding_worker": ["self", "ws"],
    "remove_worker": ["self", "address", "stimulus_id", "expected", "close"],
    "handle_long_running": ["self", "key", "worker", "run_id", "compute_duration", "stimulus_id"],
    "transition": ["self", "key", "finish", "stimulus_id", "kwargs"],
    "transitions": ["self", "recommendations", "stimulus_id"],
    "worker_send": ["self", "worker", "msg"],
}


class Unsuitable(RuntimeError):
    """This is no Dask that a policy can run."""


def check() -> None:
    """Refuses another version, and one that has been changed."""
    if distributed.__version__ != VERSION:
        raise Unsuitable(
            f"policies run on distributed {VERSION}, and this is {distributed.__version__}: pip install distributed=={VERSION}"
        )
    for name, expected in HOOKS.items():
        method = getattr(Scheduler, name, None)
        found = list(inspect.signature(method).parameters) if method is not None else None
        if found != expected:
            raise Unsuitable(f"Scheduler.{name} of distributed has the parameters {expected}, and here {found}")
