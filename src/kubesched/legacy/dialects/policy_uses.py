"""Names the predicates and priorities of a Policy whose plugins kube-scheduler may no longer have."""

from collections.abc import Iterator

from kubesched.legacy.conversion import Use
from kubesched.legacy.dialects.policy_tables import DEFAULT_PRIORITIES, PRIORITIES, PRIORITY_ALIASES
from kubesched.legacy.dialects.shapes import Policy, Predicate, Priority


def policy_uses(policy: Policy) -> tuple[Use, ...]:
    """The uses of plugins in a valid Policy: of each predicate with an argument, and of each priority."""
    priorities = policy.priorities
    if priorities is None:
        priorities = tuple(Priority(name, weight) for name, weight in DEFAULT_PRIORITIES.items())
    return (*_filters(policy.predicates or ()), *_scores(priorities))


def _filters(predicates: tuple[Predicate, ...]) -> Iterator[Use]:
    for predicate in predicates:
        argument, name = predicate.argument, f"predicate {predicate.name}"
        if argument is None:
            continue
        if argument.service_affinity is not None:
            yield Use("ServiceAffinity", "filter", name, args={"affinityLabels": argument.service_affinity.labels})
        elif argument.labels_presence is not None:
            field = "presentLabels" if argument.labels_presence.presence else "absentLabels"
            yield Use("NodeLabel", "filter", name, args={field: argument.labels_presence.labels})


def _scores(priorities: tuple[Priority, ...]) -> Iterator[Use]:
    first = set()
    for priority in priorities:
        argument, name, weight = priority.argument, f"priority {priority.name}", priority.weight
        plugin = PRIORITIES.get(PRIORITY_ALIASES.get(priority.name, priority.name))
        if argument is None:
            if plugin is not None and plugin not in first:
                first.add(plugin)
                yield Use(plugin, "score", name, weight)
        elif argument.service_anti_affinity is not None:
            labels = (argument.service_anti_affinity.label,)
            yield Use("ServiceAffinity", "score", name, weight, {"antiAffinityLabelsPreference": labels})
        elif argument.label_preference is not None:
            presence = "present" if argument.label_preference.presence else "absent"
            labels = (argument.label_preference.label,)
            yield Use("NodeLabel", "score", name, weight, {f"{presence}LabelsPreference": labels})
        else:
            yield Use("RequestedToCapacityRatio", "score", name, weight)
