"""The result of a simulation, pod by pod and node by node."""

import enum
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kubesched.admission import RefusedReplicas
from kubesched.api import Patch
from kubesched.documents import plural
from kubesched.release import DEFAULT_VERSION, DecidingVersion
from kubesched.session.device_use import DeviceFill, device_fills
from kubesched.session.fill import Fill
from kubesched.session.gang_fit import GangFit
from kubesched.session.node_groups import NodeGroup
from kubesched.session.pending_counts import PendingCounts
from kubesched.session.pending_diagnosis import without_names, without_post_filter
from kubesched.session.unserved_pods import Unserved
from kubesched.shown import Shown, data_frame, figure_of, frame_of_pods

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_NO_GROUPS: Mapping[str, NodeGroup] = {}
_NO_GROUP = NodeGroup()
_FRAMED: Final = (
    *("owner", "state", "node", "total", "attempts", "reason", "diagnosis", "fix", "message", "profile"),
    *("nominated_node", "evicted_by"),
)
"""The fields of a placement that are columns."""


class PodState(enum.Enum):
    """What became of a pod."""

    SCHEDULED = "scheduled"
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"
    NOT_DECIDED = "notDecided"
    """kube-scheduler would decide about it, and kubesched cannot: it is not known whether the pod gets a node."""
    NOT_TRIED = "notTried"


class Victim(msgspec.Struct, frozen=True, rename="camel"):
    """A pod that had to leave.

    Attributes:
        pod: `namespace/name`.
        owner: `Kind/name` of the workload that it belongs to, empty for none.
        node: where it was.
        preemptor: for which pod it left.
        broken: `namespace/name` of the disruption budgets that this breaks.
    """

    pod: str
    owner: str
    node: str
    preemptor: str
    broken: tuple[str, ...] = ()


