"""What a configuration may have since when: the only place of the configuration that knows versions by number.

Rule: kube-scheduler v1.33.13, v1.34.4, v1.35.4, v1.36.3 and v1.37.2, recorded in tests/golden/versions.
"""

from collections.abc import Mapping
from typing import Final

from kubesched.release import Release

_FIELDS: Final = {"bindingTimeout": 35, "placementGenerate": 36, "placementScore": 36, "podGroupPostFilter": 37}
"""Fields of the configuration and of in-tree arguments; no name is that of another field."""

_ARGUMENTS: Final = {"DynamicResources": 34}
"""In-tree plugins whose arguments had no kind, so that they were ignored."""

_POINTS: Final[Mapping[str, Mapping[str, tuple[int, ...]]]] = {
    "DefaultPreemption": {"podGroupPostFilter": (37,)},
    "DynamicResources": {"podGroupPostFilter": (37,)},
    "GangScheduling": {"permit": (35, 36, 37), "preEnqueue": (35, 36, 37), "reserve": (35,)},
    "NodeName": {"preFilter": (37,)},
    "NodeResourcesFit": {"placementScore": (36, 37)},
    "NodeUnschedulable": {"preFilter": (37,)},
    "PodGroupPodsCount": {"placementScore": (36, 37)},
    "TaintToleration": {"preFilter": (37,)},
    "TopologyPlacementGenerator": {"placementGenerate": (36, 37)},
}
"""Plugin -> extension point -> the versions where a configuration may name it there; nothing here calls it."""

_JSON_IN_MESSAGES: Final = 34


def later_fields(release: Release) -> Mapping[str, int]:
    """The fields that a version does not know yet, and the minor version that has them first."""
    return {name: minor for name, minor in _FIELDS.items() if release.before(minor)}


def ignores_arguments(plugin: str, release: Release) -> bool:
    """Whether a version takes anything as the arguments of an in-tree plugin, and ignores it."""
    return release.before(_ARGUMENTS.get(plugin, 0))


def points_without_hook(plugin: str, release: Release) -> frozenset[str]:
    """The extension points that a version's plugin of this name has, and where nothing is to be done here."""
    return frozenset(point for point, minors in _POINTS.get(plugin, {}).items() if release.minor in minors)


def shows_go_values(release: Release) -> bool:
    """Whether messages show values in Go's syntax, and not as JSON."""
    return release.before(_JSON_IN_MESSAGES)
