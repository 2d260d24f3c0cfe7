"""Remedies for too little room: smaller requests, or one more node of a size that the cluster has."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Container, Pod, PodSpec, Resources, is_extended_resource, parse_quantity, whole_units
from kubesched.engine import BoolVector
from kubesched.explanation.fix import Change, Edit, edited
from kubesched.explanation.remedies.case import Case, Remedy, daemon_set, joined, spec_edit
from kubesched.state import NodeInfo, PodInfo, PodRequests

__all__ = ["requests"]

_HOSTNAME: Final = "kubernetes.io/hostname"
_GIBI, _MEBI, _KIBI = 2**30, 2**20, 2**10
_BYTES: Final = ("memory", "ephemeral-storage")
_MANY_CORES: Final = 100  # fewer may be meant as cores, and are little as milli-CPU
_MAX_TEMPLATES: Final = 3
_MAX_SIZES: Final = 50  # different nodes that are looked at


def requests(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Cores as milli-CPU; the smallest cut of each resource that opens a node of `where`; one more node like those."""
    yield from _milli_cpu(case)
    for cut in _cuts(case, where):
        yield _smaller(case, cut)
    yield from _more_nodes(case, where)


def _cuts(case: Case, where: BoolVector) -> list[dict[str, int]]:
    """For each set of resources that is short on some node: the cut that is the smallest share of the requests."""
    positions = np.flatnonzero(where & (case.nodes.n_pods < case.nodes.allowed_pods))
    names, missing = case.missing[0][1:], case.missing[1][1:, positions]  # a cut does not help where pods are too many
    if not names or not len(positions):
        return []
    wanted = case.info.requests.value.wanted
    best: dict[tuple[str, ...], tuple[float, dict[str, int]]] = {}
    share = case.shortage[positions]
    sets = (missing > 0).T @ (1 << np.arange(len(names)))
    for number in sorted(set(sets.tolist())):
        among = np.flatnonzero(sets == number)
        place = int(among[share[among].argmin()])
        cut = {name: int(missing[i, place]) for i, name in enumerate(names) if missing[i, place]}
        if cut and all(amount < wanted[name] for name, amount in cut.items()):
            best[tuple(cut)] = (float(share[place]), cut)
    return [cut for _, cut in sorted(best.values(), key=lambda one: one[0])]


def _smaller(case: Case, cut: dict[str, int]) -> Remedy:
    wanted = case.info.requests.value.wanted
    words, targets = [], {}
    for name, amount in cut.items():
        text, rounded = _readable(name, amount)
        if rounded >= wanted[name]:
            text, rounded = _exact(name, amount), amount
        words.append(f"{text} {name}")
        targets[name] = wanted[name] - rounded
    text = f"request {joined(words)} less"
    return Remedy(text, "requests", False, Change(of_pod=(lambda pod: _cut_down(pod, targets),)))


