"""Remedies for topology spread constraints: another key, maxSkew or policy, ScheduleAnyway, a pod moved elsewhere."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Final

import msgspec
import numpy as np

from kubesched.api import HOSTNAME, PodSpec, TopologySpreadConstraint
from kubesched.controllers import is_site
from kubesched.documents import plural
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import (
    Case,
    Remedy,
    is_equal,
    moved,
    node_edit,
    node_words,
    of,
    off_node,
    spec_edit,
    with_label,
)
from kubesched.explanation.remedies.machine_words import OF_HOSTS, OF_PLACES, describes_machine, names_part
from kubesched.plugins import own_constraint
from kubesched.state import PodInfo

_HARD: Final = "DoNotSchedule"
_SKEWS: Final = (1, 2, 3, 4, 6, 9, 19, 49, 99)  # how much more skew is tried, the least that helps is offered
_MAX_DOMAINS: Final = 3
_MAX_LABELLED: Final = 1_000  # nodes that get a label in one fix


def spread(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """What lets the nodes of `where` take more such pods; nothing for default constraints of the profile."""
    return (msgspec.structs.replace(one, counts_pods=True) for one in _looser(case, where))


def _looser(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """What lets the nodes of `where` take one more such pod."""
    for i, one in enumerate(case.pod.spec.topology_spread_constraints or ()):
        if one.when_unsatisfiable != _HARD:
            continue
        key = one.topology_key.rpartition("/")[2]
        if near := case.near_key(one.topology_key):
            text = f"correct the topology key {one.topology_key} of the spread (no node has it) to {near}"
            yield Remedy(text, "topologyKey", True, _with(i, topology_key=near), effort=Effort.CORRECT)
        elif (lacking := where & (case.nodes.codes(one.topology_key) == 0)).any() and _is_place(one.topology_key):
            yield from _labelled(case, lacking, one.topology_key)
        yield from _moves(case, where, one)
        if (one.node_taints_policy or "Ignore") != "Honor":
            text = f"set nodeTaintsPolicy: Honor for the spread over {key}, so that nodes with taints do not count"
            yield Remedy(text, "spreadPolicy", True, _with(i, node_taints_policy="Honor"))
        yield from _fewer_domains(case, i, one)
        looser = Effort.LOOSEN if _counts_equal_pods(case, one) else Effort.DROP
        for more in _SKEWS:
            skew = one.max_skew + more
            text = f"set maxSkew: {skew} for the spread over {key}"
            effort = looser if more <= one.max_skew else Effort.DROP
            yield Remedy(text, "maxSkew", False, _with(i, max_skew=skew), ladder=f"maxSkew {i}", effort=effort)
        soft = _with(i, when_unsatisfiable="ScheduleAnyway", min_domains=None)  # only hard ones may have it
        text = f"set whenUnsatisfiable: ScheduleAnyway for the spread over {key}"
        yield Remedy(text, "scheduleAnyway", False, soft, effort=looser)


def _is_place(key: str) -> bool:
    return names_part(key, OF_HOSTS | OF_PLACES) or is_site(key) or not describes_machine(key)


def _fewer_domains(case: Case, place: int, one: TopologySpreadConstraint) -> Iterator[Remedy]:
    """As many domains as there are, where the constraint wants more; without a number where there is no second one."""
    counting = own_constraint(one, case.info.identity.value).counting(case.nodes, case.info)
    codes = case.nodes.codes(one.topology_key)
    n_domains = len(np.unique(codes[(codes > 0) & (True if counting is None else counting)]))
    if one.min_domains is None or n_domains >= one.min_domains:
        return
    key = one.topology_key.rpartition("/")[2]
    if n_domains > 1:
        text = f"set minDomains: {n_domains} for the spread over {key}: {n_domains} {key}s have such nodes"
        yield Remedy(text, "minDomains", True, _with(place, min_domains=n_domains))
    else:
        text = f"drop minDomains: {one.min_domains} from the spread over {key}"
        yield Remedy(text, "minDomains", False, _with(place, min_domains=None))


def _labelled(case: Case, lacking: BoolVector, key: str) -> Iterator[Remedy]:
    """The nodes with the topology key that they lack: in one of the domains that there are, if they are in it.

    Where no node has the key, the values are blanks, each another one, which a person fills in: no name is made up. Of
    a node's own name it is known.
    """
    names = [node.name for node in islice(case.at(lacking), _MAX_LABELLED)]
    short, which = key.rpartition("/")[2], node_words(names)
    known = [value for value in case.nodes.label(key).values.values if value is not None]
    is_new, lack = not (case.nodes.codes(key) > 0).any(), plural(len(names), "it lacks", "they lack")
    if is_new or key == HOSTNAME:
        blanks = {name: name if key == HOSTNAME else f"<{short} of {name}>" for name in names}
        edits = tuple(node_edit(name, partial(with_label, key=key, value=value)) for name, value in blanks.items())
        text = f"label {which} with {key}, which {'no node has' if is_new else lack}: each with its {short}"
        yield Remedy(text, "label", True, Change(edits=edits))
        return
    are = plural(len(names), "it is", "they are")
    for value in known[:_MAX_DOMAINS]:
        edits = tuple(node_edit(name, partial(with_label, key=key, value=value)) for name in names)
        text = f"label {which} with {key}, which {lack}, if {are} in {short} {value}"
        yield Remedy(text, "label", True, Change(edits=edits), ladder=f"label {key}")


def _counts_equal_pods(case: Case, one: TopologySpreadConstraint) -> bool:
    """Whether the constraint spreads replicas of the pod's own controller, so that no other workload relies on it."""
    constraint = own_constraint(one, case.info.identity.value)
    pods = case.placed.selected(constraint.selects)
    return not constraint.selector.is_empty and all(is_equal(info.pod, case.pod) for info, _ in pods)


def _with(place: int, **fields: object) -> Change:
    """One constraint with other fields."""

    def changed(spec: PodSpec) -> PodSpec:
        constraints = list(spec.topology_spread_constraints or ())
        constraints[place] = msgspec.structs.replace(constraints[place], **fields)
        return msgspec.structs.replace(spec, topology_spread_constraints=tuple(constraints))

    return spec_edit(changed)


def _moves(case: Case, where: BoolVector, one: TopologySpreadConstraint) -> Iterator[Remedy]:
    """A pod that counts, out of each of the domains that have the most nodes."""
    constraint, key = own_constraint(one, case.info.identity.value), one.topology_key
    if constraint.selector.is_empty:  # it counts no placed pod
        return
    counting = constraint.counting(case.nodes, case.info)
    codes, known = case.nodes.codes(key), case.nodes.label(key).values.values
    sizes = np.bincount(codes[where], minlength=len(known))
    sizes[0] = 0  # nodes without the key
    chosen = [int(code) for code in np.argsort(-sizes, kind="stable")[:_MAX_DOMAINS] if sizes[code]]
    first: dict[int, PodInfo] = {}
    for info, position in case.placed.selected(constraint.selects):
        code = int(codes[position])
        if code not in first and (counting is None or counting[position]) and case.may_go([info]):
            first[code] = info
    short = key.rpartition("/")[2]
    for code in chosen:
        value = known[code]
        if code in first and value is not None:
            info = first[code]
            if short == "hostname":
                yield from off_node(case, info, "movePod")
            else:
                text = f"move {of(info)} to another {short} than {value}"
                yield from moved(case, text, "movePod", [info], frozenset({(key, value)}))
