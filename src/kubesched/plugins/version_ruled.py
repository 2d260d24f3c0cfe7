"""Plugins that say where a rule of the version decides about a pod."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol, runtime_checkable

from kubesched.api import Pod
from kubesched.framework import CycleState


class RuleOfVersion(NamedTuple):
    """A rule that decides about a pod and is another one in other versions.

    Attributes:
        text: what it does, and since or until which version.
        may_fit_later: whether a later version may have nodes for the pod that it rejects.
    """

    text: str
    may_fit_later: bool = False


@runtime_checkable
class VersionRuled(Protocol):
    """A plugin whose rules are not the same in all versions of Kubernetes."""

    def version_rules(self, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
        """The rules that decide about the pod and are others in other versions."""
        ...
