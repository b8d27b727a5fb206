"""Loads the module of a translated policy."""

from __future__ import annotations

import runpy

from catapults_dask.policy import ABI, Scheduler


def load(path: str) -> type[Scheduler]:
    """The class of schedulers in the file.

    Raises ValueError if it is no translated policy, or one that was translated for another version of this package.
    """
    module = runpy.run_path(path)
    found = module.get("POLICY")
    if not (isinstance(found, type) and issubclass(found, Scheduler)):
        raise ValueError(f"{path} is no translated policy: `catapults build --framework dask` makes one")
    if module.get("ABI") != ABI:
        raise ValueError(
            f"{path} was translated for version {module.get('ABI')} of the table of handlers, and this is version {ABI}: "
            "translate it again with `catapults build --framework dask FILE.sched`"
        )
    return found