class Placement(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The final outcome of one pending pod.

    Attributes:
        pod: `namespace/name`.
        profile: the scheduler name that served it, empty for none.
        state: what became of it.
        node: where it goes; empty for nowhere.
        attempts: how often it was tried.
        reason: `Unschedulable` or `SchedulerError`; empty when placed.
        message: what the PodScheduled condition says, or why the pod was not tried.
        owner: `Kind/name` of the workload that it belongs to, empty for none.
        plugin: the plugin that rejects the pod outside of the filters, in PreEnqueue, PreFilter, Reserve, Permit or the
            binding cycle; empty where filters reject it, or where it is not one plugin alone.
        diagnosis: what keeps the pod from the nearest nodes in one line, for a pod that no node fits; after an
            exception in a plugin, the message with the line of the plugin that raised; for a pod that a plugin gates,
            its name and its words. Session.schedule takes it from the message; `explanation.with_reasons` verifies it.
        fix: the best change after which the pod fits, as `explain` finds it; empty for none, and until
            `explanation.with_reasons` looks for it; of a pod that is refused, what the refusal asks for.
        patches: the steps that apply the fix, for a pod without a controller and for the first of some equal pods of a
            workload; the others need the same.
        nominated_node: where preemption made room for it.
        victims: `namespace/name` of the pods that left for it.
        leaving: `namespace/name` of the pods that are being deleted on `nominated_node`; the pod fits there without
            them, and waits until they have ended.
        evicted_by: the pod for which it had to leave again, after it was placed.
        awaits: the pod of a lower number that keeps its StatefulSet from creating it.
        refused: why the API server does not create the pod, in its words, such as `exceeded quota: ...`.
        names_node: whether it has its node from its spec, so that no scheduler sees it.
        total: the chosen node's score; None where no plugin scored it, as where only one node fits.

    Example:
        (placement,) = Simulator(load_snapshot("cluster.json")).run().placements
        print(placement.pod, placement.node or placement.message)
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
    total: int | None = None
    scores: dict[str, int] = {}
    runners_up: tuple[tuple[str, int], ...] = ()
    owner: str = ""
    diagnosis: str = ""
    awaits: str = ""
    leaving: tuple[str, ...] = ()
    refused: str = ""
    names_node: bool = False
    plugin: str = ""
    fix: str = ""
    patches: tuple[Patch, ...] = ()

    @property
    def workload(self) -> str:
        """What pods are grouped by: their workload, or the pod itself."""
        return workload_text(self.pod, self.owner)

    @property
    def is_foreign(self) -> bool:
        """Whether the pod waits for a scheduler that the configuration has no profile for."""
        return not self.profile and not self.names_node

    @property
    def is_undecided(self) -> bool:
        """Whether it is not known where the pod goes: kubesched cannot decide, or another scheduler decides."""
        return self.state is PodState.NOT_DECIDED or (self.is_foreign and not self.is_not_created)

    @property
    def is_not_created(self) -> bool:
        """Whether the pod would not exist: the API server refuses it, or its StatefulSet waits for another one."""
        return bool(self.awaits or self.refused)

    @property
    def why_not_created(self) -> str:
        """Why the pod would not exist, without its name; empty where it would."""
        return self.refused or (self.message if self.awaits else "")

    @property
    def message_with_plugin(self) -> str:
        """The message with `plugin`, and without what PostFilter plugins add."""
        said = without_post_filter(self.message)
        if not self.plugin:
            return said
        if self.state is PodState.NOT_TRIED:
            return f"plugin {self.plugin} gates it: {said}"
        return f"{said} Plugin {self.plugin} rejects it."

    @property
    def is_left_pending(self) -> bool:
        """Whether the pod was tried and has no place in the end."""
        return self.state in _LEFT or bool(self.evicted_by)


def pending_counts(placements: Iterable[Placement]) -> PendingCounts:
    """What the first line of a report counts.

    Args:
        placements: those of a report, and its `stuck` ones.
    """
    pending = foreign = stuck = started = absent = 0
    for one in placements:
        if not one.names_node:
            pending, foreign = pending + (not one.is_foreign), foreign + one.is_foreign
        elif one.is_left_pending:
            stuck += 1
        elif one.is_not_created:
            absent += 1
        else:
            started += 1
    return PendingCounts(pending, foreign, stuck, started, absent)


_LEFT: Final = (PodState.UNSCHEDULABLE, PodState.ERROR, PodState.NOT_DECIDED)


class NodeFill(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How full a node is, before and after.

    Attributes:
        allocatable, before, after: resource -> amount in canonical units (milli-CPU, bytes, counts), `pods` among them.
        pool, zone: where it belongs; empty where its labels do not say it.
    """

    node: str
    allocatable: dict[str, int]
    before: dict[str, int]
    after: dict[str, int]
    pool: str = ""
    zone: str = ""


class Report(Shown, msgspec.Struct, frozen=True, eq=False):
    """The result of a run.

    Attributes:
        placements: one per pending pod, the highest priority first, and in file order among equals.
        victims: pods that left, in order.
        before, after: how full the nodes were and became.
        seconds: virtual time that passed.
        groups: the pool and zone of each node.
        evicted: whether the victims left; else they are only named.
        stuck: the pods of the snapshot that have a node and do not start there, as placements without a node.
        refused: workloads of the snapshot with pods that do not exist, because the API server refuses them; only
            `simulate` looks for them.
        gangs: groups with pending pods that are to run at once, and Jobs with several pods; only `simulate` looks for
            them.
        unserved: running pods whose spec.schedulerName no profile has; only `simulate` looks for them.
        idle_claims: claims that stay allocated although their pods ended in an error, so that their devices are taken.
        version: the version of Kubernetes whose rules decided.

    Example:
        report = Simulator(load_snapshot("cluster.json")).run()
        assert report.count(PodState.SCHEDULED) == len(report.placements) - len(report.victims)
    """

    placements: tuple[Placement, ...]
    victims: tuple[Victim, ...]
    before: Fill
    after: Fill
    seconds: float
    groups: Mapping[str, NodeGroup] = _NO_GROUPS
    evicted: bool = True
    stuck: tuple[Placement, ...] = ()
    refused: tuple[RefusedReplicas, ...] = ()
    gangs: tuple[GangFit, ...] = ()
    unserved: tuple[Unserved, ...] = ()
    idle_claims: tuple[str, ...] = ()
    version: DecidingVersion = DEFAULT_VERSION

    @property
    def nodes(self) -> tuple[NodeFill, ...]:
        """The fill of every node, in the snapshot's order."""
        return node_fills(self.before, self.after, self.groups)

    @property
    def devices(self) -> tuple[DeviceFill, ...]:
        """The devices of ResourceSlices by driver, class and model."""
        return device_fills(self.before.devices, self.after.devices)

    def pods_frame(self) -> "pd.DataFrame":
        """The placements as a DataFrame, a row for each pending pod in the order of `placements`.

        Columns: `namespace`, `name`, and the fields of a Placement apart from `victims`, `leaving`, `scores`,
        `runners_up` and `patches`.
        `state` is the text, such as `scheduled`; `total` is missing if the node was not scored.

        Raises:
            InputError: pandas is not installed.
        """
        return placements_frame(self.placements)

    def nodes_frame(self) -> "pd.DataFrame":
        """How full the nodes are as a DataFrame, a row for each node in the snapshot's order; `node` is the index.

        Columns: `pool`, `zone`, and three for each resource, in milli-CPU, bytes and counts: `cpu_allocatable`, and the
        sums of the requests, `cpu_before` and `cpu_after`. `pods` is one of the resources. What a node does not have is
        0.

        Raises:
            InputError: pandas is not installed.
        """
        return fills_frame(self.nodes)

    def plot(self) -> "Figure":
        """Draw how full each node is before and after, and how many pods are pending by cause.

        Returns: a Figure of matplotlib, which a notebook shows, and `savefig` writes.
        Raises:
            InputError: matplotlib is not installed.
        """
        return figure_of(self)

    @property
    def removed(self) -> tuple[Victim, ...]:
        """The victims that had a node before the run: not the pods that were placed and evicted again."""
        again = {one.pod for one in self.placements if one.evicted_by}
        return tuple(victim for victim in self.victims if victim.pod not in again)

    @property
    def faults(self) -> tuple[str, ...]:
        """Why pods ended in an error, alike texts once: the fault of a plugin, with the line of its file."""
        return self.faults_of({one.pod for one in self.placements})

    def faults_of(self, pods: Container[str]) -> tuple[str, ...]:
        """The same of these pods; of the others, only the exceptions in plugins.

        An Error that a plugin returns for a pod is what a scheduler would get, too: it says nothing about other pods.

        Args:
            pods: `namespace/name`.
        """
        failed = (one for one in self.placements if one.state is PodState.ERROR)
        texts: dict[str, str] = {}
        for one in failed:
            if text := one.diagnosis or (one.message if one.pod in pods else ""):
                texts.setdefault(without_names(text, one.pod), text)
        return tuple(texts.values())

    @property
    def undecided(self) -> tuple[str, ...]:
        """Why pods were not decided, each sentence once."""
        return tuple(dict.fromkeys(one.diagnosis for one in self.placements if one.state is PodState.NOT_DECIDED))

    def count(self, state: PodState) -> int:
        """How many pods ended like this."""
        return sum(placement.state is state for placement in self.placements)


def waiting_words(placement: Placement) -> str:
    """What a nominated pod waits for; empty if it does not wait for pods that are being deleted."""
    if not placement.leaving:
        return ""
    pods = ", ".join(placement.leaving)
    are, have = plural(len(placement.leaving), "is", "are"), plural(len(placement.leaving), "has", "have")
    return f"nominated to {placement.nominated_node}: fits there once {pods}, which {are} being deleted, {have} ended"


def node_fills(before: Fill, after: Fill, groups: Mapping[str, NodeGroup]) -> tuple[NodeFill, ...]:
    """The fill of every node at two moments, in the snapshot's order.

    Args:
        groups: the pool and zone of each node.
    """
    named = ((name, groups.get(name, _NO_GROUP)) for name in after.node_names)
    return tuple(
        NodeFill(name, after.allocatable(name), before.held(name), after.held(name), group.pool, group.zone)
        for name, group in named
    )


def placements_frame(placements: Iterable[Placement]) -> "pd.DataFrame":
    """Placements as a DataFrame, with the columns of `Report.pods_frame`."""
    return frame_of_pods(placements, _FRAMED)


def fills_frame(fills: Sequence[NodeFill]) -> "pd.DataFrame":
    """The fill of nodes as a DataFrame, with the columns of `Report.nodes_frame`."""
    columns: dict[str, list[Any]] = {
        "node": [fill.node for fill in fills],
        "pool": [fill.pool for fill in fills],
        "zone": [fill.zone for fill in fills],
    }
    for resource in dict.fromkeys(name for fill in fills for name in fill.allocatable):
        columns[f"{resource}_allocatable"] = [fill.allocatable.get(resource, 0) for fill in fills]
        columns[f"{resource}_before"] = [fill.before.get(resource, 0) for fill in fills]
        columns[f"{resource}_after"] = [fill.after.get(resource, 0) for fill in fills]
    return data_frame(columns, "node")


def shown_owner(pod: str, owner: str) -> str:
    """An owner beside its pod: the kind alone where the pod has the owner's name in front, `-` for none."""
    kind, _, name = owner.partition("/")
    return kind if name and pod.partition("/")[2].startswith(f"{name}-") else owner or "-"


def workload_text(pod: str, owner: str) -> str:
    """`Deployment shop/web`: what pods are grouped by.

    The pod itself where it has no controller, and where several slashes leave open which part is its namespace.

    Args:
        pod: `namespace/name`.
        owner: `Kind/name`; empty for none.
    """
    namespace, _, name = pod.partition("/")
    if not owner or "/" in name:
        return pod
    kind, _, owner_name = owner.partition("/")
    return f"{kind} {namespace}/{owner_name}"
