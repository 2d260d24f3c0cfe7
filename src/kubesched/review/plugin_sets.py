"""Advice on which plugins are enabled where."""

from collections.abc import Iterator
from typing import Final

from kubesched.config import Finding, entry_path, written_entries
from kubesched.documents import joined, plural
from kubesched.review.plugin_successors import what_is_meant
from kubesched.review.reviewed import Review, ReviewedProfile

_CONSEQUENCES: Final = {
    "NodeUnschedulable": "pods are placed on cordoned nodes",
    "TaintToleration": "pods are placed on nodes whose taints they do not tolerate",
    "NodeAffinity": "nodeSelector and required node affinity do not count, and the kubelet rejects the pods",
    "NodePorts": "pods are placed on nodes where their host port is taken, and the kubelet rejects them",
    "NodeResourcesFit": "pods are placed on nodes without room for them, and the kubelet rejects them (OutOfcpu)",
    "VolumeRestrictions": "pods share volumes that only one pod may use",
    "NodeVolumeLimits": "pods are placed on nodes that cannot attach another volume, and do not start",
    "VolumeBinding": "pods are placed where their volumes are not available, and claims that wait stay unbound",
    "VolumeZone": "pods are placed outside of the zone of their volumes, and do not start",
    "PodTopologySpread": "DoNotSchedule constraints do not count",
    "InterPodAffinity": "required pod affinity and anti-affinity do not count",
    "DynamicResources": "pods get no devices for their resource claims, nor where a DeviceClass serves them",
}
"""What happens without the filter of a plugin."""

_PREPARED: Final = {
    ("preFilter", "filter"): (
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "VolumeBinding",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    ),
    ("preScore", "score"): ("TaintToleration", "PodTopologySpread", "InterPodAffinity"),
    ("reserve", "preBind"): ("VolumeBinding", "DynamicResources"),
    ("preBind", "filter"): ("VolumeBinding", "DynamicResources"),
}
"""(the point that prepares, the point that needs it) -> the plugins for which this holds.

Rule: kube-scheduler v1.36: these plugins fail with an error if the first point is disabled; without preBind, what their
filters promise is not written.
"""

_WEIGHED: Final = ("score", "multiPoint")


def plugin_set_advice(review: Review) -> Iterator[Finding]:
    """Find what is risky or without effect in the plugin sets of each profile."""
    for profile in review.profiles:
        yield from _disabled_filters(profile, review)
        yield from _preemption(profile, review)
        yield from _half_enabled(profile)
        yield from _bind_order(profile)
        for point in profile.written.plugins.by_point():
            yield from _disabled_entries(profile, point, review)
            yield from _enabled_entries(profile, point, review)


def _disabled_filters(profile: ReviewedProfile, review: Review) -> Iterator[Finding]:
    """One finding for each entry that disables filters, whatever number of plugins it disables."""
    by_path: dict[str, list[str]] = {}
    for name in _CONSEQUENCES:
        if name in review.default_plugins.enabled_names and name not in profile.points["filter"]:
            by_path.setdefault(profile.disabling_path("filter", name), []).append(name)
    for path, names in by_path.items():
        verb = plural(len(names), "does", "do")
        advice = "\n".join(f"without {name}, {_CONSEQUENCES[name]}" for name in names)
        yield Finding("filter-disabled", profile.at(path), f"{joined(names)} {verb} not filter nodes", advice)


def _preemption(profile: ReviewedProfile, review: Review) -> Iterator[Finding]:
    others = set(profile.points["postFilter"]) - {"DynamicResources"}
    if not others and review.points_of("DefaultPreemption") is not None:
        yield Finding(
            "no-preemption",
            profile.at(profile.disabling_path("postFilter", "DefaultPreemption")),
            "no plugin preempts: pods of high priority do not evict others",
            "enable DefaultPreemption at postFilter, or say in a comment why priorities should not preempt",
        )


