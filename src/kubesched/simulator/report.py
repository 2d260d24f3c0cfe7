"""What a simulation found, pod by pod and node by node."""

import enum

import msgspec

from kubesched.api import Pod
from kubesched.framework import NodeScore

__all__ = ["NodeFill", "Placement", "PodState", "Report", "Victim"]


class PodState(enum.Enum):
    """What became of a pod."""

    SCHEDULED = "scheduled"
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"
    NOT_TRIED = "notTried"


class Victim(msgspec.Struct, frozen=True, rename="camel"):
    """A pod that had to leave.

    Attributes:
        pod: `namespace/name`.
        owner: `Kind/name` of its controller, empty for none.
        node: where it was.
        preemptor: for which pod it left.
    """

    pod: str
    owner: str
    node: str
    preemptor: str


class Placement(msgspec.Struct, rename="camel", omit_defaults=True):
    """The final outcome of one pending pod.

    Attributes:
        pod: `namespace/name`.
        profile: the scheduler name that served it, empty for none.
        state: what became of it.
        node: where it goes; empty for nowhere.
        attempts: how often it was tried.
        reason: `Unschedulable` or `SchedulerError`; empty when placed.
        message: what the PodScheduled condition says, or why the pod was not tried.
        nominated_node: where preemption made room for it.
        victims: `namespace/name` of the pods that left for it.
        evicted_by: the pod for which it had to leave again, after it was placed.
        total: the chosen node's score.
    """

    pod: str
    profile: str
    state: PodState
    node: str = ""
    attempts: int = 0
    reason: str = ""
    message: str = ""
    nominated_node: str = ""
    victims: tuple[str, ...] = ()
    evicted_by: str = ""
    total: int = 0
    scores: dict[str, int] = {}
    runners_up: tuple[NodeScore, ...] = ()


class NodeFill(msgspec.Struct, frozen=True, rename="camel"):
    """How full a node is, before and after.

    Attributes:
        allocatable, before, after: resource -> amount in canonical units (milli-CPU, bytes, counts), `pods` among them.
    """

    node: str
    allocatable: dict[str, int]
    before: dict[str, int]
    after: dict[str, int]


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """The result of a run.

    Attributes:
        placements: one per pending pod, in the order in which the queue first had them.
        victims: pods that left, in order.
        nodes: the fill of every node.
        seconds: virtual time that passed.
    """

    placements: tuple[Placement, ...]
    victims: tuple[Victim, ...]
    nodes: tuple[NodeFill, ...]
    seconds: float

    def count(self, state: PodState) -> int:
        """How many pods ended like this."""
        return sum(placement.state is state for placement in self.placements)


def owner_of(pod: Pod) -> str:
    """`Kind/name` of a pod's controller, empty for none."""
    owner = pod.metadata.controller
    return f"{owner.kind}/{owner.name}" if owner is not None else ""
