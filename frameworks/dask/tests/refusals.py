"""Tasks under `at_most`: what the policy refuses is the error of the task, and the most urgent one is first, then the one that came
first."""

from __future__ import annotations

import time

import dask
from distributed import Client, Event, wait


def later(event: Event) -> None:
    event.wait()


def started() -> float:
    return time.monotonic()


def error(future: object) -> str:
    return f"{type(future.exception()).__name__}: {future.exception()}"


def in_order(client: Client) -> None:
    """A worker that gets two tasks at once, as it does of those that pass for short, computes the first one first."""
    for _ in range(3):
        times = client.gather(client.map(lambda _: time.monotonic(), range(40), pure=False))
        assert times == sorted(times), times


def main() -> None:
    with Client() as client:
        with dask.annotate(urgency=-3):
            refused = client.submit(started, pure=False)
        assert error(refused) == "Refusal: an urgency of -3 is below 0", error(refused)
        with dask.annotate(urgency="high"):
            mistaken = client.submit(started, pure=False)
        assert "is of type int" in error(mistaken), error(mistaken)
        with dask.annotate(workers=list(client.scheduler_info()["workers"])):
            bound = client.submit(started, pure=False)
        assert "for the policy to say" in error(bound), error(bound)

        # While the only worker is held up, the others come in the wrong order.
        event = Event("go")
        holds = client.submit(later, event)
        futures = []
        for urgency in (1, 3, 2):
            with dask.annotate(urgency=urgency):
                futures.append(client.submit(started, pure=False))
        time.sleep(0.5)
        unwanted = futures.pop()
        unwanted.cancel()
        event.set()
        wait([holds, *futures])
        low, high = client.gather(futures)
        assert high < low
        in_order(client)
        failed = client.submit(divmod, 1, 0)
        assert error(failed).startswith("ZeroDivisionError")
        assert client.submit(pow, 2, 3).result() == 8
        print("refusals: all as expected")


if __name__ == "__main__":
    main()
