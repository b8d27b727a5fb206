"""Workers are killed at random instants. Run by `catapults run`."""

from __future__ import annotations

from distributed import Client

from support.trial import Trial, trial

#: What it is tried under.
POLICIES = ("least_loaded", "fifo", "per_processor_fifo", "fixed_priority")
TASKS, KILLS = 2500, 5


def kill(of: Trial, kills: int) -> None:
    for share in of.moments(kills):
        of.reach(share)
        of.kill()


def main() -> None:
    with Client() as client, trial(client, TASKS) as of:
        kill(of, KILLS)


if __name__ == "__main__":
    main()
