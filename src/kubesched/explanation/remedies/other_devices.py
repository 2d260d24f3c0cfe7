"""Remedies for devices that the pod's nodes do not have: another one of the same kind, or a driver that is lost."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import partial
from typing import Final

import numpy as np

from kubesched.api import is_extended_resource
from kubesched.documents import plural
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, containers_edit, node_edit, node_words
from kubesched.explanation.remedies.device_plugins import offering, renamed, respelt_names, stopped_devices

_GPU: Final = ("gpu", "mig-", "vgpu")  # a whole one, a slice, a share
_PAGES: Final = "hugepages-"
_TYPE: Final = "node.kubernetes.io/instance-type"
_MAX_OTHERS: Final = 2
_SLICE: Final = re.compile(r"/mig-(\d+)g\.(\d+)gb")
_FAMILY: Final = re.compile("[^-.]*")  # of `mig-1g.10gb` the part that says it is a slice


def is_device(name: str) -> bool:
    """Whether nodes are made for a resource: one that they have or do not have, and not less of."""
    return is_extended_resource(name) or name.startswith(_PAGES)


def other_devices(case: Case) -> dict[str, list[str]]:
    """Device that no node of the pod's choice has -> those of the same kind that some of them have, nearest first.

    Of slices, the smallest that is large enough is the nearest.
    """
    known = case.nodes.columns.resources.values
    elsewhere = not_offered(case) | respelt_names(case).keys()
    absent = [
        name for name in case.missing[0] if is_device(name) and name not in elsewhere and not most_chosen(case, name)
    ]
    found: dict[str, list[str]] = {}
    for name in absent:
        alike = [other for other in known if other and other != name and _is_meant(case, name, other)]
        alike.sort(key=partial(_distance, name))
        if alike:
            same = [other for other in alike if _family(other) == _family(name)]
            found[name] = (same or alike)[:_MAX_OTHERS]
    return found


def has_unused_devices(case: Case, positions: np.ndarray) -> bool:
    """Whether some nodes are made for devices that the pod does not ask for: not all nodes have them."""
    resources, wanted = case.nodes.columns.resources, case.info.requests.value.wanted
    others = (name for name in resources.values if name and is_extended_resource(name) and not wanted.get(name))
    offered = (case.nodes.allocatable[resources.find(name)] for name in others)
    return any(amounts[positions].all() and not amounts.all() for amounts in offered)


def not_offered(case: Case) -> set[str]:
    """The devices that some node of the pod's choice has and does not offer."""
    every = case.chosen if case.chosen is not None else np.ones(len(case.nodes), dtype=np.bool_)
    stopped = {name for (name, _, _), positions in stopped_devices(case).items() if every[positions].any()}
    return stopped | {name for name, lost in lost_devices(case).items() if every[list(lost)].any()}


def lost_devices(case: Case) -> dict[str, dict[int, int]]:
    """Device -> the nodes that offer nothing of its kind -> a node of the same type of machine that offers enough."""
    known = case.nodes.columns.resources.values
    lost: dict[str, dict[int, int]] = {}
    for name in filter(is_device, case.missing[0]):
        row, wanted = case.nodes.columns.resources.find(name), case.info.requests.value.wanted[name]
        if row is None:
            continue
        alike = [number for number, other in enumerate(known) if other and (other == name or _is_alike(name, other))]
        types = case.nodes.codes(_TYPE)
        bare = ~case.nodes.allocatable[alike].any(axis=0) & (types > 0)
        twins = {int(types[i]): int(i) for i in np.flatnonzero(case.nodes.allocatable[row] >= wanted)}
        pairs = ((int(i), twins.get(int(types[i]))) for i in np.flatnonzero(bare))
        found = {i: twin for i, twin in pairs if twin is not None and _are_twins(case, name, i, twin)}
        seen = {i for (other, _, _), positions in stopped_devices(case).items() if other == name for i in positions}
        if rest := {i: twin for i, twin in found.items() if i not in seen}:
            lost[name] = rest
    return lost


def _are_twins(case: Case, device: str, one: int, other: int) -> bool:
    """Whether two nodes of one type are of one pool, or both labelled as nodes with the device: k3s has one type."""
    pools = case.pools
    mine, others = case.nodes[one], case.nodes[other]
    labels = (key for key in mine.labels if key.partition("/")[0] == device.partition("/")[0])
    is_labelled = any(mine.labels[key] == others.labels.get(key) for key in labels)
    return is_labelled or (bool(pools[mine.name]) and pools[mine.name] == pools[others.name])


