"""Remedies for too little room: what is written wrongly, smaller requests."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Container, Pod, Resources, as_int64, edited, is_extended_resource, parse_quantity, whole_units
from kubesched.documents import joined, plural
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change
from kubesched.explanation.device_survey import PLUGIN, demand_of
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, containers_edit, held_by_daemons
from kubesched.explanation.remedies.device_plugins import misspelt_resources
from kubesched.explanation.remedies.new_node import added_node
from kubesched.explanation.remedies.other_devices import most_chosen, offered_in_place
from kubesched.explanation.remedies.replica_room import ReplicaRoom
from kubesched.explanation.remedies.short_amounts import DIVISIBLE, at_most, exact
from kubesched.state import PodRequests

_NEARLY: Final = 8  # a request that exceeds an empty node by less than this part of itself was meant to fill it
_HALF: Final = 2
_WHOLE: Final = 8  # devices; hardly a machine that can be had has more
_MANY_CORES: Final = 100  # fewer may be meant as cores, and are little as milli-CPU


def requests(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Names of resources and cores that are written wrongly; the smallest cut of each resource that opens a node."""
    yield from misspelt_resources(case)
    yield from offered_in_place(case)
    yield from _more_pods(case)
    yield from _milli_cpu(case)
    cuts = [(position, cut) for position, cut in _cuts(case, where) if not _is_served(case, cut)]
    room = ReplicaRoom(case, where) if cuts else None
    for position, cut in cuts:
        yield from (
            _for_replicas(case, position, cut, room) if room and room.n_wanted > 1 else (_smaller(case, position, cut),)
        )


def _is_served(case: Case, cut: Mapping[str, int]) -> bool:
    """Whether device classes serve what is cut on nodes with too few devices: `device_requests` cuts it."""
    demand = demand_of(case.evaluation)
    return demand is not None and demand.served.keys() >= cut.keys() and bool(case.rejected(PLUGIN).any())


def _for_replicas(case: Case, position: int, cut: dict[str, int], room: ReplicaRoom) -> Iterator[Remedy]:
    """The cut with which all replicas of a controller have room, where it is not much larger; and the smallest one."""
    wanted = case.info.requests.value.wanted
    targets = {name: at_most(name, wanted[name] - amount)[1] for name, amount in cut.items()}
    n, n_wanted = room.count(targets), room.n_wanted
    if n >= n_wanted:
        yield _smaller(case, position, cut)
        return
    (name, target), *others = targets.items()
    most = 0 if others or name not in DIVISIBLE else at_most(name, room.most_for_all(name, target))[1]
    if most and most * _HALF >= target:
        yield _smaller(case, position, {name: wanted[name] - most}, f"room for all {n_wanted} pods")
    yield _smaller(case, position, cut, f"room for {n} of {n_wanted} pods")


