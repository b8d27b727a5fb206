"""Stock Dask beside policies, in one run: `$(scripts/dask) bench/dask/compare.py`. CATAPULTS is the command.

Both clusters are there at once, and compute in turn; who begins takes turns, too. Stock Dask is a LocalCluster with as many
processes, of one thread each. The tables show medians, the ratio is the median of those of each round, with half of the width of their
middle half (±).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import shares
from loads import SERVICE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CATAPULTS = os.environ.get("CATAPULTS", str(ROOT / "build/bin/catapults"))
FRAMEWORK = ROOT / "frameworks/dask/dask.framework"
#: How long the service takes to answer, in seconds.
DELAY = 0.150
#: Of a processor's time, for workers of two speeds: of each pair, one of each.
SHARES = (0.40, 0.08)


@dataclasses.dataclass
class Question:
    what: str
    load: str
    policy: str
    #: Of the ratio of ours to stock; tasks per second are to be more, durations less.
    goal: float | None
    rate: bool = False
    slowed: bool = False


QUESTIONS = {
    "empty-fifo": Question("empty tasks per second", "empty", "fifo", 0.95, rate=True),
    "empty-placed": Question("empty tasks per second", "empty", "least_loaded", 0.95, rate=True),
    "mix": Question("few long tasks among short ones, workers of two speeds, s", "mix", "earliest_finish", 0.7, slowed=True),
    "after": Question("tasks that compute, then tasks that wait, s", "after", "overlap", 0.85),
    "both": Question("the same, all at once, s", "both", "overlap", None),
    "equal": Question("equal tasks, s", "equal", "least_loaded", None),
}


class Cluster:
    """A process with a cluster, which computes a load whenever it is asked."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str], stack: contextlib.ExitStack) -> None:
        # The kernel shares the processors among sessions: without a group of its own, whoever starts more of them would have more.
        enter = None
        if shares.possible():
            group = shares.Group(name)
            stack.callback(group.end)
            enter = group.enter
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            preexec_fn=enter,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout
        stack.callback(self.end)
        self.workers = [int(word) for word in self.line()[1:]]

    def line(self) -> list[str]:
        words = self.answers.readline().split()
        if not words:
            raise SystemExit(f"dask: {self.process.args!r} has ended: {self.process.wait()}")
        return words

    def once(self) -> tuple[int, float]:
        self.requests.write("\n")
        self.requests.flush()
        tasks, seconds = self.line()
        return int(tasks), float(seconds)

    def end(self) -> None:
        self.requests.close()
        self.process.wait()


def service() -> str:
    """Answers each connection after a while, as something far away does."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def answer(connection: socket.socket) -> None:
        time.sleep(DELAY)
        with contextlib.suppress(OSError), connection:
            connection.sendall(b"!")

    def serve() -> None:
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    host, port = listener.getsockname()
    return f"{host} {port}"


@contextlib.contextmanager
def clusters(question: Question, workers: int, scale: float) -> Iterator[dict[str, Cluster]]:
    environment = {**os.environ, "CATAPULTS_DASK_WORKERS": str(workers), SERVICE: service()}
    program = [sys.executable, str(HERE / "loads.py")]
    load = [question.load, str(workers), str(scale)]
    policy = [CATAPULTS, "run", "--framework", str(FRAMEWORK), str(ROOT / f"policies/{question.policy}.sched"), "--"]
    both: dict[str, Cluster] = {}
    with contextlib.ExitStack() as stack:
        for whose, before in {"stock": list[str](), "policy": policy}.items():
            both[whose] = Cluster(whose, [*before, *program, whose, *load], environment, stack)
            for index, process in enumerate(both[whose].workers if question.slowed else []):
                group = shares.Group(f"{whose}-{index}")
                stack.callback(group.end)
                group.limit(SHARES[index % 2])
                group.add(process)
        yield both


def measured(question: Question, workers: int, scale: float, rounds: int) -> dict[str, list[float]]:
    """Of each round, what stock Dask and the policy came to; one before them is not counted."""
    repeats: dict[str, list[float]] = {"stock": [], "policy": []}
    with clusters(question, workers, scale) as both:
        for number in range(rounds + 1):
            for whose in ("stock", "policy") if number % 2 else ("policy", "stock"):
                tasks, seconds = both[whose].once()
                if number > 0:
                    repeats[whose].append(tasks / seconds if question.rate else seconds)
    return repeats


def spread(values: list[float]) -> float:
    """Half of the width of the middle half."""
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description="Stock Dask beside policies.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=QUESTIONS, nargs="*", default=list(QUESTIONS))
    parser.add_argument("--scale", type=float, default=1.0, help="how large loads are")
    parser.add_argument("--json", type=Path, help="where every repeat is written")
    arguments = parser.parse_args()
    processors = len(os.sched_getaffinity(0))
    workers = 8 if processors >= 4 else 4
    print(f"{workers} workers of one thread each, on {processors} processors; {arguments.rounds} rounds, medians")
    print(f"{'':58} {'policy':16} {'stock':>8} {'policy':>8} {'ratio':>6} {'±':>5}  goal")
    rows: list[dict[str, object]] = []
    goals = reached = 0
    for name in arguments.only:
        question = QUESTIONS[name]
        if question.slowed and not shares.possible():
            print(f"{question.what:58} not measured: slow workers take control groups, and root")
            goals += 1
            rows.append({**dataclasses.asdict(question), "workers": workers, "ratio": None, "repeats": {}})
            continue
        repeats = measured(question, workers, arguments.scale, arguments.rounds)
        ratios = [policy / stock for stock, policy in zip(repeats["stock"], repeats["policy"], strict=True)]
        ratio = statistics.median(ratios)
        judged = "none"
        if question.goal is not None:
            goals += 1
            good = ratio >= question.goal if question.rate else ratio <= question.goal
            reached += good
            judged = f"{'≥' if question.rate else '≤'} {question.goal} {'reached' if good else 'MISSED'}"
        elif ratio > 1:
            judged = "none; stock wins"
        stock, policy = (statistics.median(repeats[whose]) for whose in ("stock", "policy"))
        print(
            f"{question.what:58} {question.policy:16} {stock:8.2f} {policy:8.2f} {ratio:6.2f} {spread(ratios):5.2f}  {judged}",
            flush=True,
        )
        rows.append({**dataclasses.asdict(question), "workers": workers, "ratio": ratio, "repeats": repeats})
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    print(f"dask: reached {reached} of {goals}")


if __name__ == "__main__":
    main()