def drivers(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Repair a driver or device plugin that is lost: machines of the same type offer the device."""
    for name, lost in lost_devices(case).items():
        here = {i: twin for i, twin in lost.items() if where[i]}
        if not here:
            continue
        names = [case.nodes.name(i) for i in here]
        twin = case.nodes[next(iter(here.values()))]
        amount = twin.allocatable[name]
        text = f"repair the driver or device plugin of {name} on {node_words(names)}"
        offer = partial(offering, name=name, amount=amount)
        change = Change(edits=tuple(node_edit(one, offer) for one in names))
        text = f"{text}: {twin.name}, a machine of the same type, offers {amount}"
        yield Remedy(text, "devicePlugin", True, change, effort=Effort.REPAIR)


def offered_in_place(case: Case) -> Iterator[Remedy]:
    """Ask for the device that the nodes of the pod's choice have."""
    whose = "no node" if case.chosen is None else "none of the nodes that it chooses"
    for name, others in other_devices(case).items():
        for other in others:
            have = np.flatnonzero(_offered(case, other) > 0).tolist()
            offer = plural(len(have), "offers", "offer")
            nodes = node_words(case.nodes.name(position) for position in have)
            is_less = _is_smaller(name, other)
            less = ", if the smaller slice will do" if is_less else ""
            text = f"ask for {other}, which {nodes} {offer}, in place of {name}, which {whose} offers{less}"
            change = containers_edit(partial(renamed, old=name, new=other))
            yield Remedy(text, "requests", not is_less, change, effort=Effort.LESS if is_less else Effort.ADAPT)


def most_chosen(case: Case, name: str) -> int:
    """How much of a resource the node of the pod's choice offers that has most of it."""
    return int(_offered(case, name).max(initial=0))


def _offered(case: Case, name: str) -> np.ndarray:
    """(nodes,) how much of a resource the nodes of the pod's choice offer; of others, nothing."""
    row = case.nodes.columns.resources.find(name)
    if row is None:
        return np.zeros(len(case.nodes), dtype=np.int64)
    amounts: np.ndarray = case.nodes.allocatable[row]
    return amounts if case.chosen is None else np.where(case.chosen, amounts, 0)


def _is_meant(case: Case, name: str, other: str) -> bool:
    """Whether a device may be in the place of another one; of another vendor only where the pod chose its nodes."""
    is_chosen = case.chosen is not None or name.rpartition("/")[0] == other.rpartition("/")[0]
    return is_chosen and _is_alike(name, other) and most_chosen(case, other) > 0


def _distance(wanted: str, other: str) -> tuple[bool, int, float]:
    """How far a device is from another one: smaller slices come last, the largest of them first."""
    is_less, size = _is_smaller(wanted, other), sum(_slice(other)) if _slice(wanted) else 0
    return is_less, -size if is_less else size, -SequenceMatcher(None, wanted, other).ratio()


def _is_smaller(wanted: str, other: str) -> bool:
    """Whether a slice of a GPU has fewer parts or less memory than another one."""
    return any(there < mine for mine, there in zip(_slice(wanted), _slice(other), strict=False))


def _slice(name: str) -> tuple[int, ...]:
    """The parts and the memory of a slice: 1 and 10 of `nvidia.com/mig-1g.10gb`; none of other devices."""
    found = _SLICE.search(name)
    return tuple(map(int, found.groups())) if found else ()


def _family(name: str) -> str:
    found = _FAMILY.match(name.rpartition("/")[2])
    return found.group() if found else ""


def _is_alike(one: str, other: str) -> bool:
    """Whether two devices are of one kind: GPUs and their parts, huge pages, and longer names of the same."""
    if one.startswith(_PAGES) or other.startswith(_PAGES):
        return one.startswith(_PAGES) and other.startswith(_PAGES)
    if not is_extended_resource(other):
        return False
    (domain, _, name), (other_domain, _, other_name) = one.rpartition("/"), other.rpartition("/")
    if name.startswith(_GPU) and other_name.startswith(_GPU):
        return True
    longer = name.endswith(f"_{other_name}") or other_name.endswith(f"_{name}")
    return name == other_name or (domain == other_domain and longer)