def _readable(name: str, amount: int) -> tuple[str, int]:
    """An amount rounded up to few digits: a quantity, and how much it is."""
    if name == "cpu":
        step = 1 if amount < 1000 else 10 if amount < 10_000 else 100
        amount = -(-amount // step) * step
        return _exact(name, amount), amount
    if name in _BYTES or name.startswith("hugepages-"):
        tenth = -(-amount * 10 // _GIBI)
        for text, unit in ((f"{tenth / 10:g}Gi", _GIBI), (f"{-(-amount // _MEBI)}Mi", _MEBI)):
            if amount >= unit:
                return text, whole_units(name, parse_quantity(text))
        text = f"{-(-amount // _KIBI)}Ki"
        return text, whole_units(name, parse_quantity(text))
    return str(amount), amount


def _exact(name: str, amount: int) -> str:
    if name != "cpu":
        return str(amount)
    return f"{amount}m" if amount < 1000 else f"{amount / 1000:.3f}".rstrip("0").rstrip(".")


# --- a pod with smaller requests ---


def _cut_down(pod: Pod, targets: dict[str, int]) -> Pod:
    """The pod with requests that add up to at most the targets; the largest containers are cut first."""
    for name, target in targets.items():
        if pod.spec.resources is not None:
            level = _lowered(pod.spec.resources, name, _excess(pod, name, target))
            pod = edited(pod, spec=msgspec.structs.replace(pod.spec, resources=level))
        for field in ("containers", "init_containers"):
            pod = _cut_containers(pod, field, name, target)
    return pod


def _cut_containers(pod: Pod, field: str, name: str, target: int) -> Pod:
    containers: list[Container] = list(getattr(pod.spec, field) or ())
    for place in sorted(range(len(containers)), key=lambda i: -_amount(containers[i].resources, name)):
        excess = _excess(pod, name, target)
        if excess <= 0:
            break
        resources = containers[place].resources
        if resources is not None and _amount(resources, name):
            lowered = _lowered(resources, name, excess)
            containers[place] = msgspec.structs.replace(containers[place], resources=lowered)
            pod = edited(pod, spec=msgspec.structs.replace(pod.spec, **{field: tuple(containers)}))
    return pod


def _excess(pod: Pod, name: str, target: int) -> int:
    return PodRequests(pod).wanted.get(name, 0) - target


def _amount(resources: Resources | None, name: str) -> int:
    text = ((resources.requests if resources else None) or {}).get(name)
    return 0 if text is None else whole_units(name, parse_quantity(text))


def _lowered(resources: Resources, name: str, by: int) -> Resources:
    """A smaller request; the limit follows where Kubernetes wants it equal."""
    if by <= 0 or name not in (resources.requests or {}):
        return resources
    left = max(_amount(resources, name) - by, 0)
    text = f"{left}m" if name == "cpu" else str(left)
    limits = resources.limits
    if limits and name in limits and (is_extended_resource(name) or name.startswith("hugepages-")):
        limits = {**limits, name: text}
    return msgspec.structs.replace(resources, requests={**(resources.requests or {}), name: text}, limits=limits)


def _milli_cpu(case: Case) -> Iterator[Remedy]:
    """Requests of more cores than any node has, as milli-CPU: `cpu: 500` that was meant as 500m."""
    spec, largest = case.pod.spec, case.largest("cpu")
    cores = dict.fromkeys(map(_cpu_text, (*(spec.containers or ()), *(spec.init_containers or ()))))
    wrong = [text for text in cores if text.isdecimal() and int(text) >= _MANY_CORES and int(text) * 1000 > largest]
    if wrong:
        what = f"request{'' if len(wrong) == 1 else 's'} {joined(wrong)}"
        text = f"correct the cpu {what}, which no node has, to {joined(f'{one}m' for one in wrong)}"
        yield Remedy(text, "requests", True, spec_edit(partial(_with_milli_cpu, cores=wrong)))


def _cpu_text(one: Container) -> str:
    return str(((one.resources.requests if one.resources else None) or {}).get("cpu", ""))


def _with_milli_cpu(spec: PodSpec, cores: Sequence[str]) -> PodSpec:
    def corrected(one: Container) -> Container:
        if one.resources is None or (text := _cpu_text(one)) not in cores:
            return one
        requests = {**(one.resources.requests or {}), "cpu": f"{text}m"}
        return msgspec.structs.replace(one, resources=msgspec.structs.replace(one.resources, requests=requests))

    every = {name: getattr(spec, name) for name in ("containers", "init_containers")}
    after = {name: tuple(map(corrected, containers)) for name, containers in every.items() if containers}
    return msgspec.structs.replace(spec, **after)


# --- one more node ---


def _more_nodes(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """A copy of a node, with what its DaemonSets run there; a larger one where no node is large enough."""
    wanted = {**case.info.requests.value.wanted, "pods": 1}
    nodes = case.nodes
    templates: dict[bytes, int] = {}  # by what the node offers: the nearest such node
    rows = np.ascontiguousarray(np.vstack((nodes.allowed_pods, nodes.allocatable)).T)
    usable = np.flatnonzero(where & ~nodes.unschedulable)
    for position in usable[np.argsort(case.shortage[usable], kind="stable")].tolist():
        templates.setdefault(rows[position].tobytes(), position)
    grown: list[tuple[float, NodeInfo, dict[str, str]]] = []
    for node in islice((nodes[position] for position in templates.values()), _MAX_SIZES):
        offered = node.allocatable
        held = _held_by_daemons(node, wanted)
        lacking = [name for name, amount in wanted.items() if amount + held[name] > offered.get(name, 0)]
        if any(not offered.get(name) and case.largest(name) for name in lacking):
            continue  # other nodes are made for this
        growth = sum((wanted[name] + held[name]) / max(offered.get(name, 0), 1) for name in lacking)
        grown.append((growth, node, {name: _enough(name, wanted[name] + held[name]) for name in lacking}))
    for _, node, raised in sorted(grown, key=lambda one: one[0])[:_MAX_TEMPLATES]:
        larger = f" but with {joined(f'{amount} {name}' for name, amount in raised.items())}" if raised else ""
        text, change = f"add a node like {node.name}{larger}", _added(node, raised)
        yield Remedy(text, "addNode", True, change, ladder="addNode", like=node.name)


def _daemons(node: NodeInfo) -> list[PodInfo]:
    return [info for info in node.pods if daemon_set(info.pod)]


def _held_by_daemons(node: NodeInfo, names: Iterable[str]) -> dict[str, int]:
    held = [{**info.requests.value.held, "pods": 1} for info in _daemons(node)]
    return {name: sum(one.get(name, 0) for one in held) for name in names}


def _enough(name: str, amount: int) -> str:
    """What a larger node offers: a quantity that is at least the amount."""
    if name == "cpu":
        return str(-(-amount // 1000))
    return _readable(name, amount)[0]


def _added(like: NodeInfo, raised: dict[str, str]) -> Change:
    """The change that adds the node, with its DaemonSets' pods; it is as they are now, whatever else is tried."""
    old, name = like.node, f"{like.name}-copy"
    labels = {**old.labels, **({_HOSTNAME: name} if _HOSTNAME in old.labels else {})}
    metadata = msgspec.structs.replace(old.metadata, name=name, uid=f"{old.uid}-copy", labels=labels)
    status = msgspec.structs.replace(old.status, allocatable={**(old.status.allocatable or {}), **raised})
    node = edited(old, metadata=metadata, status=status)
    edits = [Edit("Pod", f"{info.pod.key}-copy", partial(_daemon, info.pod, name)) for info in _daemons(like)]
    return Change(edits=(Edit("Node", name, lambda _: node), *edits))


def _daemon(like: Pod, node_name: str, _: Pod | None) -> Pod:
    metadata = msgspec.structs.replace(like.metadata, name=f"{like.name}-copy", uid=f"{like.uid}-copy")
    return edited(like, metadata=metadata, spec=msgspec.structs.replace(like.spec, node_name=node_name))
