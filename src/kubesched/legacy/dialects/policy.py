"""Turns a Policy into the plugins and arguments of a profile, and its extenders into those of v1.

Rule: kube-scheduler v1.22: the predicates in its fixed order, then the others by name; the priorities by name. A plugin
that several of them ask for is enabled once, with the first weight.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from kubesched.config import (
    Duration,
    FieldError,
    Finding,
    PluginEntry,
    Plugins,
    PluginSet,
    did_you_mean,
    item,
    parse_duration,
    quoted,
)
from kubesched.legacy.conversion import Document, Notice, Use
from kubesched.legacy.dialects.forgiving import fault, faults_error, read_forgiving
from kubesched.legacy.dialects.policy_tables import (
    DEFAULT_PREDICATES,
    DEFAULT_PRIORITIES,
    MANDATORY_PREDICATES,
    PREDICATE_ALIASES,
    PREDICATES,
    PRIORITIES,
    PRIORITY_ALIASES,
    SKIPPED_PRIORITY,
    TAINT_PREDICATES,
)
from kubesched.legacy.dialects.policy_uses import policy_uses
from kubesched.legacy.dialects.released import Base, enabled
from kubesched.legacy.dialects.shapes import (
    LegacyExtender,
    Policy,
    Predicate,
    PredicateArgument,
    Priority,
    PriorityArgument,
)

_MAX_WEIGHT: Final = (2**63 - 1) // 10
_SHORT_TIMEOUT: Final = 10**6  # nanoseconds
_RATIO: Final = "RequestedToCapacityRatio"


class PolicyParts(msgspec.Struct, frozen=True):
    """What a Policy says, in the terms of v1.

    Attributes:
        uses: the predicates and priorities by name.
    """

    base: Base
    extenders: list[Document]
    notices: list[Notice]
    uses: tuple[Use, ...]


def read_policy(document: Any, text: str = "") -> PolicyParts:
    """Read a Policy whose apiVersion and kind are taken out already.

    Args:
        text: the one that the document is from.
    Raises:
        ConfigError: upstream would not accept it either; upstream's words, and all faults.
    """
    read = read_forgiving(document, Policy)
    policy, notices = read.value, read.ignored
    weight = policy.hard_pod_affinity_symmetric_weight
    faults: list[Finding] = []
    if not 0 <= weight <= 100:
        path = "hardPodAffinitySymmetricWeight"
        faults.append(fault(path, str(FieldError.invalid(path, weight, "not in valid range [0-100]"))))
    args: dict[str, dict[str, Any]] = {}
    filters = _filters(policy.predicates, args, notices, faults)
    scores = _scores(policy.priorities, args, notices, faults)
    if faults or read.wrong:
        raise faults_error([*map(_type_fault, read.wrong), *_without(read.wrong, faults)], text)
    if weight:
        args["InterPodAffinity"] = {"hardPodAffinityWeight": weight}
    if "PodTopologySpread" in (*filters, *scores):
        args["PodTopologySpread"] = {"defaultingType": "List"}
    if policy.always_check_all_predicates:
        text = "alwaysCheckAllPredicates: a node is reported with the reasons of the first plugin that rejects it"
        notices.append(Notice(text))
    base = Base(_plugins(filters, scores), args)
    plain = read.known.get("extenders", ())
    extenders = [_extender(extender, own) for extender, own in zip(policy.extenders, plain, strict=True)]
    notices += _short_timeouts(policy.extenders)
    return PolicyParts(base, extenders, notices, policy_uses(policy))


def _plugins(filters: list[str], scores: dict[str, int]) -> Plugins:
    binding = enabled("VolumeBinding") if "VolumeBinding" in filters else PluginSet()
    return Plugins(
        queue_sort=enabled("PrioritySort"),
        filter=enabled(*filters),
        post_filter=enabled("DefaultPreemption"),
        score=PluginSet(tuple(PluginEntry(name, weight) for name, weight in scores.items())),
        reserve=binding,
        pre_bind=binding,
        bind=enabled("DefaultBinder"),
    )


def _type_fault(finding: Finding) -> Finding:
    found = re.search(r'found "(.+)"$', finding.message)
    if not finding.path.endswith("httpTimeout") or found is None:
        return finding
    try:
        meant = str(round(parse_duration(found[1]) * 10**9))
    except ValueError:
        meant = "5000000000 for 5s"
    return fault(finding.path, finding.message, f"write nanoseconds: {meant}")


def _without(wrong: list[Finding], faults: list[Finding]) -> list[Finding]:
    """The faults that are not about values of a wrong type, which were left out."""
    return [
        other for other in faults if not any(f"{other.path}.".startswith((f"{w.path}.", f"{w.path}[")) for w in wrong)
    ]


def _filters(
    given: tuple[Predicate, ...] | None, args: dict[str, dict[str, Any]], notices: list[Notice], faults: list[Finding]
) -> list[str]:
    """The filter plugins in order; arguments of NodeLabel and ServiceAffinity go into `args`."""
    predicates = [Predicate(name) for name in DEFAULT_PREDICATES] if given is None else given
    asked = set(MANDATORY_PREDICATES)
    for i, predicate in enumerate(predicates):
        path = item("predicates", i)
        if predicate.argument is not None:
            faults += _not_one_argument("predicate", predicate.name, predicate.argument, path)
            asked.add(_custom_predicate(predicate.argument, args))
            continue
        name = PREDICATE_ALIASES.get(predicate.name, predicate.name)
        if name in TAINT_PREDICATES:
            notices.append(Notice(f"{name}: nodes with this condition have a taint, which TaintToleration honours"))
        elif name in PREDICATES and name not in ("CheckNodeLabelPresence", "CheckServiceAffinity"):
            asked.add(name)
        else:
            faults.append(_unknown("predicate", predicate.name, PREDICATES, path))
    return list(dict.fromkeys(plugin for name, plugins in PREDICATES.items() if name in asked for plugin in plugins))


def _custom_predicate(argument: PredicateArgument, args: dict[str, dict[str, Any]]) -> str:
    """Collect the argument. Returns: the predicate whose plugin has it."""
    if argument.service_affinity is not None:
        _extend(args, "ServiceAffinity", "affinityLabels", argument.service_affinity.labels)
        return "CheckServiceAffinity"
    if argument.labels_presence is not None:
        field = "presentLabels" if argument.labels_presence.presence else "absentLabels"
        _extend(args, "NodeLabel", field, argument.labels_presence.labels)
    return "CheckNodeLabelPresence"


def _scores(
    given: tuple[Priority, ...] | None, args: dict[str, dict[str, Any]], notices: list[Notice], faults: list[Finding]
) -> dict[str, int]:
    """The score plugins with their weights, in order; arguments go into `args`."""
    priorities = [Priority(name, weight) for name, weight in DEFAULT_PRIORITIES.items()] if given is None else given
    scores: dict[str, int] = {}
    preferring: dict[str, Priority] = {}  # the first priority of NodeLabel and of ServiceAffinity
    for i, priority in sorted(enumerate(priorities), key=lambda one: PRIORITY_ALIASES.get(one[1].name, one[1].name)):
        path = item("priorities", i)
        if not 0 < priority.weight < _MAX_WEIGHT:
            text = f"priority {priority.name} should have a positive weight applied to it or it has overflown"
            faults.append(fault(f"{path}.weight", text, f"weight is {priority.weight}; expected 1 or more"))
        name = PRIORITY_ALIASES.get(priority.name, priority.name)
        if name == SKIPPED_PRIORITY:
            notices.append(Notice(f"{name}: left out, because it gave each node the same score"))
        elif priority.argument is not None:
            faults += _not_one_argument("priority", priority.name, priority.argument, path)
            faults += _custom_priority(priority, priority.argument, path, scores, preferring, args)
        elif name in PRIORITIES:
            scores.setdefault(PRIORITIES[name], priority.weight)
        else:
            faults.append(_unknown("priority", priority.name, PRIORITIES, path))
    return scores


def _custom_priority(
    priority: Priority,
    argument: PriorityArgument,
    path: str,
    scores: dict[str, int],
    preferring: dict[str, Priority],
    args: dict[str, dict[str, Any]],
) -> Iterator[Finding]:
    if (ratio := argument.requested_to_capacity_ratio_arguments) is not None:
        if _RATIO in preferring:
            text = f"priority {quoted(priority.name)} redeclares custom priority {quoted(_RATIO)}"
            yield fault(f"{path}.name", f"{text}, from: {quoted(preferring[_RATIO].name)}")
        preferring[_RATIO] = priority
        scores[_RATIO] = priority.weight
        args[_RATIO] = {field: list(entries) for field, entries in msgspec.to_builtins(ratio).items() if entries}
        return
    if (label := argument.label_preference) is not None:
        plugin = "NodeLabel"
        field = "presentLabelsPreference" if label.presence else "absentLabelsPreference"
    else:
        plugin, field, label = "ServiceAffinity", "antiAffinityLabelsPreference", argument.service_anti_affinity
    first = preferring.setdefault(plugin, priority)
    if first.weight != priority.weight:
        kind = "LabelPreference" if plugin == "NodeLabel" else "ServiceAntiAffinity"
        text = f"{kind}  priority {quoted(priority.name)} has a different weight with {quoted(first.name)}"
        weights = f"weights are {priority.weight} and {first.weight}; give both the same"
        yield fault(f"{path}.weight", text, weights)
    scores[plugin] = scores.get(plugin, 0) + priority.weight
    _extend(args, plugin, field, (label.label,) if label is not None else ())


def _extend(args: dict[str, dict[str, Any]], plugin: str, field: str, labels: Iterable[str]) -> None:
    args.setdefault(plugin, {}).setdefault(field, []).extend(labels)


def _not_one_argument(kind: str, name: str, argument: msgspec.Struct, path: str) -> Iterator[Finding]:
    given = sum(value is not None for value in msgspec.structs.astuple(argument))
    if given != 1:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(argument))
        text = f"exactly 1 {kind} argument is required, numArgs: {given}, {kind} {name}"
        yield fault(f"{path}.argument", text, f"arguments of a {kind}: {known}")


def _unknown(kind: str, name: str, known: Iterable[str], path: str) -> Finding:
    names = sorted(known)
    advice = did_you_mean(name, names) or f"without an argument, it is one of {', '.join(names)}"
    return fault(f"{path}.name", f"{kind} type not found for {quoted(name)}", advice)


def _short_timeouts(extenders: Iterable[LegacyExtender]) -> Iterator[Notice]:
    """Timeouts in which no extender answers: somebody took the nanoseconds for another unit."""
    for i, extender in enumerate(extenders):
        if 0 < (given := extender.http_timeout) < _SHORT_TIMEOUT:
            meant = given * (10**9 if given < 1000 else 10**6)  # seconds, or milliseconds
            text = f"httpTimeout {given} is {given} nanoseconds, in which no extender answers; did you mean {meant}, "
            yield Notice(f"{text}which is {Duration(meant / 10**9)}?", f"extenders[{i}].httpTimeout")


def _extender(extender: LegacyExtender, plain: Document) -> Document:
    """The extender with v1's spelling and a duration."""
    converted = {key: value for key, value in plain.items() if key not in ("enableHttps", "httpTimeout")}
    if extender.enable_https:
        converted["enableHTTPS"] = True
    if extender.http_timeout:
        converted["httpTimeout"] = str(Duration(extender.http_timeout / 10**9))
    return converted
