"""What is known of new pods in a cluster: how many fit and where, and why the others do not."""

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from kubesched.api import KubeObject
from kubesched.controllers import WithoutPods
from kubesched.planning.kept_pods import Kept
from kubesched.planning.placed import has_place
from kubesched.planning.rollout import Rollout
from kubesched.release import DEFAULT_VERSION, DecidingVersion
from kubesched.session import GangFit, Placement, Report, placements_frame, workload_text
from kubesched.shown import Shown

if TYPE_CHECKING:
    import pandas as pd


class WorkloadFit(msgspec.Struct, frozen=True, eq=False):
    """Which of the new pods of one workload would fit.

    Attributes:
        workload: such as `Deployment shop/web`.
        placements: one for each of its new pods, in their order.
    """

    workload: str
    placements: tuple[Placement, ...]

    @property
    def n_asked(self) -> int:
        """How many of its pods were tried."""
        return len(self.placements)

    @property
    def n_fit(self) -> int:
        """How many of them have a node in the end."""
        return sum(map(has_place, self.placements))


class Existing(msgspec.Struct, frozen=True):
    """A workload of the manifests that has pods in the cluster already: `Kind namespace/name`, and their number."""

    workload: str
    pods: int


class Fit(Shown, msgspec.Struct, frozen=True, eq=False):
    """Which of the new pods would fit.

    Attributes:
        placements: one for each new pod, in their order.
        report: of the whole simulation: also pods that were pending before, victims, and the fill of nodes.
        is_maximum: whether the largest number of pods was asked for; then all have a node.
        next_left: of the largest number, the pod that does not fit any more; if no number of new nodes is enough, the
            first pod that is left on many of them.
        n_at_most: if no number of new nodes is enough: how many pods have a node with many of them.
        obstacle: what keeps `next_left` from a new node then; empty where that is not known.
        workloads: whom the new pods belong to, such as `Deployment shop/web`.
        nodes_like: the model of new nodes; empty if none were asked for.
        added_nodes: names of the new nodes, the fewest with which all pods fit, or as many as asked for.
        may_need_fewer_nodes: of the fewest new nodes: whether fewer may do, because they have only a part of what the
            drivers of their model publish.
        n_without: with the fewest new nodes: how many pods have a node without them.
        existing: the workloads that have pods in the cluster already: of which the new ones replace them in a rollout,
            or are added.
        namesakes: workloads of another namespace that run already, and that the manifests probably mean.
        gangs: what becomes of groups of pods that run at once, and of Jobs with several pods; none with the largest
            number.
        rollouts: how they were replaced; empty if the new pods are added.
        kept: the workloads whose pods stay, because their template is the same; the new pods are those that they get
            in addition.
        n_written: how many of the pods the manifests have; the others are copies.
        notes: what a user should know about the manifests and the model of new nodes.
        caveats: why some of the pods with a node would not start there: volumes that cannot be made, mounted or shared.
        without_pods: the workloads of the manifests that have no pods; the notes have the sentences on them.
        taken_at: when the snapshot was taken, if that is known.
        version: the version of Kubernetes whose rules decided.
        n_alone: how many of the new pods would fit without the pods that are pending already; None where these take no
            room, or where all fit.
        assumed: the changes to the cluster under which it is answered, each as what follows "if".
        objects: with keeps_objects: the cluster with the new pods, for the next question or `write_snapshot`.
        helpful_node: if no number of new nodes is enough: a node of the same shape in another zone, of which more would
            be; empty for none.

    Example:
        answer = fit(load_snapshot("cluster.json"), {"cpu": "2", "memory": "4Gi"}, replicas=16)
        print(answer.n_fit, "of", answer.n_asked)
    """

    placements: tuple[Placement, ...]
    report: Report
    is_maximum: bool = False
    next_left: Placement | None = None
    workloads: tuple[str, ...] = ()
    nodes_like: str = ""
    added_nodes: tuple[str, ...] = ()
    n_without: int | None = None
    n_at_most: int | None = None
    obstacle: str = ""
    rollouts: tuple[Rollout, ...] = ()
    kept: tuple[Kept, ...] = ()
    n_written: int = 0
    notes: tuple[str, ...] = ()
    without_pods: tuple[WithoutPods, ...] = ()
    taken_at: datetime | None = None
    version: DecidingVersion = DEFAULT_VERSION
    n_alone: int | None = None
    helpful_node: str = ""
    assumed: tuple[str, ...] = ()
    existing: tuple[Existing, ...] = ()
    namesakes: tuple[str, ...] = ()
    gangs: tuple[GangFit, ...] = ()
    objects: tuple[KubeObject, ...] = ()
    caveats: tuple[str, ...] = ()
    may_need_fewer_nodes: bool = False

    def pods_frame(self) -> "pd.DataFrame":
        """The new pods as a DataFrame, with the columns of `Report.pods_frame`.

        Raises:
            InputError: pandas is not installed.
        """
        return placements_frame(self.placements)

    def nodes_frame(self) -> "pd.DataFrame":
        """How full the nodes are without and with the new pods, as `Report.nodes_frame`.

        Raises:
            InputError: pandas is not installed.
        """
        return self.report.nodes_frame()

    @property
    def n_asked(self) -> int:
        """How many pods were tried."""
        return len(self.placements)

    @property
    def n_fit(self) -> int:
        """How many of the new pods have a node in the end."""
        return sum(map(has_place, self.placements))

    @property
    def by_workload(self) -> tuple[WorkloadFit, ...]:
        """The new pods of each workload, in the order of `workloads`."""
        placements: dict[str, list[Placement]] = {workload: [] for workload in self.workloads}
        for one in self.placements:
            key = workload_text(one.pod, one.owner) if one.owner else f"Pod {one.pod}"
            placements.setdefault(key, []).append(one)
        return tuple(WorkloadFit(workload, tuple(of)) for workload, of in placements.items())

    @property
    def first_left(self) -> Placement | None:
        """The first new pod without a node; of the largest number the next one."""
        if self.is_maximum:
            return self.next_left
        return next((one for one in self.placements if not has_place(one)), None)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Why it is not known whether new pods fit, each sentence once; empty where kubesched decides about all."""
        tried = (*self.placements, *([self.next_left] if self.next_left is not None else []))
        return tuple(dict.fromkeys(one.diagnosis or one.message for one in tried if one.is_undecided))

    @property
    def is_known(self) -> bool:
        """Whether the answer is known: no plugin failed for them, and kubesched decides about all new pods."""
        return not (self.faults or self.undecided)

    @property
    def faults(self) -> tuple[str, ...]:
        """Of plugins, each text once; of pods that are not asked about, only exceptions."""
        asked = (*self.placements, *([self.next_left] if self.next_left is not None else []))
        return self.report.faults_of({one.pod for one in asked})

    @property
    def all_fit(self) -> bool:
        """Whether every new pod has a node."""
        return self.n_fit == self.n_asked

    @property
    def left_of_kept(self) -> tuple[Placement, ...]:
        """The pods without a node that workloads of `kept` have already."""
        kept, new = {one.workload for one in self.kept}, {one.pod for one in self.placements}
        known = (one for one in self.report.placements if one.workload in kept and one.pod not in new)
        return tuple(one for one in known if not has_place(one))

    @property
    def all_start(self) -> bool:
        """Whether every pod of the workloads has a node and starts there, and enough pods of every group do."""
        are_placed = self.all_fit and self.all_gangs_run and not self.left_of_kept
        return are_placed and (self.is_maximum or not self.caveats)

    @property
    def all_gangs_run(self) -> bool:
        """Whether enough pods of every group have a node."""
        return all(one.runs for one in self.gangs)
