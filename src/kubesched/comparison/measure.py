"""Measures a cluster after a run. What is the same in every run is computed once, by `Ruler`."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import KubeObject, Node, Pod, PodOwners
from kubesched.comparison.pool_use import PoolUse
from kubesched.comparison.replicas import NOWHERE, number_replicas
from kubesched.controllers import Prices, is_bound_to_node, machine_name, price_of, priced_as
from kubesched.engine import BoolVector, IntVector
from kubesched.plugins import PodDemand, RequiredNodeAffinity, demand_of
from kubesched.session import Placement, PodState, Report, group_nodes
from kubesched.state import CPU, MEMORY, ClusterState, NodeColumns, PodRequests

_CONTROL_PLANE: Final = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_LIKENESS: Final = 0.9
"""How like, from 0 to 1, an instance type of the prices is to the one that is meant."""

Measured = dict[str, float | None]
"""Figure -> value, without `moved`; None where the cluster has nothing to measure."""


class Spread(msgspec.Struct, frozen=True, rename="camel"):
    """Where the pods of a workload are.

    Attributes:
        skew: how many pods more the fullest of its zones has than the emptiest; None where it has no zone to go to.
        is_on_one_node: whether it has several pods and all of them are on one node.
    """

    skew: float | None
    is_on_one_node: bool


class _Workload:
    """A workload with a pod to place.

    Attributes:
        members: row in `Ruler.pods` of each of its pods that are to be placed.
        staying: `namespace/name` and row of the node of its other pods.
        zones: where its node selector and node affinity allow its pods.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.members: list[int] = []
        self.staying: list[tuple[str, int]] = []
        self.zones: frozenset[str] = frozenset()

    def nodes(self, where: npt.NDArray[np.int32], left: set[str]) -> list[int]:
        """The row of the node of each pod that has one.

        Args:
            where: (pods,) as from `Ruler.where`.
            left: pods that were evicted.
        """
        placed = [row for row in where[self.members].tolist() if row != NOWHERE]
        return placed + [row for key, row in self.staying if key not in left]


