"""A cluster of processes on this machine, under a policy: `python -m catapults_dask.cluster POLICY.py`.

It writes the address of the scheduler to a descriptor. It ends with its standard input, so with whoever started it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import dask

from catapults_dask import families, pinned
from catapults_dask.families import Resources
from catapults_dask.modules import load
from catapults_dask.policy import Scheduler
from catapults_dask.steps import Steps
from catapults_dask.trace import Trace

if TYPE_CHECKING:
    from catapults_dask.scheduler import PolicyScheduler

logger = logging.getLogger("catapults.dask")

#: How often a worker may fail to start before any has come.
MOST_FAILURES = 5
#: How long a cluster whose program has ended may take to end, in seconds.
GRACE = 5


def main() -> None:
    parser = argparse.ArgumentParser(prog="catapults-dask", description="A Dask cluster under a policy.")
    parser.add_argument("policy", help="what `catapults build --framework dask` has made")
    parser.add_argument("--workers", default="", help="how many, of one thread each; by default, one for each processor, or for each family")
    parser.add_argument("--address-to", type=int, default=1, help="the descriptor that gets the scheduler's address")
    parser.add_argument("--no-ahead", action="store_true", help="no worker gets a task before it is done with another")
    parser.add_argument("--trace", metavar="FILE", help="where to record who computed what, when, and why")
    arguments = parser.parse_args()
    try:
        pinned.check()
        policy = load(arguments.policy)
        workers = wanted(policy, arguments.workers)
        trace = recorder(arguments.trace, arguments.policy, policy) if arguments.trace is not None else None
        # Of tests alone. What tasks start does not write there.
        written = os.environ.pop("CATAPULTS_DASK_STEPS", "")
        steps = Steps(written) if written else None
    except (pinned.Unsuitable, ValueError, OSError) as wrong:
        sys.exit(f"catapults-dask: {wrong}")
    sys.exit(asyncio.run(serve(policy, workers, arguments.address_to, not arguments.no_ahead, trace, steps)))


def wanted(policy: type[Scheduler], written: str) -> list[Resources]:
    """The workers that there are to be."""
    if not written and policy.FAMILIES:
        try:
            return families.workers(policy, "; ".join(f"{name}=1" for name in policy.FAMILIES))
        except ValueError as wrong:
            raise ValueError(f"set CATAPULTS_DASK_WORKERS: there is one worker of each family otherwise, and {wrong}") from None
    try:
        return families.workers(policy, written or str(os.cpu_count() or 1))
    except ValueError as wrong:
        raise ValueError(f"CATAPULTS_DASK_WORKERS is `{written}`: {wrong}") from None


def recorder(path: str, file: str, policy: type[Scheduler]) -> Trace:
    """Raises ValueError if nothing can be recorded there."""
    if os.path.exists(path) and os.path.samefile(path, file):
        raise ValueError(f"cannot record in {path}: it is the policy")
    return Trace(path, policy)


async def serve(
    policy: type[Scheduler], workers: list[Resources], address_to: int, ahead: bool, trace: Trace | None, steps: Steps | None
) -> str | None:
    """Returns what is wrong."""
    from catapults_dask.scheduler import PolicyScheduler

    dask.config.set({"distributed.admin.system-monitor.gil.enabled": False})
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=watch, args=(lambda: loop.call_soon_threadsafe(ended.set),), daemon=True).start()
    options = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    made = PolicyScheduler(policy, ahead=ahead, trace=trace, steps=steps, host="127.0.0.1", port=0, **options)
    async with made as scheduler:
        keepers = [asyncio.create_task(keep(scheduler, number, resources)) for number, resources in enumerate(workers)]
        while len(scheduler.workers) < len(workers) and not ended.is_set() and not any(map(asyncio.Task.done, keepers)):
            await asyncio.sleep(0.02)
        came = bool(scheduler.workers)
        if came:
            with contextlib.suppress(BrokenPipeError):
                os.write(address_to, f"{scheduler.address}\n".encode())
            if address_to > 2:
                os.close(address_to)
            await ended.wait()
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)
        if not came and not ended.is_set():
            return "catapults-dask: no worker can start: what Python says of it is above"
        if came and not scheduler.asked_for:
            logger.warning("no client came to the cluster, so the policy has decided nothing: a program says `Client()`")
        return None


def watch(ended: Callable[[], object]) -> None:
    """Waits for the end of standard input. A policy that does not let the cluster end is ended with it."""
    while os.read(0, 4096):
        pass
    ended()
    time.sleep(GRACE)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


async def keep(scheduler: PolicyScheduler, number: int, resources: Resources) -> None:
    """Keeps a worker there: one that ends is followed by another, unless none has ever come."""
    failures = 0
    while scheduler.came or failures < MOST_FAILURES:
        given = [f"{name}={value}" for name, value in resources.items()]
        worker = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "catapults_dask.worker", scheduler.address, *given, stdin=asyncio.subprocess.DEVNULL
        )
        try:
            status = await worker.wait()
            failures += 1
            if status != 0:
                logger.warning("worker %d has ended with status %d: another one is started", number, status)
            await asyncio.sleep(0.1)
        finally:
            if worker.returncode is None:
                worker.terminate()
                await worker.wait()


if __name__ == "__main__":
    main()
