"""What plugins see of a Scheduler while its driver asks about single pods, and no pod is in the queue."""

from collections.abc import Callable, Iterable

import msgspec

from kubesched.api import Pod


class Aside(msgspec.Struct, frozen=True, eq=False):
    """Takes the place of the queue.

    Attributes:
        pods: those that wait for a node; their nominations count.
        activate: takes the pods that a plugin wants to be tried again.
    """

    pods: Callable[[], Iterable[Pod]]
    activate: Callable[[Iterable[Pod]], None]
