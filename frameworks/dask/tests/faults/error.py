"""A handler of the policy raises an error of Python, as an error of the translation would. A cluster of the program's own."""

from __future__ import annotations

import sys

from distributed import Client

from faults.guard import outlived
from support.own import cluster

POLICIES = ("least_loaded", "fifo")
OWN = True

BROKEN = """
from catapults_dask import modules

class Broken(modules.load({path!r})):
    turns = 0

    def schedule(self):
        Broken.turns += 1
        return super().schedule() if Broken.turns <= 300 else 1 // 0

ABI = 1
POLICY = Broken
"""


def main() -> None:
    policy = sys.argv[1]
    broken = f"{policy.removesuffix('.py')}-broken.py"
    with open(broken, "w") as file:
        file.write(BROKEN.format(path=policy))
    with cluster(broken, "--no-nanny") as own, Client(own.address) as client:
        outlived(client)


if __name__ == "__main__":
    main()