class Ruler:
    """What is measured, and in which cluster.

    Args:
        objects: the cluster, `completed`; the pods to place have no node.
        scheduler_names: of all profiles that are compared.
        prices: what nodes cost.

    Attributes:
        pods: the pods to place, in the order of the cluster.
        replicas: (pods,) int32, as from `number_replicas`.
        node_names: the nodes, in the order of the cluster.
        unpriced: how many nodes `prices` has no price for, by instance type, in alphabetical order, with the capacity
            type where that alone has none; those without the label are under an empty name.
        misspelt: instance type of `prices` that no node has -> the like type of nodes without a price.
    """

    def __init__(
        self, objects: Sequence[KubeObject], scheduler_names: Iterable[str], prices: Prices | None = None
    ) -> None:
        names = frozenset(scheduler_names)
        self._nodes = [one for one in objects if isinstance(one, Node)]
        pods = [one for one in objects if isinstance(one, Pod) and not one.is_finished]
        self.pods = [
            pod for pod in pods if not pod.node_name and pod.scheduler_name in names and not pod.is_terminating
        ]
        self.node_names = [node.name for node in self._nodes]
        self.node_row = {name: row for row, name in enumerate(self.node_names)}
        self._pool_of = [group.pool for group in group_nodes(self._nodes).values()]
        self._zone_of = [node.zone for node in self._nodes]
        self._is_open = np.array([not node.unschedulable for node in self._nodes], dtype=np.bool_)
        self._is_control_plane = np.array([bool(_label(node, _CONTROL_PLANE, "yes")) for node in self._nodes], np.bool_)
        self._bound_to_node = {pod.uid for pod in pods if is_bound_to_node(pod)}
        self._staying = [
            (pod.key, self.node_row[pod.node_name])
            for pod in pods
            if pod.node_name in self.node_row and pod.uid not in self._bound_to_node
        ]
        self._shapes = _shapes(self.pods)
        self._owners = PodOwners(objects)
        self.replicas = number_replicas(self.pods)
        self._workloads = self._find_workloads(pods)
        self.unpriced: dict[str, int] = {}
        self.misspelt: dict[str, str] = {}
        self._prices: npt.NDArray[np.float64] | None = None if prices is None else self._read_prices(prices)

    def _read_prices(self, prices: Prices) -> npt.NDArray[np.float64] | None:
        """(nodes,) the price of each, NaN for none; None if no node has one."""
        known = [price_of(node.labels, prices) for node in self._nodes]
        missing = [node for node, price in zip(self._nodes, known, strict=True) if price is None]
        self.unpriced = dict(sorted(Counter(priced_as(node.labels, prices) for node in missing).items()))
        types = {machine_name(node.labels) for node in self._nodes}
        self.misspelt = dict(_misspelt(prices.keys() - types, self.unpriced))
        if len(missing) == len(known):
            return None
        return np.array([np.nan if price is None else price for price in known], dtype=np.float64)

    def workload(self, pod: Pod) -> str:
        """`Kind namespace/name` of what a pod belongs to; `Pod namespace/name` for a pod without a controller."""
        return str(self._owners.workload_of(pod))

    def _find_workloads(self, pods: Sequence[Pod]) -> list[_Workload]:
        """The workloads that have a controller and a pod to place."""
        by_name: dict[str, _Workload] = {}
        for row, pod in enumerate(self.pods):
            if pod.metadata.controller is not None and not is_bound_to_node(pod):
                name = self.workload(pod)
                workload = by_name.setdefault(name, _Workload(name))
                workload.zones = workload.zones or self._zones_of(pod)
                workload.members.append(row)
        for pod in pods:
            if pod.node_name in self.node_row and (known := by_name.get(self.workload(pod))):
                known.staying.append((pod.key, self.node_row[pod.node_name]))
        return list(by_name.values())

    def _zones_of(self, pod: Pod) -> frozenset[str]:
        """The zones of nodes that the pod's node selector and required node affinity allow."""
        affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
        required = RequiredNodeAffinity(pod.node_selector.items(), affinity)
        allowed = (zone for zone, node in zip(self._zone_of, self._nodes, strict=True) if required.matches_node(node))
        return frozenset(zone for zone in allowed if zone)

    # --- after a run ---

    def where(self, report: Report) -> npt.NDArray[np.int32]:
        """(pods,) int32: the row of the node of each pod to place in the end; NOWHERE where it has none."""
        at = {
            placement.pod: self.node_row[placement.node]
            for placement in report.placements
            if placement.state is PodState.SCHEDULED and not placement.evicted_by
        }
        return np.array([at.get(pod.key, NOWHERE) for pod in self.pods], dtype=np.int32)

    def pending(self, report: Report) -> list[str]:
        """The pods that are left without a node: `namespace/name`, without those behind a scheduling gate."""
        chosen = {pod.key for pod in self.pods}
        return [one.pod for one in report.placements if one.pod in chosen and _is_pending(one)]

    def measure(self, cluster_state: ClusterState, report: Report) -> Measured:
        """The figures of one run; `moved` compares two and is not among them."""
        columns = cluster_state.columns
        rows, in_use = self._rows(columns), self.in_use(cluster_state)
        allocatable, requested = columns.allocatable[:, rows], columns.requested[:, rows]
        free = np.where(self._is_open, np.maximum(allocatable - requested, 0), 0)
        where = self.where(report)
        measured: Measured = {
            "placed": float(np.count_nonzero(where != NOWHERE)),
            "pending": float(len(self.pending(report))),
            "victims": float(len(report.victims)),
            "nodesInUse": float(np.count_nonzero(in_use)),
            "nodesFree": float(np.count_nonzero(~in_use)),
            "pricePerHour": self._price(cluster_state),
            "cpuGap": _largest(free[CPU]),
            "memoryGap": _largest(free[MEMORY]),
            "fragmentation": self._fragmentation(columns, rows, free),
        }
        for name, resource in (("cpu", CPU), ("memory", MEMORY)):
            shares = _shares(requested[resource][in_use], allocatable[resource][in_use])
            measured[f"{name}Median"] = _percentile(shares, 50)
            measured[f"{name}P95"] = _percentile(shares, 95)
        devices = self._device_figures(cluster_state, report)
        return {**measured, **devices, **self._spread_figures(self.spreads(report))}

    def _device_figures(self, cluster_state: ClusterState, report: Report) -> Measured:
        """Of the devices in ResourceSlices: those that are taken, free, and free but of no use to a pending claim."""
        devices = report.after.devices
        counts = devices.counts.values()
        if not counts:
            return dict.fromkeys(("devicesTaken", "devicesFree", "devicesMismatched"))
        wanted = self._wanted_devices(cluster_state, report)
        return {
            "devicesTaken": float(sum(one.taken for one in counts)),
            "devicesFree": float(sum(one.free for one in counts)),
            "devicesMismatched": float(devices.n_mismatched(wanted)) if wanted else 0.0,
        }

    def _wanted_devices(self, cluster_state: ClusterState, report: Report) -> set[tuple[str, ...]]:
        """The CEL expressions of what claims of pending pods ask for."""
        pending = {*self.pending(report)}
        demands = (demand_of(pod, cluster_state, PodRequests(pod).wanted) for pod in self.pods if pod.key in pending)
        return {one for each in demands if isinstance(each, PodDemand) for one in each.wanted_selectors(cluster_state)}

    def use_of_pools(self, cluster_state: ClusterState) -> dict[str, PoolUse]:
        """Pool -> its nodes in use, and what they cost; a pool without such nodes is left out."""
        return self._uses(np.flatnonzero(self.in_use(cluster_state)).tolist())

    def all_of_pools(self) -> dict[str, PoolUse]:
        """Pool -> all its nodes, and what they cost."""
        return self._uses(range(len(self._nodes)))

    def _uses(self, rows: Iterable[int]) -> dict[str, PoolUse]:
        uses: dict[str, PoolUse] = {}
        for row in rows:
            price = np.nan if self._prices is None else float(self._prices[row])
            n, total, n_unpriced = uses.get(pool := self._pool_of[row], PoolUse())
            has_price = not np.isnan(price)
            uses[pool] = PoolUse(n + 1, total + (price if has_price else 0), n_unpriced + (not has_price))
        return uses

    def _price(self, cluster_state: ClusterState) -> float | None:
        """What the nodes in use cost in an hour; None if none of them has a price."""
        return None if self._prices is None else PoolUse.together(self.use_of_pools(cluster_state)).known_price

    def _rows(self, columns: NodeColumns) -> npt.NDArray[np.intp]:
        return np.array([columns.row_of[name] for name in self.node_names], dtype=np.intp)

    def in_use(self, cluster_state: ClusterState) -> BoolVector:
        """(nodes,) whether each has more than pods of DaemonSets; the control plane always counts."""
        columns = cluster_state.columns
        rows = self._rows(columns).tolist()
        return self._is_control_plane | np.array([self._is_used(columns, row) for row in rows], np.bool_)

    def _is_used(self, columns: NodeColumns, row: int) -> bool:
        return any(info.pod.uid not in self._bound_to_node for info in columns.pods[row])

    def _fragmentation(self, columns: NodeColumns, rows: npt.NDArray[np.intp], free: IntVector) -> float | None:
        """The share of free cpu on nodes where no pod to place that requests cpu has enough of every resource."""
        if not self._shapes:
            return None
        has_slot = (columns.allowed_pods - columns.n_pods)[rows] > 0
        usable = np.zeros(len(rows), dtype=np.bool_)
        for shape in self._shapes:
            fits = has_slot.copy()
            for name, amount in shape.items():
                resource = columns.resources.find(name)
                fits &= resource is not None and free[resource] >= amount
            usable |= fits
        total = int(free[CPU].sum())
        return _share(float(free[CPU][~usable].sum()) / total) if total else 0.0

    def spreads(self, report: Report) -> dict[str, Spread]:
        """Workload -> where its pods are, for each workload that has a pod to place."""
        where, left = self.where(report), {victim.pod for victim in report.victims}
        spreads = {}
        for workload in self._workloads:
            nodes = workload.nodes(where, left)
            is_on_one_node = len(nodes) > 1 and len(set(nodes)) == 1
            spreads[workload.name] = Spread(self._skew(workload.zones, nodes), is_on_one_node)
        return spreads

    def _spread_figures(self, spreads: Mapping[str, Spread]) -> Measured:
        if not spreads:
            return {"skew": None, "onOneNode": None}
        skews = [one.skew for one in spreads.values() if one.skew is not None]
        n_on_one_node = sum(one.is_on_one_node for one in spreads.values())
        return {"skew": max(skews, default=None), "onOneNode": float(n_on_one_node)}

    def widest(self, report: Report) -> str:
        """The workload with the largest zone skew; empty where no workload has a skew."""
        skews = {name: one.skew for name, one in self.spreads(report).items() if one.skew}
        return max(skews, key=lambda name: skews[name], default="")

    def _skew(self, zones: Iterable[str], nodes: Iterable[int]) -> float | None:
        per_zone = dict.fromkeys(zones, 0)
        for row in nodes:
            if self._zone_of[row] in per_zone:
                per_zone[self._zone_of[row]] += 1
        return float(max(per_zone.values()) - min(per_zone.values())) if per_zone else None


