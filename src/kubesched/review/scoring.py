"""Advice on scores, weights, and the number of scored nodes."""

from collections.abc import Iterator
from typing import Final

from kubesched.config import DEFAULT_PLUGINS, Finding, dig
from kubesched.review.reviewed import Review, ReviewedProfile

_DOMINANT: Final = 5
"""With five times the weight of all others together, 20 of 100 points outweigh everything else."""

_LEAST_PERCENTAGE: Final = 5
"""kube-scheduler's own choice is never lower: max(5, 50 - nodes / 125)."""


def scoring_advice(review: Review) -> Iterator[Finding]:
    """Find weights and percentages without the effect that they seem to have."""
    yield from _percentages(review)
    for profile in review.profiles:
        yield from _dominant_weights(profile, review)
        yield from _no_scores(profile, review)


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
    path = profile.disabling_path("score", DEFAULT_PLUGINS.multi_point.enabled_names[0])
    yield Finding("no-scores", profile.at(path), message, advice)
