"""Of which family a worker is, and what it tells of itself: by Dask's own resources, `dask worker --resources "big=1 freeram=64"`."""

from __future__ import annotations

from typing import Any

from catapults_dask.policy import Scheduler

#: What a worker is started with: its resources.
Resources = dict[str, int]


class Unknown(ValueError):
    """Why a worker cannot be a node of the policy."""


def told(policy: type[Scheduler], resources: dict[str, float]) -> tuple[int, dict[str, Any]]:
    """The number of the family of a worker with these resources (0 without families), and its properties."""
    if not policy.FAMILIES:
        return 0, {}
    of = [number for number, name in enumerate(policy.FAMILIES) if resources.get(name)]
    if len(of) != 1:
        known = " or ".join(f'`--resources "{name}=1"`' for name in policy.FAMILIES)
        what = "of no family" if not of else "of several families"
        raise Unknown(f"it is {what} that the policy has: start it with {known}")
    family = policy.FAMILIES[of[0]]
    properties: dict[str, Any] = {}
    for name, type in policy.PROPERTIES[of[0]]:
        if name not in resources:
            raise Unknown(f"it does not tell `{name}`, which nodes of the family `{family}` have: add `{name}=N` to its resources")
        value = resources[name]
        if not float(value).is_integer():
            raise Unknown(f"its `{name}` is {value}, and no whole number")
        properties[name] = bool(value) if type == "bool" else int(value)
    return of[0], properties


def workers(policy: type[Scheduler], written: str) -> list[Resources]:
    """The workers of a cluster on this machine: `3`; with families, `fast=2; big=1 freeram=64`."""
    if not policy.FAMILIES:
        if not written.isdecimal() or int(written) == 0:
            raise ValueError("write a whole number from 1, how many workers there are to be")
        return [{}] * int(written)
    example = f"{policy.FAMILIES[0]}=2"
    all: list[Resources] = []
    for group in filter(str.strip, written.split(";")):
        first, *rest = group.split()
        name, _, count = first.partition("=")
        if name not in policy.FAMILIES or not count.isdecimal() or int(count) == 0:
            families = ", ".join(f"`{family}`" for family in policy.FAMILIES)
            raise ValueError(f"write how many workers of each family there are, as in `{example}`; the families are {families}")
        resources = {name: 1}
        for word in rest:
            known, _, value = word.partition("=")
            if not value.removeprefix("-").isdecimal():
                raise ValueError(f"`{word}` is no property: write `NAME=N` with a whole number, behind the family")
            resources[known] = int(value)
        try:
            told(policy, dict(resources))
        except Unknown as wrong:
            raise ValueError(f"of a worker of `{name}`, {wrong}") from None
        all += [resources] * int(count)
    if not all:
        raise ValueError(f"write how many workers of each family there are, as in `{example}`")
    return all
