"""A scheduler under a policy, as a program of its own has it: `python scheduler.py POLICY.py HOST PORT`. It says its address."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from catapults_dask import modules, pinned
from catapults_dask.scheduler import PolicyScheduler


async def serve(policy: str, host: str, port: int) -> None:
    pinned.check()
    options: dict[str, Any] = {"dashboard": False, "dashboard_address": f"{host}:0"}
    async with PolicyScheduler(modules.load(policy), host=host, port=port, **options) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], int(sys.argv[3])))
