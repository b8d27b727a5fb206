"""Starts a cluster for a program that `catapults run --framework dask` has started: its `Client()` is connected to that.

Python imports this before the program, because it is first in PYTHONPATH.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import subprocess
import sys
from typing import NoReturn


def start() -> None:
    # Only in the first Python that has Dask: what that starts is of the same cluster.
    if "CATAPULTS_DASK_POLICY" not in os.environ or importlib.util.find_spec("distributed") is None:
        return
    policy = os.environ.pop("CATAPULTS_DASK_POLICY")
    workers = os.environ.get("CATAPULTS_DASK_WORKERS") or ""
    ahead = os.environ.get("CATAPULTS_DASK_AHEAD") or "1"
    if ahead not in ("0", "1"):
        refuse(f"CATAPULTS_DASK_AHEAD is `{ahead}`: write 0 if no worker is to get a task before it is done with another, else 1")
    # What tasks print goes to the program's own output, so the address takes another way.
    read_end, write_end = os.pipe()
    command = [sys.executable, "-m", "catapults_dask.cluster", policy, "--workers", workers, "--address-to", str(write_end)]
    if ahead == "0":
        command.append("--no-ahead")
    # What tasks start records elsewhere, if anywhere.
    trace = os.environ.pop("CATAPULTS_TRACE", "")
    if trace:
        command.append(f"--trace={trace}")
    # Dask says a lot of what is usual here: workers that come and go.
    quiet = {"DASK_LOGGING__DISTRIBUTED": "critical", **os.environ}
    cluster = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(write_end,), start_new_session=True, env=quiet)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        address = pipe.readline().strip()
    if not address:
        # It has said why.
        sys.stderr.flush()
        os._exit(cluster.wait() or 1)
    os.environ["DASK_SCHEDULER_ADDRESS"] = address
    # A child does not keep the cluster alive.
    os.register_at_fork(after_in_child=cluster.stdin.close)
    atexit.register(end, cluster)


def refuse(why: str) -> NoReturn:
    sys.stderr.write(f"catapults-dask: {why}\n")
    sys.stderr.flush()
    os._exit(2)


def end(cluster: subprocess.Popen[bytes]) -> None:
    cluster.stdin.close()
    cluster.wait()


start()