def _half_enabled(profile: ReviewedProfile) -> Iterator[Finding]:
    reported = set()
    for (first, then), names in _PREPARED.items():
        for name in names:
            if name in profile.points[then] and name not in profile.points[first] and (name, first) not in reported:
                reported.add((name, first))
                path = profile.disabling_path(first, name)
                yield Finding(
                    "half-enabled",
                    profile.at(profile.enabling_path(then, name) if path == "plugins" else path),
                    f"{name} is enabled at {then}, but not at {first}",
                    _consequence(name, first, then),
                )


def _consequence(name: str, first: str, then: str) -> str:
    if first == "preBind":
        return f"{name} chooses nodes for volumes or devices that it never binds; enable it at {first}, too"
    return f"{then} of {name} fails for every pod that needs it; enable it at {first}, or disable it at {then}"


def _bind_order(profile: ReviewedProfile) -> Iterator[Finding]:
    names = profile.points["bind"]
    if "DefaultBinder" in names and (late := names[names.index("DefaultBinder") + 1 :]):
        yield Finding(
            "unreachable-bind",
            profile.at(profile.enabling_path("bind", late[0])),
            f"DefaultBinder binds every pod before bind of {joined(late)} is called",
            "disable DefaultBinder at bind, and enable it again after the other plugin if it should bind the rest",
        )


def _disabled_entries(profile: ReviewedProfile, point: str, review: Review) -> Iterator[Finding]:
    multi_point = profile.written.plugins.multi_point.enabled_names
    plugins = (*review.default_plugins.enabled_names, *profile.written.plugins.enabled_names)
    for path, name, _ in written_entries(profile.document, f"plugins.{point}.disabled"):
        points = review.points_of(name)
        if name == "*":
            continue
        if points is None:
            advice = what_is_meant(name, plugins, profile.enabled_at(point))
            message = f'no plugin has the name "{name}", so nothing is disabled'
            yield Finding("unknown-disabled", profile.at(path), message, advice or "remove the entry")
        elif point == "multiPoint":
            if name not in review.default_plugins.multi_point.enabled_names:
                yield _without_effect(profile, path, f"{name} is not enabled by default")
        elif entry_path(profile.document, f"plugins.{point}.enabled", name):
            continue  # disabled as a default, and enabled in another place or with another weight
        elif points and point not in points:
            extended = ", ".join(sorted(points)) or "no extension point"
            yield _without_effect(profile, path, f"{name} does not extend {point}", f"it extends {extended}")
        elif name not in multi_point:
            yield _without_effect(profile, path, f"{name} is not enabled at multiPoint or {point}")


def _without_effect(profile: ReviewedProfile, path: str, why: str, advice: str = "") -> Finding:
    return Finding("disabled-without-effect", profile.at(path), f"nothing is disabled: {why}", advice)


def _enabled_entries(profile: ReviewedProfile, point: str, review: Review) -> Iterator[Finding]:
    for path, name, entry in written_entries(profile.document, f"plugins.{point}.enabled"):
        points, weight = review.points_of(name), entry.get("weight")
        if points is None:
            continue
        if not isinstance(weight, int) or isinstance(weight, bool):
            continue
        where = profile.at(f"{path}.weight")
        can_score = "score" in points
        if weight == 0 and point in _WEIGHED and can_score:
            advice = f"disable {name} at score if it should not count"
            yield Finding("zero-weight", where, f"a weight of 0 counts as the default weight of {name}, 1", advice)
        elif weight and point not in _WEIGHED:
            yield Finding("unused-weight", where, f"a weight has no effect at {point}; it counts at score", "")
        elif weight and not can_score:
            yield Finding("unused-weight", where, f"{name} does not score nodes, so its weight has no effect")
        elif weight and name not in profile.points["score"]:
            yield Finding("unused-weight", where, f"{name} is disabled at score, so its weight has no effect")
