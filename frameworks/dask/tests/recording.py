"""Judges what a cluster has recorded: recording.py CATAPULTS FILE.trace POLICY.sched TASKS

So many tasks must have been computed, each once, one at a time on each worker; and every command must read the file. The policy is
another one: what if that had decided?
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from support.records import records


def main() -> None:
    catapults, trace, policy, tasks = sys.argv[1:]
    done = computed(Path(trace))
    assert done >= int(tasks), f"{done} tasks were computed"
    with tempfile.TemporaryDirectory() as folder:
        for output in ("show", "summary"):
            run(catapults, "trace", output, trace)
        for output in ("plot.svg", "html.html", "export.json", "to-scenario.scenario"):
            command, ending = output.split(".")
            run(catapults, "trace", command, trace, "-o", f"{folder}/a.{ending}")
        said = run(catapults, "sim", f"{folder}/a.scenario", "--policy", policy)
        assert " processors" in said, said


def computed(trace: Path) -> int:
    """How many tasks were computed to their end."""
    running: dict[int, int] = {}
    begun: set[int] = set()
    ended: set[int] = set()
    done = 0
    for record in records(trace):
        match record.kind:
            case "dispatched":
                assert record.thread not in ended | set(running.values()), record
                assert record.processor not in running, record
                running[record.processor] = record.thread
                begun.add(record.thread)
            case "idle":
                assert record.processor not in running, record
            case "preempted":
                assert running.pop(record.processor) == record.thread, record
            case "exited" | "blocked":
                if record.kind == "exited":
                    assert record.thread not in ended, record
                    ended.add(record.thread)
                    assert record.thread in begun or record.name != "exit", record
                    done += record.name == "exit"
                if running.get(record.processor) == record.thread:
                    del running[record.processor]
                else:
                    assert record.thread not in running.values(), record
            case _:
                pass
    return done


def run(*words: str) -> str:
    # A cluster of tests records some tens of thousands of things.
    process = subprocess.run(words, capture_output=True, text=True, check=False)
    assert process.returncode == 0, f"{' '.join(words)}: {process.returncode}\n{process.stderr}"
    return process.stdout


if __name__ == "__main__":
    main()