def _more_pods(case: Case) -> Iterator[Remedy]:
    """Several pods, where no node of the kind that the pod chooses has as many devices as it asks for."""
    if case.chosen is None:
        return
    for name in filter(is_extended_resource, case.missing[0]):
        wanted, most = case.info.requests.value.wanted[name], most_chosen(case, name)
        if not 0 < most < wanted or not is_extended_resource(name):
            continue
        n = -(-wanted // most)
        each = wanted // n if wanted % n == 0 else most
        text = f"no node that it chooses has more than {most} {name}: use {n} pods of {each}"
        fewer = Change(of_pod=(partial(cut_down, targets={name: each}),))
        effort = Effort.LESS if wanted <= _WHOLE else Effort.ADAPT
        yield Remedy(text, "requests", True, fewer, effort=effort, ladder=f"pods of {name}")
        row = case.nodes.columns.resources.find(name)
        if row is None:
            continue
        largest = int(np.where(case.chosen, case.nodes.allocatable[row], 0).argmax())
        like = case.nodes[largest]
        change = fewer + added_node(case, like, {})
        text = f"{text}, and add a node like {like.name}"
        effort = max(effort, Effort.ADD)
        yield Remedy(text, "requests", True, change, effort=effort, ladder=f"pods of {name}", like=like.name)


def _cuts(case: Case, where: BoolVector) -> list[tuple[int, dict[str, int]]]:
    """For each set of resources that is short on some node: the node where the smallest cut helps, and that cut."""
    positions = np.flatnonzero(where & (case.nodes.n_pods < case.nodes.allowed_pods))
    names, missing = case.missing[0][1:], case.missing[1][1:, positions]  # a cut does not help where pods are too many
    if not names or not len(positions):
        return []
    wanted = case.info.requests.value.wanted
    best: dict[tuple[str, ...], tuple[float, int, dict[str, int]]] = {}
    share = case.shortage[positions]
    sets = (missing > 0).T @ (1 << np.arange(len(names)))
    for number in sorted(set(sets.tolist())):
        among = np.flatnonzero(sets == number)
        place = int(among[share[among].argmin()])
        cut = {name: int(missing[i, place]) for i, name in enumerate(names) if missing[i, place]}
        if cut and all(amount < wanted[name] for name, amount in cut.items()):
            best[tuple(cut)] = (float(share[place]), int(positions[place]), cut)
    return [(position, cut) for _, position, cut in sorted(best.values(), key=lambda one: one[0])]


def _smaller(case: Case, position: int, cut: dict[str, int], room: str = "") -> Remedy:
    wanted = case.info.requests.value.wanted
    words, targets = {}, {}
    for name, amount in cut.items():
        words[name], targets[name] = at_most(name, wanted[name] - amount)
    empty, is_near = _on_empty_node(case, position, words)
    notes = "; ".join(filter(None, (empty, room)))
    amounts = joined(f"{amount} {name}" for name, amount in words.items())
    text = f"lower the {plural(len(words), 'request')} to {amounts}{notes and f' ({notes})'}"
    divisible = all(name in DIVISIBLE for name in cut)
    is_small = is_near and all(amount * _HALF <= wanted[name] for name, amount in cut.items())
    effort = (Effort.ADAPT if is_small else Effort.LESS) if divisible else Effort.DROP
    change = Change(of_pod=(lambda pod: cut_down(pod, targets),))
    return Remedy(text, "requests", effort is Effort.ADAPT, change, effort=effort)


def _on_empty_node(case: Case, position: int, targets: Mapping[str, str]) -> tuple[str, bool]:
    """What the node would take if it were empty, where that is too little; whether the pod nearly fits it then."""
    node, wanted = case.nodes[position], case.info.requests.value.wanted
    held, words, are_near = held_by_daemons(node, targets), [], []
    for name, target in targets.items():
        offered = node.allocatable.get(name, 0)
        most = offered - held[name]
        if not 0 < most < wanted[name]:
            continue
        are_near.append((wanted[name] - most) * _NEARLY <= wanted[name])
        text, less = f"{at_most(name, most)[0]} {name}", ""
        if held[name]:
            less = f"{exact(name, offered)} less {exact(name, held[name])} of DaemonSets"
        if text != f"{target} {name}":
            words.append(f"{node.name} takes {text} when it is empty{less and f': {less}'}")
        elif less:
            words.append(less)
    return joined(words), bool(are_near) and all(are_near)


# --- a pod with smaller requests ---


def cut_down(pod: Pod, targets: dict[str, int]) -> Pod:
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
    words, amount = at_most(name, left)
    text = words if amount == left and " " not in words else f"{left}m" if name == "cpu" else str(left)
    limits = resources.limits
    if limits and name in limits and (is_extended_resource(name) or name.startswith("hugepages-")):
        limits = {**limits, name: text}
    return msgspec.structs.replace(resources, requests={**(resources.requests or {}), name: text}, limits=limits)


def _milli_cpu(case: Case) -> Iterator[Remedy]:
    """Requests of more cores than any node has, as milli-CPU: `cpu: 500` or `500Mi` that was meant as 500m."""
    spec, largest = case.pod.spec, case.largest("cpu")
    cores = dict.fromkeys(map(_cpu_text, (*(spec.containers or ()), *(spec.init_containers or ()))))
    wrong = [text for text in cores if _milli_text(text) and whole_units("cpu", parse_quantity(text)) > largest]
    if wrong:
        what = f"{plural(len(wrong), 'request')} {joined(wrong)}"
        text = f"correct the cpu {what} (no node has it) to {joined(map(_milli_text, wrong))}"
        yield Remedy(
            text, "requests", True, containers_edit(partial(_with_milli_cpu, cores=wrong)), effort=Effort.CORRECT
        )


def _milli_text(text: str) -> str:
    """As how many milli-CPU so many cores may be meant, or so many of a unit of bytes; empty where they may not."""
    number = text.rstrip("KMGTPEki")
    n = as_int64(number) or 0
    return f"{number}m" if n >= _MANY_CORES or (n > 0 and number != text) else ""


def _cpu_text(one: Container) -> str:
    return str(((one.resources.requests if one.resources else None) or {}).get("cpu", ""))


def _with_milli_cpu(one: Container, cores: Sequence[str]) -> Container:
    if one.resources is None or (text := _cpu_text(one)) not in cores:
        return one
    requests = {**(one.resources.requests or {}), "cpu": _milli_text(text)}
    return msgspec.structs.replace(one, resources=msgspec.structs.replace(one.resources, requests=requests))
