"""Plugins that say where a rule of the version decides about a pod."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kubesched.api import Pod
from kubesched.framework import CycleState, Plugin
from kubesched.release import Release, feature_gate, first_with, minors_with


class RuleOfVersion(NamedTuple):
    """A rule that decides about a pod and is another one in other versions.

    Attributes:
        text: what it does, and since or until which version.
        may_fit_later: whether a later version may have nodes for the pod that it rejects.
    """

    text: str
    may_fit_later: bool = False


VersionRules = Callable[[CycleState, Pod], Iterator[RuleOfVersion]]


def gate_is_off(release: Release, gate: str, text: str) -> RuleOfVersion:
    """A rule that is in force because a gate is off; a later version, in which it is on by default, may have nodes."""
    since, is_known = first_with(gate), feature_gate(gate, release.minor) is not None
    if not since:
        exists = f"exists since v1.{minors_with(gate)[0]}"
        why = f"the feature gate {gate} is off; it {exists}" if is_known else f"the feature gate {gate} {exists}"
        return RuleOfVersion(f"{release.version} {text}: {why}")
    is_later = release.before(since)
    ways = [f"v1.{since}"] if is_later else []
    if is_known:
        ways.append(f"the feature gate {gate}")
    return RuleOfVersion(f"{release.version} {text}; that needs {' or '.join(ways)}", may_fit_later=is_later)


def rules_of_versions(plugin: Plugin, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
    """The rules that decide about a pod and are others in other versions: what the method `version_rules` yields."""
    rules: VersionRules | None = getattr(plugin, "version_rules", None)
    return rules(state, pod) if rules is not None else iter(())
