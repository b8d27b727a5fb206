"""What programs do besides: tasks that print, and tasks that wait for tasks of their own, more of them than there are workers."""

from __future__ import annotations

import os
import sys

from distributed import Client, worker_client

PRINTS, LENGTH = 300, 1000


def prints(number: int) -> int:
    print("x" * LENGTH)
    return number


def double(number: int) -> int:
    return 2 * number


def nested(number: int) -> int:
    with worker_client() as client:
        return client.submit(double, number, pure=False).result()


def main() -> None:
    with Client() as client:
        assert client.gather(client.map(prints, range(PRINTS), pure=False)) == list(range(PRINTS))
        assert client.gather(client.map(nested, range(6), pure=False)) == [0, 2, 4, 6, 8, 10]
        if os.fork() == 0:
            # It does not keep the cluster alive.
            sys.stdout.close()
            os.close(1)
            os.execvp("sleep", ["sleep", "5"])


if __name__ == "__main__":
    main()
