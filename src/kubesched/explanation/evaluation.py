"""The evaluation of a pod against a cluster: what explains its decision, as long as the cluster is the same."""

from collections.abc import Mapping
from functools import cached_property

import msgspec
import numpy as np

from kubesched.api import Pod
from kubesched.explanation.absent_drivers import AbsentDriver
from kubesched.explanation.answers_beside_filters import PRE_ENQUEUE, HookAnswer, gated_words
from kubesched.explanation.claim_allocations import Allocations
from kubesched.explanation.claims_in_use import ClaimInUse
from kubesched.explanation.fix import Fix
from kubesched.explanation.obstacle import ObstacleRow
from kubesched.explanation.plugin_verdicts import AskedPlugin, PluginVerdicts
from kubesched.explanation.unscheduled import Ended
from kubesched.framework import Diagnosis, FilterResult, Scores, Status
from kubesched.plugins import RequestDevices, RuleOfVersion
from kubesched.scheduler import ExtenderAnswer
from kubesched.session import GangFit
from kubesched.state import Nodes, PodInfo, Snapshot


class Preemption(msgspec.Struct, frozen=True, eq=False):
    """What PostFilter plugins would do for a pod that fits nowhere.

    Attributes:
        node_name: where room would be made; empty for nowhere.
        victims: the pods that would be deleted there, most important first.
        n_pdb_violations: how many of them a disruption budget protects.
        message: what the plugins say.
        said: the words of DefaultPreemption and DynamicResources alone.
        broken: `namespace/name` of the disruption budgets that these evictions break. There may be none although some
            victims are protected: preemption counts the pods that it puts back, too.
        fates: what becomes of the first victims: `namespace/name` -> `on NODE`, `pending` or `lost`.
        claims: those of the pod that only one pod may use, and that a victim has.
    """

    node_name: str
    victims: tuple[Pod, ...]
    n_pdb_violations: int
    message: str
    broken: tuple[str, ...] = ()
    said: str = ""
    fates: Mapping[str, str] = {}
    claims: tuple[str, ...] = ()


class Attempted(msgspec.Struct, kw_only=True, eq=False, dict=True):
    """What is known of an attempt to place a pod: values, which stay valid.

    Attributes:
        profile: the scheduler name that serves the pod.
        by_plugin: the verdicts of each Filter plugin, in the order in which filters run; then those of extenders, under
            `extender` and the urlPrefix.
        failure: the fault of a plugin, which ends the pod's attempt as SchedulerError; None for none.
        preemption: what PostFilter would do; None when the pod fits, a plugin failed, or without `preempt`.
        extenders: what the extenders said, in the order of the calls.
        held_back: why kube-scheduler would not try the pod now; empty when it would.
        hooks: what PreEnqueue, PostFilter, Reserve and Permit plugins answered, apart from SUCCESS. Reserve and Permit
            are asked about the best node; DefaultPreemption's answer is `preemption`.
        compares: whether a plugin or an extender scores; without any, kube-scheduler takes the first node that fits.
        allocations: what the resource claims of the pod would get on each node, by node and claim; nodes that
            DynamicResources rejects are left out, and so are claims that are allocated.
        lacking_claims: what is wrong with the resource claims of a pod that no node can take for that, and who creates
            what is missing.
        claims_in_use: the claims of a pending pod whose disks are attached to one node.
        gang: the pods with which it is to run at once, and how many of them have a node now; None for a pod alone.
        absent_drivers: the CSI drivers of its claims that are not on some nodes where it fits; of a pending pod.
        ended: how the pod has ended; nothing is evaluated for it. None for a pod that has not.
        hangs: why a pod that names its node does not start there; empty where nothing is known to prevent it.
        refused: why the API server does not create the pod; it is explained as if it were created. Empty if it does.
        runs_on: the node that the pod is on; it was explained as if it were not there yet. Empty for a pending pod.
        notes: what plugins say about their data, by plugin.
        version_rules: rules that decide about the pod and are others in other versions, the plugin first.
        fixes: what makes it fit, best first, as `Explainer.fixes` finds it; empty until that was asked.
        fix_fault: the first fault of a plugin that was met while they were tried; None for none.
    """

    profile: str
    by_plugin: dict[str, PluginVerdicts] = {}
    failure: Status | None = None
    preemption: Preemption | None = None
    extenders: list[ExtenderAnswer] = []
    held_back: str = ""
    hooks: list[HookAnswer] = []
    compares: bool = True
    runs_on: str = ""
    notes: dict[str, tuple[str, ...]] = {}
    version_rules: tuple[RuleOfVersion, ...] = ()
    allocations: Allocations = {}
    lacking_claims: tuple[str, ...] = ()
    claims_in_use: tuple[ClaimInUse, ...] = ()
    gang: GangFit | None = None
    absent_drivers: tuple[AbsentDriver, ...] = ()
    ended: Ended | None = None
    hangs: str = ""
    refused: str = ""
    fixes: tuple[Fix, ...] = ()
    fix_fault: Status | None = None

    @property
    def held_back_words(self) -> str:
        """Why kube-scheduler would not try the pod now, with the plugin that gates it; empty when it would."""
        if self.gate is None:
            return self.held_back
        return "; ".join((gated_words(self.gate), *self.lacking_claims))

    @property
    def gate(self) -> HookAnswer | None:
        """The PreEnqueue plugin that keeps the pod out of the queue; None for none."""
        return next((one for one in self.hooks if one.point == PRE_ENQUEUE), None)

    @property
    def turned_down(self) -> HookAnswer | None:
        """The Reserve or Permit plugin that rejects the pod on the best node; None for none."""
        return next((one for one in self.hooks if one.node and one.is_rejection), None)


