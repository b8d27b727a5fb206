"""The policy stops at a guard, and a worker is killed before and after. Run by `catapults run`."""

from __future__ import annotations

from typing import Any

from distributed import Client

from support.trial import say, trial, until

POLICIES = ("stops", "stops_on_nodes")
TASKS = 1000


def out(dask_scheduler: Any) -> bool:
    return dask_scheduler.engine.fifo is not None


def outlived(client: Client) -> None:
    """Tasks go on once the policy is out, whatever has put it out, and whether workers are killed or not."""
    with trial(client, TASKS) as of:
        of.reach(0.1)
        of.kill()
        until(lambda: bool(client.run_on_scheduler(out)))
        say(f"the policy is out after {of.done()} of {TASKS} tasks")
        of.reach(0.7)
        of.kill()


def main() -> None:
    with Client() as client:
        outlived(client)


if __name__ == "__main__":
    main()
