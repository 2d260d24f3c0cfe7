"""Turns a Policy into the plugins and arguments of a profile, and its extenders into those of v1.

Rule: kube-scheduler v1.22: the predicates in its fixed order, then the others by name; the priorities by name. A plugin
that several of them ask for is enabled once, with the first weight.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from kubesched.config.dialects.conversion import Document, Notice, Use
from kubesched.config.dialects.forgiving import read_forgiving
from kubesched.config.dialects.policy_tables import (
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
from kubesched.config.dialects.policy_uses import policy_uses
from kubesched.config.dialects.released import Base, enabled
from kubesched.config.dialects.shapes import (
    LegacyExtender,
    Policy,
    Predicate,
    PredicateArgument,
    Priority,
    PriorityArgument,
)
from kubesched.config.field_errors import FieldError, config_error, did_you_mean, quoted
from kubesched.config.scalars import Duration
from kubesched.config.types import PluginEntry, Plugins, PluginSet
from kubesched.errors import ConfigError

_MAX_WEIGHT: Final = (2**63 - 1) // 10
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


def read_policy(document: Any) -> PolicyParts:
    """Read a Policy whose apiVersion and kind are taken out already.

    Raises:
        ConfigError: upstream would not accept it either; upstream's words.
    """
    policy, known, notices = read_forgiving(document, Policy)
    weight = policy.hard_pod_affinity_symmetric_weight
    if not 0 <= weight <= 100:
        raise config_error([FieldError.invalid("hardPodAffinitySymmetricWeight", weight, "not in valid range [0-100]")])
    args: dict[str, dict[str, Any]] = {}
    filters = _filters(policy.predicates, args, notices)
    scores = _scores(policy.priorities, args, notices)
    if weight:
        args["InterPodAffinity"] = {"hardPodAffinityWeight": weight}
    if "PodTopologySpread" in (*filters, *scores):
        args["PodTopologySpread"] = {"defaultingType": "List"}
    if policy.always_check_all_predicates:
        text = "alwaysCheckAllPredicates: a node is reported with the reasons of the first plugin that rejects it"
        notices.append(Notice(text))
    base = Base(_plugins(filters, scores), args)
    extenders = [
        _extender(extender, plain) for extender, plain in zip(policy.extenders, known.get("extenders", ()), strict=True)
    ]
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


def _filters(given: tuple[Predicate, ...] | None, args: dict[str, dict[str, Any]], notices: list[Notice]) -> list[str]:
    """The filter plugins in order; arguments of NodeLabel and ServiceAffinity go into `args`."""
    predicates = [Predicate(name) for name in DEFAULT_PREDICATES] if given is None else given
    asked = set(MANDATORY_PREDICATES)
    for predicate in predicates:
        if predicate.argument is not None:
            asked.add(_custom_predicate(predicate.name, predicate.argument, args))
            continue
        name = PREDICATE_ALIASES.get(predicate.name, predicate.name)
        if name in TAINT_PREDICATES:
            notices.append(Notice(f"{name}: nodes with this condition have a taint, which TaintToleration honours"))
        elif name in PREDICATES and name not in ("CheckNodeLabelPresence", "CheckServiceAffinity"):
            asked.add(name)
        else:
            raise _unknown("predicate", predicate.name, PREDICATES)
    return list(dict.fromkeys(plugin for name, plugins in PREDICATES.items() if name in asked for plugin in plugins))


def _custom_predicate(name: str, argument: PredicateArgument, args: dict[str, dict[str, Any]]) -> str:
    """Collect the argument. Returns: the predicate whose plugin has it."""
    _check_one_argument("predicate", name, argument)
    if argument.service_affinity is not None:
        _extend(args, "ServiceAffinity", "affinityLabels", argument.service_affinity.labels)
        return "CheckServiceAffinity"
    if argument.labels_presence is not None:
        field = "presentLabels" if argument.labels_presence.presence else "absentLabels"
        _extend(args, "NodeLabel", field, argument.labels_presence.labels)
    return "CheckNodeLabelPresence"


def _scores(
    given: tuple[Priority, ...] | None, args: dict[str, dict[str, Any]], notices: list[Notice]
) -> dict[str, int]:
    """The score plugins with their weights, in order; arguments go into `args`."""
    priorities = [Priority(name, weight) for name, weight in DEFAULT_PRIORITIES.items()] if given is None else given
    scores: dict[str, int] = {}
    preferring: dict[str, Priority] = {}  # the first priority of NodeLabel and of ServiceAffinity
    for priority in sorted(priorities, key=lambda priority: PRIORITY_ALIASES.get(priority.name, priority.name)):
        if not 0 < priority.weight < _MAX_WEIGHT:
            text = f"priority {priority.name} should have a positive weight applied to it or it has overflown"
            raise ConfigError(f"{text}\n  weight is {priority.weight}; expected 1 or more")
        name = PRIORITY_ALIASES.get(priority.name, priority.name)
        if name == SKIPPED_PRIORITY:
            notices.append(Notice(f"{name}: left out, because it gave each node the same score"))
        elif priority.argument is not None:
            _custom_priority(priority, priority.argument, scores, preferring, args)
        elif name in PRIORITIES:
            scores.setdefault(PRIORITIES[name], priority.weight)
        else:
            raise _unknown("priority", priority.name, PRIORITIES)
    return scores


def _custom_priority(
    priority: Priority,
    argument: PriorityArgument,
    scores: dict[str, int],
    preferring: dict[str, Priority],
    args: dict[str, dict[str, Any]],
) -> None:
    _check_one_argument("priority", priority.name, argument)
    if (ratio := argument.requested_to_capacity_ratio_arguments) is not None:
        if _RATIO in scores:
            text = f"priority {quoted(priority.name)} redeclares custom priority {quoted(_RATIO)}"
            raise ConfigError(f"{text}, from: {quoted(preferring[_RATIO].name)}")
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
        raise ConfigError(f"{text}\n  weights are {priority.weight} and {first.weight}; give both the same")
    scores[plugin] = scores.get(plugin, 0) + priority.weight
    _extend(args, plugin, field, (label.label,) if label is not None else ())


def _extend(args: dict[str, dict[str, Any]], plugin: str, field: str, labels: Iterable[str]) -> None:
    args.setdefault(plugin, {}).setdefault(field, []).extend(labels)


def _check_one_argument(kind: str, name: str, argument: msgspec.Struct) -> None:
    given = sum(value is not None for value in msgspec.structs.astuple(argument))
    if given != 1:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(argument))
        text = f"exactly 1 {kind} argument is required, numArgs: {given}, {kind} {name}"
        raise ConfigError(f"{text}\n  arguments of a {kind}: {known}")


def _unknown(kind: str, name: str, known: Iterable[str]) -> ConfigError:
    names = sorted(known)
    advice = did_you_mean(name, names) or f"without an argument, it is one of {', '.join(names)}"
    return ConfigError(f"{kind} type not found for {quoted(name)}\n  {advice}")


def _extender(extender: LegacyExtender, plain: Document) -> Document:
    """The extender with v1's spelling and a duration."""
    converted = {key: value for key, value in plain.items() if key not in ("enableHttps", "httpTimeout")}
    if extender.enable_https:
        converted["enableHTTPS"] = True
    if extender.http_timeout:
        converted["httpTimeout"] = str(Duration(extender.http_timeout / 10**9))
    return converted
