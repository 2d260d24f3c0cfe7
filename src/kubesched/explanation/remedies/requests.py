"""Remedies for too little room: smaller requests."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Container, Pod, Resources, as_int64, edited, is_extended_resource, parse_quantity, whole_units
from kubesched.documents import joined, plural
from kubesched.engine import BoolVector
from kubesched.explanation.fix import Change
from kubesched.explanation.remedies.case import Case, Remedy, containers_edit
from kubesched.state import PodRequests

_GIBI, _MEBI, _KIBI = 2**30, 2**20, 2**10
_BYTES: Final = ("memory", "ephemeral-storage")
_MANY_CORES: Final = 100  # fewer may be meant as cores, and are little as milli-CPU


def requests(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Cores as milli-CPU; the smallest cut of each resource that opens a node of `where`."""
    yield from _milli_cpu(case)
    for cut in _cuts(case, where):
        yield _smaller(case, cut)


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
        text, rounded = readable(name, amount)
        if rounded >= wanted[name]:
            text, rounded = _exact(name, amount), amount
        words.append(f"{text} {name}")
        targets[name] = wanted[name] - rounded
    text = f"request {joined(words)} less"
    return Remedy(text, "requests", False, Change(of_pod=(lambda pod: _cut_down(pod, targets),)))


def readable(name: str, amount: int) -> tuple[str, int]:
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
    wrong = [text for text in cores if (n := as_int64(text) or 0) >= _MANY_CORES and n * 1000 > largest]
    if wrong:
        what = f"{plural(len(wrong), 'request')} {joined(wrong)}"
        text = f"correct the cpu {what}, which no node has, to {joined(f'{one}m' for one in wrong)}"
        yield Remedy(text, "requests", True, containers_edit(partial(_with_milli_cpu, cores=wrong)))


def _cpu_text(one: Container) -> str:
    return str(((one.resources.requests if one.resources else None) or {}).get("cpu", ""))


def _with_milli_cpu(one: Container, cores: Sequence[str]) -> Container:
    if one.resources is None or (text := _cpu_text(one)) not in cores:
        return one
    requests = {**(one.resources.requests or {}), "cpu": f"{text}m"}
    return msgspec.structs.replace(one, resources=msgspec.structs.replace(one.resources, requests=requests))
