"""The long form of `cluster.py`: each fault of `faults` under each of its policies. Usage: python long.py CATAPULTS FOLDER

A file of `faults` is a program that makes something fail while a cluster computes TASKS. It says under which POLICIES, with OWN that it
starts the cluster itself, and with SETTINGS what else is in its environment. SEED=n: the same random instants again. The status is 0 if
nothing was lost or wrong.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from support.trial import PATIENCE, SEED, Tally, say

TESTS = Path(__file__).parent
DASK = TESTS.parent
FRAMEWORK = DASK / "dask.framework"
#: Where policies are looked for.
POLICIES = (TESTS / "policies", DASK.parent.parent / "policies")
#: How long a fault under a policy may take beyond the patience of its trial, until its cluster has started and ended, and how long all
#: may take together, in seconds.
GRACE, MOST = 60, 1200

SETTINGS = {
    "CATAPULTS_DASK_WORKERS": "3",
    "PYTHONPATH": f"{TESTS}:{DASK}",
    "SEED": SEED,
    # It says a lot of what is usual here.
    "DASK_LOGGING__DISTRIBUTED": "critical",
}


def main() -> None:
    catapults, folder = sys.argv[1:]
    say(f"cluster: SEED={SEED}")
    began = time.monotonic()
    total, failed = Tally(), False
    for fault, policy in trials():
        at = time.monotonic()
        seconds = min(PATIENCE + GRACE, began + MOST - at)
        status, output, errors = ended(command(fault, policy, catapults, folder), settings(fault), seconds)
        tally = Tally.read(output)
        name = f"{fault.__name__.rpartition('.')[2]} under {policy}"
        say(f"{name}, {time.monotonic() - at:.0f} s")
        say(textwrap.indent(output.rstrip(), "    "))
        if status != 0 or tally is None:
            failed = True
            say(f"{errors}{name}: exit status {status}")
        # What says nothing has lost all.
        total += tally or Tally(tasks=fault.TASKS, lost=fault.TASKS)
    say(f"cluster: done twice {total.twice}, SEED={SEED}, {time.monotonic() - began:.0f} s")
    say(f"cluster: {total.summary}")
    sys.exit(failed or total.lost + total.wrong > 0)


def trials() -> Iterator[tuple[ModuleType, str]]:
    for path in sorted(TESTS.glob("faults/*.py")):
        fault = importlib.import_module(f"faults.{path.stem}")
        for policy in fault.POLICIES:
            yield fault, policy


def command(fault: ModuleType, policy: str, catapults: str, folder: str) -> list[str]:
    source = next(path for where in POLICIES if (path := where / f"{policy}.sched").exists())
    program = [sys.executable, str(fault.__file__)]
    if not getattr(fault, "OWN", False):
        return [catapults, "run", "--framework", str(FRAMEWORK), str(source), "--", *program]
    subprocess.run(
        [catapults, "build", "--framework", str(FRAMEWORK), str(source), "--output", folder],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return [*program, f"{folder}/{policy}.py"]


def settings(fault: ModuleType) -> dict[str, str]:
    return {**os.environ, **SETTINGS, **getattr(fault, "SETTINGS", {})}


def ended(program: list[str], environment: dict[str, str], seconds: float) -> tuple[int, str, str]:
    """The status of a program, what it has printed, and its errors. After so many seconds it is ended, with what it has started."""
    process = subprocess.Popen(
        program,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
    )
    try:
        output, errors = process.communicate(timeout=max(seconds, 1))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        errors += f"not ended after {seconds:.0f} s\n"
    return process.returncode, output, errors


if __name__ == "__main__":
    main()
