"""Remedies for topology spread constraints: another maxSkew or policy, ScheduleAnyway, a pod moved out of a domain."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.api import TopologySpreadConstraint, parse_selector
from kubesched.engine import BoolVector
from kubesched.explanation.fix import Change
from kubesched.explanation.remedies.case import Case, Remedy, of, removal, spec_edit
from kubesched.state import PodInfo

__all__ = ["spread"]

_HARD: Final = "DoNotSchedule"
_SKEWS: Final = (1, 2, 3, 4, 6, 9, 19, 49, 99)  # how much more skew is tried, the least that helps is offered
_MAX_DOMAINS: Final = 3


def spread(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """What lets the nodes of `where` take one more such pod; nothing for default constraints of the profile."""
    for i, one in enumerate(case.pod.spec.topology_spread_constraints or ()):
        if one.when_unsatisfiable != _HARD:
            continue
        key = one.topology_key.rpartition("/")[2]
        yield from _moves(case, where, one)
        if (one.node_taints_policy or "Ignore") != "Honor":
            text = f"set nodeTaintsPolicy: Honor for the spread over {key}, so that nodes with taints do not count"
            yield Remedy(text, "spreadPolicy", True, _with(i, node_taints_policy="Honor"))
        for more in _SKEWS:
            skew = one.max_skew + more
            text = f"set maxSkew: {skew} for the spread over {key}"
            yield Remedy(text, "maxSkew", False, _with(i, max_skew=skew), ladder=f"maxSkew {i}")
        text = f"set whenUnsatisfiable: ScheduleAnyway for the spread over {key}"
        yield Remedy(text, "scheduleAnyway", False, _with(i, when_unsatisfiable="ScheduleAnyway"))


def _with(place: int, **fields: object) -> Change:
    """One constraint with other fields."""

    def changed(constraints: tuple[TopologySpreadConstraint, ...]) -> tuple[TopologySpreadConstraint, ...]:
        return tuple(msgspec.structs.replace(c, **fields) if i == place else c for i, c in enumerate(constraints))

    return spec_edit(
        lambda spec: msgspec.structs.replace(
            spec, topology_spread_constraints=changed(spec.topology_spread_constraints or ())
        )
    )


def _moves(case: Case, where: BoolVector, one: TopologySpreadConstraint) -> Iterator[Remedy]:
    """A pod that counts, out of each of the domains that have the most nodes."""
    selector, key = parse_selector(one.label_selector), one.topology_key
    sizes: dict[str, int] = defaultdict(int)
    for node in case.at(where):
        if key in node.labels:
            sizes[node.labels[key]] += 1
    chosen = sorted(sizes, key=lambda value: -sizes[value])[:_MAX_DOMAINS]
    first: dict[str, PodInfo] = {}
    for info, position in case.placed:
        if info.pod.namespace == case.pod.namespace and selector.matches(info.pod.labels):
            value = case.nodes[position].labels.get(key, "")
            if value in chosen and not info.pod.is_terminating:
                first.setdefault(value, info)
    short = key.rpartition("/")[2]
    for value in chosen:
        if value in first:
            info = first[value]
            where_to = "to another node" if short == "hostname" else f"out of {short} {value}"
            text, domain = f"move {of(info)} {where_to}", frozenset({(key, value)})
            yield Remedy(text, "movePod", True, removal([info]), moved=(info.pod,), domains=domain)
