"""Which plugins of a profile need not be asked about a pod that equals one before in what they read of it."""

from collections.abc import Callable, Hashable, Iterable, Sequence, Set
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

_SWITCHED_OFF: Final = ("OpportunisticBatching", False)
_MOST_WEIGHT: Final = 2**24  # of all plugins that score, so that totals have 31 bits
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

    @property
    def of_filters(self) -> set[str]:
        """The plugins with PreFilter or Filter."""
        return {name for name, _ in self.pre_filters} | {rule.name for rule in self.filters}

    @property
    def of_scores(self) -> set[str]:
        """The plugins with PreScore or Score."""
        return {name for name, _ in self.pre_scores} | {rule.name for rule in self.scores}


class Sharing:
    """What plugins say in `equal_by`.

    Args:
        steps: all of the profile.
    Attributes:
        read: the values of a pod in which others are equal to it. Those that plugins name which read relations between
            nodes are not among them.
        kinds: of the objects that plugins read to which that is not all.
        has_others: whether some of them are not in-tree, so that parts may name figures that they hold.
        is_possible: whether enough is known of the plugins.
    """

    def __init__(self, profile: Profile, steps: Steps) -> None:
        known = [plugin for plugin in profile.plugins if _is_signed(plugin)]
        signed = [plugin for plugin in known if plugin.depends_on.is_of_rows]
        self._fields_of = {plugin.name: plugin.equal_by or () for plugin in known}
        self.read = self._reader({plugin.name for plugin in signed})
        self.kinds = kinds_read(signed)
        self.steps = steps
        self.has_others = any(not type(plugin).__module__.startswith("kubesched.") for plugin in signed)
        self._signed = {plugin.name for plugin in signed}
        self._further = {plugin.name for plugin in signed if _is_of_a_pod(plugin)}
        self.is_possible = (
            bool(signed and steps.scores)
            and _SWITCHED_OFF not in profile.release.gates
            and sum(rule.weight for rule in steps.scores) < _MOST_WEIGHT
            and not 0 < profile.percentage_of_nodes_to_score < 100
            and _may_skip(steps.filters, steps.pre_filters)
            and _may_skip(steps.scores, steps.pre_scores)
        )

    def _reader(self, names: Iterable[str]) -> Callable[[object], Hashable]:
        """What reads the values of a pod that some plugins name."""
        fields = dict.fromkeys(field for name in sorted(names) for field in self._fields_of[name])
        return attrgetter(*fields) if fields else type

    def skip_reader(self, asked: Steps) -> Callable[[object], Hashable] | None:
        """What reads the values in which pods are equal that all of some plugins skip; None where one names none."""
        names = asked.of_filters | asked.of_scores
        return self._reader(names) if names <= self._fields_of.keys() else None

    def parted(self, of_pod: CycleState) -> tuple[Steps, Steps]:
        """The plugins that need not be asked about a pod that is equal to one; and those that are asked about each.

        A plugin that skipped, skips again. One with hooks after Score has to do with the pod itself, unless it skipped,
        and one that reads relations between nodes with where the pods are now.
        """
        steps = self.steps
        own = self._further - of_pod.skip_filter
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


def _is_of_a_pod(plugin: Plugin) -> bool:
    """Whether a plugin that does not skip a pod has to be asked about it, although others are equal to it."""
    return plugin.depends_on is DependsOn.DEVICES or any(map(plugin.defines, _OF_A_POD))


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
