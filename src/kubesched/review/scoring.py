"""Advice on scores, weights, and the number of scored nodes."""

from collections.abc import Iterator, Mapping
from typing import Final

from kubesched.config import Finding, dig, entry_path, written_entries
from kubesched.review.reviewed import Review, ReviewedProfile

_DOMINANT: Final = 5
"""With five times the weight of all others together, 20 of 100 points outweigh everything else."""

_LEAST_PERCENTAGE: Final = 5
"""kube-scheduler's own choice is never lower: max(5, 50 - nodes / 125)."""


_SPREAD_OUTVOTES: Final = 4
"""Up to this many times the weight of PodTopologySpread, NodeResourcesFit does not pack the pods of one workload.

Rule: kube-scheduler v1.36, measured with 12 pods of a Deployment on 10 empty nodes and a weight of 2 for
PodTopologySpread: MostAllocated uses 10 nodes up to a weight of 5, 7 with 8, and 4 without default constraints.
NodeResourcesBalancedAllocation makes no difference.
"""


def scoring_advice(review: Review) -> Iterator[Finding]:
    """Find weights and percentages without the effect that they seem to have."""
    yield from _percentages(review)
    for profile in review.profiles:
        yield from _dominant_weights(profile, review)
        yield from _no_scores(profile, review)
        yield from _outvoted_packing(profile)


def _percentages(review: Review) -> Iterator[Finding]:
    paths = ["percentageOfNodesToScore", *(profile.at("percentageOfNodesToScore") for profile in review.profiles)]
    values = [
        dig(review.document, "percentageOfNodesToScore"),
        *(profile.document.get("percentageOfNodesToScore") for profile in review.profiles),
    ]
    for path, value in zip(paths, values, strict=True):
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LEAST_PERCENTAGE:
            yield Finding(
                "low-percentage",
                path,
                f"kube-scheduler scores only the first nodes that fit: {value} % of all nodes, but at least 100",
                "scores then decide little in a large cluster; 0 or an absent field lets kube-scheduler choose 5 to "
                "50 %, 100 scores all nodes",
            )

    general = review.configuration.percentage_of_nodes_to_score
    for path, value in zip(paths[1:], values[1:], strict=True):
        if value == 0 and not isinstance(value, bool) and general:
            yield Finding(
                "percentage-not-inherited",
                path,
                f"0 lets kube-scheduler choose 5 to 50 % for this profile; the general {general} % does not count",
                "leave the field out to use the general value",
            )


def _dominant_weights(profile: ReviewedProfile, review: Review) -> Iterator[Finding]:
    weights = [
        (profile.at(_weight_path(profile, name)), name, profile.weights.get(name, 1))
        for name in profile.points["score"]
    ]
    for i, extender in enumerate(review.configuration.extenders):
        if extender.prioritize_verb:
            weights.append((f"extenders[{i}].weight", "the extender", extender.weight))
    total = sum(weight for _, _, weight in weights)
    for path, name, weight in weights:
        others = total - weight
        if others > 0 and weight >= _DOMINANT * others:
            points = -(-100 * others // weight)
            yield Finding(
                "dominant-weight",
                path,
                f"the weight of {name}, {weight}, is {weight // others} times that of all other scores together",
                f"{points} of its 100 points outweigh everything else; choose a smaller weight, or disable the others",
            )


def _weight_path(profile: ReviewedProfile, name: str) -> str:
    path = profile.enabling_path("score", name)
    return path if path == "plugins" else f"{path}.weight"


def _no_scores(profile: ReviewedProfile, review: Review) -> Iterator[Finding]:
    if profile.points["score"] or any(extender.prioritize_verb for extender in review.configuration.extenders):
        return
    filters = any(extender.filter_verb for extender in review.configuration.extenders)
    message = "no plugin scores nodes, so kube-scheduler takes any node that fits"
    advice = "" if filters else "it stops its search at the first one"
    path = profile.disabling_path("score", review.default_plugins.multi_point.enabled_names[0])
    yield Finding("no-scores", profile.at(path), message, advice)


def _outvoted_packing(profile: ReviewedProfile) -> Iterator[Finding]:
    """A strategy that packs, where the default constraints of PodTopologySpread count more."""
    arguments = {name: entry.get("args") for _, name, entry in written_entries(profile.document, "pluginConfig")}
    strategy = dig(arguments.get("NodeResourcesFit"), "scoringStrategy")
    spread, pack = (profile.weights.get(name, 0) for name in ("PodTopologySpread", "NodeResourcesFit"))
    if not pack or pack >= _SPREAD_OUTVOTES * spread or not (_packs(strategy) and _spreads(arguments)):
        return
    path = entry_path(profile.document, "pluginConfig", "NodeResourcesFit")
    yield Finding(
        "packing-outvoted",
        profile.at(f"{path}.args.scoringStrategy.type"),
        f"{dig(strategy, 'type')} packs pods with weight {pack}, and PodTopologySpread spreads those of a workload "
        f"with weight {spread}",
        f"to pack, give NodeResourcesFit a weight of at least {_SPREAD_OUTVOTES * spread}, or PodTopologySpread "
        "defaultingType: List without defaultConstraints",
    )


def _packs(strategy: object) -> bool:
    kind, shape = dig(strategy, "type"), dig(strategy, "requestedToCapacityRatio", "shape")
    if kind != "RequestedToCapacityRatio" or not isinstance(shape, list):
        return bool(kind == "MostAllocated")
    points = [(dig(point, "utilization") or 0, dig(point, "score") or 0) for point in shape]
    if not points or not all(isinstance(number, int) for point in points for number in point):
        return False
    return bool(max(points)[1] > min(points)[1])


def _spreads(arguments: Mapping[str, object]) -> bool:
    """Whether PodTopologySpread has default constraints that score."""
    args = arguments.get("PodTopologySpread")
    if dig(args, "defaultingType") != "List":
        return True
    constraints = dig(args, "defaultConstraints")
    return isinstance(constraints, list) and any(
        dig(constraint, "whenUnsatisfiable") == "ScheduleAnyway" for constraint in constraints
    )
