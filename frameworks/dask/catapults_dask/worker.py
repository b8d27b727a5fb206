"""A worker with one thread: `python -m catapults_dask.worker tcp://HOST:PORT [RESOURCE=N ...]`."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from typing import Any

import dask
from distributed import Worker


async def work(scheduler: str, given: list[str]) -> None:
    resources = {name: int(value) for name, _, value in (word.partition("=") for word in given)}
    options: dict[str, Any] = {"dashboard": False, "dashboard_address": "127.0.0.1:0", "resources": resources}
    async with Worker(scheduler, nthreads=1, host="127.0.0.1", memory_limit=0, **options) as worker:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: asyncio.ensure_future(worker.close()))
        await worker.finished()


if __name__ == "__main__":
    dask.config.set({"distributed.admin.system-monitor.gil.enabled": False})
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(work(sys.argv[1], sys.argv[2:]))
