"""Which plugins of a profile need not be asked about a pod that equals one before in what they read of it."""

from collections.abc import Callable, Hashable, Sequence, Set
from operator import attrgetter
from typing import Final

import msgspec

from kubesched.framework.column_cache import PluginRule
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.hooks import HOOKS, DependsOn
from kubesched.framework.plugin import Plugin
from kubesched.framework.profile import Profile
from kubesched.framework.reads import kinds_read
from kubesched.framework.status import HOOK_FAULTS, Status
from kubesched.state import Nodes

_SKIP: Final = Status.SKIP
_SUCCESS: Final = Status.SUCCESS

_READ_PODS: Final = {
    *(hook for point in ("preFilter", "filter", "preScore", "score") for hook in HOOKS[point]),
    *("filter_part", "score_part", "normalize_score"),
}
_OF_A_POD: Final = ("reserve", "unreserve", "permit", "pre_bind", "bind", "post_bind")
"""Hooks of a plugin that has to do with the pod itself, and may have written what it needs of it."""

PreHook = tuple[str, Callable[..., object]]


class Steps(msgspec.Struct):
    """Some of the plugins of a profile: their PreFilter and PreScore hooks, and their rules."""

    pre_filters: Sequence[PreHook]
    filters: Sequence[PluginRule]
    pre_scores: Sequence[PreHook]
    scores: Sequence[PluginRule]


class Sharing:
    """What plugins say in `equal_by`.

    Args:
        steps: all of the profile.
    Attributes:
        read: the values of a pod in which others are equal to it.
        kinds: of the objects that plugins read to which that is not all.
        has_others: whether some of them are not in-tree, so that parts may name figures that they hold.
        is_possible: whether enough is known of the plugins.
    """

    def __init__(self, profile: Profile, steps: Steps) -> None:
        signed = [plugin for plugin in profile.plugins if _is_signed(plugin)]
        fields = dict.fromkeys(field for plugin in signed for field in plugin.equal_by or ())
        self.read: Callable[[object], Hashable] = attrgetter(*fields) if fields else type
        self.kinds = kinds_read(signed)
        self.steps = steps
        self.has_others = any(not type(plugin).__module__.startswith("kubesched.") for plugin in signed)
        self._signed = {plugin.name for plugin in signed}
        self._further = {plugin.name for plugin in signed if any(map(plugin.defines, _OF_A_POD))}
        self._related = {plugin.name for plugin in signed if not plugin.depends_on.is_of_rows}
        self.is_possible = (
            bool(signed and steps.scores)
            and not 0 < profile.percentage_of_nodes_to_score < 100
            and _may_skip(steps.filters, steps.pre_filters)
            and _may_skip(steps.scores, steps.pre_scores)
        )

    def parted(self, of_pod: CycleState) -> tuple[Steps, Steps]:
        """The plugins that need not be asked about a pod that is equal to one; and those that are asked about each.

        A plugin that skipped, skips again. One with hooks after Score has to do with the pod itself, unless it skipped,
        and one that reads relations between nodes with where the pods are now.
        """
        steps = self.steps
        own = self._related | (self._further - of_pod.skip_filter)
        filters, pre_filters = self._of_shared(steps.filters, steps.pre_filters, of_pod.skip_filter, own)
        scores, pre_scores = self._of_shared(steps.scores, steps.pre_scores, of_pod.skip_score, own)
        shared = Steps(
            pre_filters,
            [rule for rule in filters if rule.name not in of_pod.skip_filter],
            pre_scores,
            [rule for rule in scores if rule.name not in of_pod.skip_score],
        )
        asked = Steps(
            [hook for hook in steps.pre_filters if hook not in pre_filters],
            [rule for rule in steps.filters if rule not in filters],
            [hook for hook in steps.pre_scores if hook not in pre_scores],
            [rule for rule in steps.scores if rule not in scores],
        )
        return shared, asked

    def _of_shared(
        self, rules: Sequence[PluginRule], hooks: Sequence[PreHook], skip: Set[str], own: Set[str]
    ) -> tuple[list[PluginRule], list[PreHook]]:
        """The rules and hooks of the plugins whose answers equal pods share."""
        asked = own | {rule.name for rule in rules if not rule.is_kept}
        names = {name for name in self._signed if name in skip or name not in asked}
        return [rule for rule in rules if rule.name in names], [hook for hook in hooks if hook[0] in names]


def _is_signed(plugin: Plugin) -> bool:
    """Whether `equal_by` was written for the hooks: none comes from a subclass, a mixin or an instance."""
    if plugin.equal_by is None:
        return False
    bases = type(plugin).__mro__
    known = bases[_place_of("equal_by", bases) :]
    return not any(
        hook in vars(plugin) or (plugin.defines(hook) and bases[_place_of(hook, bases)] not in known)
        for hook in _READ_PODS
    )


def _place_of(name: str, bases: Sequence[type]) -> int:
    return next(place for place, base in enumerate(bases) if name in vars(base))


def _may_skip(rules: Sequence[PluginRule], hooks: Sequence[PreHook]) -> bool:
    """Whether no rule is asked about single nodes of every pod."""
    names = {name for name, _ in hooks}
    return all(is_of_columns(rule) or rule.name in names for rule in rules)


def is_of_columns(rule: PluginRule) -> bool:
    """Whether a rule is asked about all rows at once, whatever others say about them."""
    return not rule.is_lifted and rule.depends_on is not DependsOn.ANYTHING


def ask(hooks: Sequence[PreHook], state: CycleState, nodes: Nodes, skip: set[str]) -> bool:
    """Whether PreFilter or PreScore hooks let the pod go on, with all nodes; those that skip are noted."""
    pod = state.pod.pod
    for name, hook in hooks:
        try:
            answer = hook(state, pod, nodes)
        except HOOK_FAULTS as error:
            answer = error
        state._answers[hook] = answer
        if answer is _SKIP:
            skip.add(name)
        elif answer is not _SUCCESS:
            return False
    return True


def parts_of(steps: Steps, state: CycleState) -> list[Hashable]:
    """What the rules read of a pod, as the columns are kept under it."""
    pod = state.pod.pod
    parts = [rule.plugin.filter_part(state, pod) for rule in steps.filters]
    return [*parts, *(rule.plugin.score_part(state, pod) for rule in steps.scores)]
