"""An instance of a policy, as its host sees it."""

from __future__ import annotations

from catapults_dask.containers import READY, RUNNING
from catapults_dask.policy import Scheduler, Thread


class View:
    """Whether anything is READY in an instance, and which of the threads that run is in its RUNNING containers.

    An event finds there what runs where it happens, or nothing: one thread at the most. All others that run are out of sight.
    """

    def __init__(self, instance: Scheduler, number: int | None = None) -> None:
        self.instance = instance
        #: Of the node that it is of, if there are nodes.
        self.number = number
        containers = list(instance.containers())
        self.readies = [container for container in containers if container.state == READY]
        self.runnings = [container for container in containers if container.state == RUNNING]
        self.shown: Thread | None = None

    def ready(self) -> bool:
        # Of lists and dictionaries, Python says by itself whether anything is in them.
        return any(container.items for container in self.readies)

    def show(self, thread: Thread | None) -> None:
        if thread is self.shown:
            return
        for container in self.runnings:
            container.items = container.empty()
        if thread is not None and thread.container is not None:
            thread.container.enter(thread)
        self.shown = thread

    def began(self, thread: Thread | None) -> None:
        """The policy has moved this thread there by itself."""
        self.shown = thread
