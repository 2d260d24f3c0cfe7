"""What comes of a comparison: figures of both sides, pods that are pending or go elsewhere, and the nodes in use."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from kubesched.comparison.figures import Figure
from kubesched.comparison.measure import Spread
from kubesched.comparison.moves import PodMove
from kubesched.comparison.placed_again import PodChoice
from kubesched.comparison.pool_use import PoolChange
from kubesched.comparison.settings import PastedSettings
from kubesched.comparison.upgrade import Upgrade
from kubesched.release import DEFAULT_VERSION, DecidingVersion
from kubesched.session import DeviceFill, NodeFill, Unserved, fills_frame
from kubesched.setup import PluginTimes
from kubesched.shown import Shown, data_frame, frame_of_pods

if TYPE_CHECKING:
    import pandas as pd

Range = tuple[float, float]


class FigureDifference(msgspec.Struct, frozen=True):
    """A figure of both sides.

    Attributes:
        figure: which one.
        a, b: its median over the runs, which one of the runs has.
        range_a, range_b: the least and the greatest value over the runs.
        is_finding: whether the difference is beyond chance, see `_is_beyond_chance`.
    """

    figure: Figure
    a: float
    b: float
    range_a: Range
    range_b: Range
    is_finding: bool


class PendingPod(msgspec.Struct, frozen=True, rename="camel"):
    """A pod that has no node in most runs of one side only.

    Attributes:
        pod: `namespace/name`.
        workload: `Kind namespace/name`.
        n_a, n_b: in how many runs of each side it is pending.
        cause, fix: what keeps it from the nearest nodes, and the best change after which it fits, on the side where it
            is pending if ties go to the first node; empty if it has a node then.
    """

    pod: str
    workload: str
    n_a: int
    n_b: int
    cause: str = ""
    fix: str = ""


class WorkloadSpread(msgspec.Struct, frozen=True):
    """Where the pods of a workload are with each side."""

    workload: str
    a: Spread
    b: Spread


class Comparison(Shown, msgspec.Struct, frozen=True, eq=False):
    """Two configurations on one cluster.

    Attributes:
        a, b: what the sides are called.
        choice: which pods are placed.
        n_pods: how many these are.
        n_runs: runs of each side whose ties are broken at random, with the seeds from 1 on.
        differences: a figure each; figures that the cluster does not have are left out.
        pending: pods that are pending in most runs of one side only, in the order of the cluster.
        moves: pods that are on another node if both sides take the first of equally good nodes, as `simulate` does.
        fills: how full the nodes are if both sides take the first of equally good nodes: `before` with A, `after` with
            B.
        widest: for each side the workload with the largest zone skew, in a run with the median; empty for none.
        settings: what to configure for `b`.
        times: which plugins took the time of the runs, of each side.
        providers: `eks` or `aks` if nodes of the cluster have labels of these.
        unpriced: instance type -> how many nodes have no price; empty without prices.
        outvoted: of each side, why its strategy that packs does not; empty for others.
        undecided: of each side, how many pods kubesched cannot decide about, and why; they count as pending. Empty for
            none.
        misspelt: instance type of the prices that no node has -> the like type of nodes without a price.
        extenders: addresses of the extenders that the configurations have; they are not called.
        taken_at: when the snapshot was taken, in UTC; None where that is not known.
        versions: of each side, the version of Kubernetes whose rules decided.
        faults: of each side, a pod whose attempt ended in SchedulerError and why, and how many pods these are; empty
            where no plugin failed.
        spreads: the workloads whose zone skew, or whose being on one node, is not the same on both sides if ties go to
            the first node; those whose skew grows most come first.
        devices: the same of the devices in ResourceSlices.
        pools: the nodes in use by pool; empty where the nodes have no pools.
        nodes: all pools together.
        drained: nodes that `moves` has running pods leave: so many drains take the cluster from A to B.
        emptied: nodes that are in use with A and not with B, if both take the first of equally good nodes.
        not_placed: of each side, `namespace/name` of the pods that run in the snapshot and are pending in most runs.
        staying: those of them that neither side places -> why not. They stay on their nodes, so that the figures of
            both sides are about the same pods.
        staying_with: `namespace/name` of the other running pods of their workloads, which stay with them.
        unserved: of each side, the pods that only the other one has a profile for.
        upgrade: what two versions of Kubernetes change; None where one version decides on both sides.
        may_be_lost: `namespace/name` of running pods that are placed again, though perhaps nothing creates them again.

    Example:
        comparison = compare(load_snapshot("cluster.json"), None, packed(Candidate("MostAllocated")), seeds=5)
        for difference in comparison.findings:
            print(difference.figure.title, difference.a, difference.b)
    """

    a: str
    b: str
    choice: PodChoice
    n_pods: int
    n_runs: int
    differences: tuple[FigureDifference, ...]
    pending: tuple[PendingPod, ...]
    moves: tuple[PodMove, ...]
    fills: tuple[NodeFill, ...]
    widest: tuple[str, str]
    settings: PastedSettings
    times: tuple[PluginTimes, PluginTimes]
    providers: tuple[str, ...] = ()
    unpriced: dict[str, int] = {}
    extenders: tuple[str, ...] = ()
    taken_at: datetime | None = None
    versions: tuple[DecidingVersion, DecidingVersion] = (DEFAULT_VERSION, DEFAULT_VERSION)
    faults: tuple[str, str] = ("", "")
    spreads: tuple[WorkloadSpread, ...] = ()
    misspelt: dict[str, str] = {}
    undecided: tuple[str, str] = ("", "")
    outvoted: tuple[str, str] = ("", "")
    devices: tuple[DeviceFill, ...] = ()
    may_be_lost: tuple[str, ...] = ()
    pools: tuple[PoolChange, ...] = ()
    not_placed: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    staying: dict[str, str] = {}
    staying_with: tuple[str, ...] = ()
    nodes: PoolChange = PoolChange("", 0, 0, 0)
    drained: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    unserved: tuple[tuple[Unserved, ...], tuple[Unserved, ...]] = ((), ())
    upgrade: Upgrade | None = None

    @property
    def findings(self) -> list[FigureDifference]:
        """The differences that are larger than chance."""
        return [difference for difference in self.differences if difference.is_finding]

    def figures_frame(self) -> "pd.DataFrame":
        """The figures as a DataFrame, a row for each; `figure`, its name, is the index.

        Columns: `title`, `unit`, `a` and `b`, the least and the greatest value of the runs of each side, `a_least`,
        `a_most`, `b_least`, `b_most`, and `is_finding`: whether the difference is larger than chance.

        Raises:
            InputError: pandas is not installed.
        """
        rows = self.differences
        columns: dict[str, list[Any]] = {
            "figure": [row.figure.name for row in rows],
            "title": [row.figure.title for row in rows],
            "unit": [row.figure.unit.value for row in rows],
            "a": [row.a for row in rows],
            "b": [row.b for row in rows],
            "a_least": [row.range_a[0] for row in rows],
            "a_most": [row.range_a[1] for row in rows],
            "b_least": [row.range_b[0] for row in rows],
            "b_most": [row.range_b[1] for row in rows],
            "is_finding": [row.is_finding for row in rows],
        }
        return data_frame(columns, "figure")

    def moves_frame(self) -> "pd.DataFrame":
        """The pods on another node as a DataFrame, a row for each.

        Columns: `namespace`, `name`, and the fields of a PodMove. `cause` is the text.

        Raises:
            InputError: pandas is not installed.
        """
        return frame_of_pods(self.moves, ("a", "b", "cause", "plugin", "points"))

    def nodes_frame(self) -> "pd.DataFrame":
        """How full the nodes are, with the columns of `Report.nodes_frame`: before is A, after is B.

        Raises:
            InputError: pandas is not installed.
        """
        return fills_frame(self.fills)