class Evaluation(Attempted, kw_only=True, eq=False, dict=True):
    """One pod against one cluster. It is valid until the cluster changes, or the next pod is asked about.

    Attributes:
        info: the pod with its parts.
        snapshot: the cluster without the pod.
        asked: the plugins behind `by_plugin` that give details: those that PreFilter lets ask about nodes.
        diagnosis: why the nodes do not fit.
        scores: of the feasible nodes; None when there are none, or when scoring failed.
        rows: the nodes by their obstacles, once `obstacle_rows` has been asked for them.
        devices_at: by position, what a node has for the requests of claims, once it has been looked for.
        claim_words: what is wrong with the pod's claims, once the function of that name has been asked.
    """

    info: PodInfo
    snapshot: Snapshot
    diagnosis: Diagnosis
    asked: dict[str, AskedPlugin] = {}
    scores: Scores | None = None
    rows: tuple[ObstacleRow, ...] | None = None
    claim_words: tuple[str, ...] | None = None
    devices_at: dict[int, tuple[tuple[RequestDevices, ...], ...]] = {}

    @property
    def result(self) -> FilterResult | None:
        """The verdicts of the whole profile on the nodes that PreFilter left; None when it ended the search."""
        return self.diagnosis.result

    @property
    def pod(self) -> Pod:
        """The pod, as it was explained."""
        return self.info.pod

    @property
    def nodes(self) -> Nodes:
        """The table of all nodes, in the snapshot's order."""
        return self.snapshot.nodes

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all nodes, in the snapshot's order."""
        return tuple(self.nodes.names)

    @property
    def fits(self) -> bool:
        """Whether some node passes every filter."""
        return self.result is not None and bool(self.result.fits.any())

    @property
    def undecided(self) -> str:
        """Why kubesched cannot decide about the pod, while kube-scheduler can; empty where it decides."""
        status = self.diagnosis.undecided
        return "" if status is None else status.message

    @property
    def message(self) -> str:
        """The FitError text when no node fits, with a fault as the rejection of its node; else why it is not placed.

        It is what the recorded evaluations have, which look at every node by itself. An attempt ends with `failure`.
        Empty if kubesched cannot decide about the pod: then nothing says that no node fits.
        """
        if self.ended is not None or self.undecided:
            return ""
        if not self.fits:
            return self.diagnosis.message
        if self.turned_down is not None and not self.turned_down.is_never_written:
            return self.turned_down.status.message
        return self.failure.message if self.scores is None and self.failure is not None else ""

    @cached_property
    def rejections(self) -> dict[str, Status]:
        """Node -> the first rejection of the whole profile, in the snapshot's order.

        Nodes that pass are left out, and so are nodes that PreFilter left out.
        """
        return {} if self.result is None else rejections_in(self.result)

    @cached_property
    def feasible(self) -> list[str]:
        """The nodes that pass everything, in the snapshot's order."""
        if self.result is None:
            return []
        names = self.result.nodes.names
        return [names[position] for position in np.flatnonzero(self.result.fits).tolist()]

    @cached_property
    def best(self) -> list[str]:
        """The nodes with the highest total, in the snapshot's order."""
        if self.scores is None:
            return []
        total = self.scores.total
        return [self.scores.nodes.name(position) for position in np.flatnonzero(total == total.max()).tolist()]


def rejections_in(result: FilterResult) -> dict[str, Status]:
    """Node -> its first rejection, in the order of the table."""
    statuses, names = result.statuses(), result.nodes.names
    positions = np.flatnonzero(statuses.index)
    numbers = zip(positions.tolist(), statuses.index[positions].tolist(), strict=True)
    return {names[position]: statuses.distinct[number] for position, number in numbers}
