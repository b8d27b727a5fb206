"""Workers are stopped, some for so long that the scheduler gives them up, and then continued or killed. Run by `catapults run`."""

from __future__ import annotations

import signal

from distributed import Client

from support.trial import GIVES_UP_SOON, Trial, say, trial, until

POLICIES = ("least_loaded", "fifo")
SETTINGS = GIVES_UP_SOON
TASKS = 1000
#: How often a worker is stopped while others compute some tasks, and how often until it is given up.
BRIEFLY, FOR_LONG = 3, 3
#: How many tasks are done meanwhile.
SOME = 30


def briefly(of: Trial) -> None:
    """It may be given up even so, where the others are slow: that makes no difference."""
    worker = of.victim()
    worker.send(signal.SIGSTOP)
    enough = min(of.done() + SOME, of.tasks)
    until(lambda: of.done() >= enough or of.given_up(worker))
    of.recovered(worker)
    worker.send(signal.SIGCONT)


def for_long(of: Trial, end: signal.Signals) -> None:
    worker = of.victim()
    worker.send(signal.SIGSTOP)
    until(lambda: of.given_up(worker))
    of.kills += 1
    # One that goes on finds that nobody waits for it.
    worker.send(end)


def main() -> None:
    with Client() as client, trial(client, TASKS) as of:
        kinds = [briefly] * BRIEFLY + [for_long] * FOR_LONG
        of.random.shuffle(kinds)
        ends = [signal.SIGCONT, signal.SIGKILL]
        for share, kind in zip(of.moments(len(kinds)), kinds, strict=True):
            of.reach(share)
            if kind is briefly:
                briefly(of)
            else:
                ends.reverse()
                for_long(of, ends[0])
        say(f"{BRIEFLY + FOR_LONG} workers stopped, {of.kills} given up")


if __name__ == "__main__":
    main()