def _is_pending(placement: Placement) -> bool:
    """Whether a pod has no node; also one whose scheduler name the other side alone has, or that is refused."""
    return (
        placement.is_left_pending
        or bool(placement.refused)
        or (placement.state is PodState.NOT_TRIED and not placement.profile)
    )


def _label(node: Node, keys: Iterable[str], present: str = "") -> str:
    """The first of some labels that a node has, or `present` if it is there; empty without any."""
    return next((present or node.labels[key] for key in keys if key in node.labels), "")


def _misspelt(unused: Collection[str], unpriced: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each type without a price, after the unused one that is most like it, if there is one."""
    for name in unpriced:
        for near in get_close_matches(name, sorted(unused), n=1, cutoff=_LIKENESS):
            yield near, name


def _shapes(pods: Iterable[Pod]) -> list[dict[str, int]]:
    """The distinct requests of pods that request cpu, without zeros."""
    distinct: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
    for pod in pods:
        wanted = {name: amount for name, amount in PodRequests(pod).wanted.items() if amount}
        if "cpu" in wanted:
            distinct[tuple(sorted(wanted.items()))] = wanted
    return list(distinct.values())


def _share(value: float) -> float:
    """A share as precise as reports show it, so that two that read the same are the same."""
    return round(value, 3)


def _shares(requested: IntVector, allocatable: IntVector) -> npt.NDArray[np.float64]:
    has_some = allocatable > 0
    shares: npt.NDArray[np.float64] = requested[has_some] / allocatable[has_some]
    return shares


def _percentile(values: npt.NDArray[np.float64], percent: int) -> float | None:
    """The nearest rank: the smallest value that at least this percentage of the values do not exceed."""
    return _share(float(np.percentile(values, percent, method="inverted_cdf"))) if len(values) else None


def _largest(values: IntVector) -> float | None:
    return float(values.max()) if len(values) else None
