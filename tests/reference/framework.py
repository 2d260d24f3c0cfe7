"""What every plugin of the reference answers with, and the calls it may define.

A plugin object lives for one scheduling cycle of one pod. Pods, nodes' objects and all other objects are the plain
JSON dicts; `node` below is a `cluster.Node`. A plugin's extension points are the methods that its class defines itself.
What PreFilter (PreScore) computed is kept in `self.state` (`self.scoring`), so that preemption can work on copies: see
`Plugin.clone`.
"""

import copy
import math
from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Verdicts; success is the absence of a Status. Preemption looks at UNSCHEDULABLE nodes only."""

    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNRESOLVABLE = "UnschedulableAndUnresolvable"


@dataclass(frozen=True)
class Status:
    """A rejection: why, and by which plugin ("" for the framework itself)."""

    code: Code
    reasons: tuple[str, ...]
    plugin: str = ""

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


@dataclass(frozen=True)
class PreFilter:
    """The answer of pre_filter: a rejection of the pod, or Skip, or the names of the only nodes worth looking at
    (None: all).
    """

    nodes: frozenset[str] | None = None
    skip: bool = False
    status: Status | None = None


SKIP = PreFilter(skip=True)


class PluginError(Exception):
    """A plugin failed (status Error): the pod cannot be scheduled at all in this cycle."""


class Plugin:
    """Base of all plugins. A subclass defines some of

    pre_enqueue(pod, cluster) -> Status | None       whether the pod stays out of the queue
    pre_filter(pod, cluster) -> PreFilter            once per pod
    filter(pod, node) -> Status | None               per node; not called after Skip
    add_pod(pod, other, node), remove_pod(...)       preemption moved `other` onto or off `node`
    pre_score(pod, cluster, feasible) -> bool        once per pod, `feasible`: list of nodes; True: skip me
    score(pod, node) -> int                          per feasible node
    normalize(scores) -> None                        rewrite {node name: score} into 0..100
    """

    name = ""

    def __init__(self, args: dict | None = None):
        self.args = args or {}
        self.state = None
        self.scoring = None

    def unschedulable(self, *reasons: str) -> Status:
        return Status(Code.UNSCHEDULABLE, reasons, self.name)

    def unresolvable(self, *reasons: str) -> Status:
        return Status(Code.UNRESOLVABLE, reasons, self.name)

    def clone(self) -> "Plugin":
        """A copy with its own PreFilter state."""
        twin = copy.copy(self)
        twin.state = copy.deepcopy(self.state)
        return twin


def default_normalize(scores: dict[str, int], reverse: bool = False) -> None:
    """DefaultNormalizeScore(100, reverse) of kube-scheduler v1.36."""
    top = max(0, max(scores.values(), default=0))
    for name, score in scores.items():
        if top == 0:
            scores[name] = 100 if reverse else score
        else:
            scaled = divide(100 * score, top)
            scores[name] = 100 - scaled if reverse else scaled


def divide(a: int, b: int) -> int:
    """Go's integer division: toward zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def round_half_away(x: float) -> int:
    """Go's math.Round for x >= 0 (Python's round goes to the even neighbour)."""
    whole = math.floor(x)
    return whole + 1 if x - whole >= 0.5 else whole
