"""What pods get that are equal to one decided before, on a cluster of which only a few rows have changed since.

A plugin says in `equal_by` what its hooks up to Score read of a pod. Pods of one workload are equal in all of that, so
that these hooks need not be asked again: the verdicts and scores of the pod before are good for the next one, once the
rows that changed are brought up to date. Plugins that look at other rows too, or do not say what they read, are asked
about each pod, and what they answer is added.

Rule: kube-scheduler v1.36 knows the notion as a pod's signature (OpportunisticBatching), and takes nodes for equal pods
from one sorted list. What comes out here is what deciding about each pod alone gives.
"""

from collections.abc import Callable, Collection, Hashable, Sequence, Set
from operator import attrgetter
from typing import Final

import msgspec
import numpy as np

from kubesched.engine import IntVector
from kubesched.framework.column_cache import ColumnCache, KeptColumn, PluginRule
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.hook_answers import as_verdicts
from kubesched.framework.hooks import DependsOn
from kubesched.framework.profile import Profile
from kubesched.framework.reads import kinds_read
from kubesched.framework.rows_ahead import RowsAhead
from kubesched.framework.scores import Scores, score_rule
from kubesched.framework.status import HOOK_FAULTS, PluginFault, Status
from kubesched.framework.verdicts import FilterResult, Rejections, Verdicts
from kubesched.state import ClusterState, Nodes, Rows, Snapshot

_MOST: Final = 16  # workloads whose pods come in turn
_MOST_ROWS: Final = 16  # changed rows; where there are more, the pod is decided as any other
_MOST_IN_VAIN: Final = 8  # pods in a row that what is kept did not help
_SKIP: Final = Status.SKIP
_SUCCESS: Final = Status.SUCCESS
_FAULTS: Final = (*HOOK_FAULTS, PluginFault)

PreHook = tuple[str, Callable[..., object]]
_Kept = tuple[PluginRule, KeptColumn]


class _Steps(msgspec.Struct):
    """Some of the plugins of a profile."""

    pre_filters: list[PreHook]
    filters: list[PluginRule]
    pre_scores: list[PreHook]
    scores: list[PluginRule]


class EqualPod(msgspec.Struct, eq=False):
    """What is known of pods that are equal in what plugins read of them; without the plugins that are asked about each.

    Attributes:
        nodes: all nodes, of which it is true.
        generation, of_nodes, of_kinds: when it was true: generations of the changes of rows, of nodes, and of the kinds
            of objects that plugins read.
        state: what the hooks that are not asked again leave in the state of a cycle.
        filters: those that took part.
        row_filters, row_scores: those whose columns change with rows.
        shared, asked: the plugins whose answers such pods share, and those that are asked about each.
        parts: what the rules of the former read of the pod.
        scores: of the nodes that these filters leave, as far as they do not depend on which these are.
        without_asked: the same where the plugins that are asked each time skip.
        of_others: the rules whose scores do: those of the best node become 100.
        position_of: (rows,) the positions of rows in `scores`; -1 for nodes that do not fit.
        ahead: the rows with further such pods.
        uid: of the pod that was decided last.
        n_in_vain: how many pods in a row were decided as any other all the same.
    """

    nodes: Nodes
    generation: int
    of_nodes: int
    of_kinds: tuple[int, ...]
    state: CycleState
    filters: list[_Kept]
    row_filters: list[_Kept]
    row_scores: list[_Kept]
    shared: _Steps
    asked: _Steps
    parts: list[Hashable]
    scores: Scores
    without_asked: Scores
    of_others: list[PluginRule]
    position_of: IntVector
    ahead: RowsAhead
    uid: str
    n_in_vain: int = 0


class EqualPods:
    """The pods of one profile that were decided last, by what plugins read of them.

    Args:
        pre_filters, filters, pre_scores, scores: what the profile asks.
    Attributes:
        is_possible: whether enough is known of the plugins of the profile.
    """

    def __init__(
        self,
        cluster_state: ClusterState,
        cache: ColumnCache,
        profile: Profile,
        pre_filters: Sequence[PreHook],
        filters: Sequence[PluginRule],
        pre_scores: Sequence[PreHook],
        scores: Sequence[PluginRule],
    ) -> None:
        signed = [plugin for plugin in profile.plugins if plugin.equal_by is not None]
        fields = dict.fromkeys(field for plugin in signed for field in plugin.equal_by or ())
        self._read: Callable[[object], Hashable] = attrgetter(*fields) if fields else type
        self._signed = {plugin.name for plugin in signed}
        self._reserving = {plugin.name for plugin in signed if plugin.defines("reserve")}
        self._kinds = kinds_read(signed)
        self._objects = cluster_state.objects
        self._cache = cache
        self._columns = columns = cluster_state.columns
        self._row_log, self._node_log = columns.row_log, columns.node_log
        self._pre_filters, self._filters = pre_filters, filters
        self._pre_scores, self._scores = pre_scores, scores
        self.is_possible = bool(signed) and bool(scores) and not 0 < profile.percentage_of_nodes_to_score < 100
        self.is_possible &= _may_skip(filters, pre_filters) and _may_skip(scores, pre_scores)
        self._kept: dict[Hashable, EqualPod | None] = {}  # None: such a pod was decided once
        self._key: Hashable = None  # of the pod that was asked about last
        self._rejected: dict[str, Verdicts] = {}  # by the plugins that were asked about it
        if self.is_possible:
            cache.drop_with_columns(self)

    def __len__(self) -> int:
        return len(self._kept)

    def forget(self) -> None:
        """Drop what is known of pods."""
        self._kept.clear()
        self._key = None
        self._rejected.clear()

    # --- a further pod ---

    def scores(self, state: CycleState, snapshot: Snapshot) -> Scores | None:
        """The scores of the nodes that fit a pod, if an equal one was decided before.

        Args:
            state: of the pod's cycle; gets what hooks would leave in it, and what they have answered.
        Returns: good until the next pod is asked about; None where the pod has to be decided as any other.
        """
        self._key = key = self._read(state.pod)
        equal = self._kept.get(key)
        if equal is None or equal.n_in_vain == _MOST_IN_VAIN:
            return None
        if equal.nodes is not snapshot.nodes or equal.of_nodes != self._node_log.generation:
            self._kept[key] = None
            return None
        if self._kinds and equal.of_kinds != self._generations() and not self._is_still_true(equal, state):
            self._kept[key] = None
            return None
        state._data.update(equal.state._data)
        state.skip_filter = equal.state.skip_filter.copy()
        scores = self._further(equal, state)
        if scores is None:
            equal.n_in_vain += 1
            _withdraw(state, equal.state)
        else:
            equal.n_in_vain = 0
        equal.uid = state.pod.pod.metadata.uid
        return scores

    def _further(self, equal: EqualPod, state: CycleState) -> Scores | None:
        if not _ask(equal.asked.pre_filters, state, equal.nodes, state.skip_filter):
            return None
        if equal.generation != self._row_log.generation and not self._update(equal, state):
            self._kept[self._key] = None
            return None
        try:
            return self._completed(equal, state)
        except _FAULTS:
            return None

    def _is_still_true(self, equal: EqualPod, of_pod: CycleState) -> bool:
        """Whether the plugins would say what they said although objects have changed that some of them read."""
        state, shared = CycleState(of_pod.pod), equal.shared
        try:
            if not _ask(shared.pre_filters, state, equal.nodes, state.skip_filter):
                return False
            if not _ask(shared.pre_scores, state, equal.scores.nodes, state.skip_score):
                return False
            if not _skip_alike(state, equal.state) or _parts(shared, state) != equal.parts:
                return False
        except HOOK_FAULTS:
            return False
        equal.state, equal.of_kinds = state, self._generations()
        return True

    def _generations(self) -> tuple[int, ...]:
        return tuple(map(self._objects.generation, self._kinds))

    # --- what is asked about each pod ---

    def _completed(self, equal: EqualPod, state: CycleState) -> Scores | None:
        """The scores, with those of the plugins that are asked each time."""
        positions = self._left_by_asked(equal, state)
        if positions is not None and len(positions) < 2:
            return None
        scores = equal.scores if positions is None else equal.scores.select(positions)
        skip = state.skip_score = equal.state.skip_score.copy()
        if not _ask(equal.asked.pre_scores, state, scores.nodes, skip):
            return None
        rules = [rule for rule in (*equal.of_others, *equal.asked.scores) if rule.name not in skip]
        if not rules and positions is None:
            return equal.without_asked
        if not all(map(_is_of_columns, rules)):
            return None
        return self._with_scores_of(rules, scores, state, skip)

    def _with_scores_of(self, rules: Sequence[PluginRule], scores: Scores, state: CycleState, skip: Set[str]) -> Scores:
        """The scores with those of further rules, which have their places."""
        by_plugin = {name: one for name, one in scores.by_plugin.items() if name not in skip}
        varying, shared = scores.varying, scores.shared
        for rule in rules:
            one = rule.weight * score_rule(rule, self._cache, state, state.pod.pod, scores.nodes, is_whole=True)
            by_plugin[rule.name] = one
            if isinstance(one, int):
                shared += one
            else:
                varying = varying + one
        return Scores(scores.nodes, by_plugin, varying, shared)

    def _left_by_asked(self, equal: EqualPod, state: CycleState) -> Rows | None:
        """The positions in `equal.scores` that the filters leave that are asked each time; None for all.

        Raises:
            PluginFault: the pod has to be decided as any other.
        """
        fits, nodes, pod = None, equal.nodes, state.pod.pod
        self._rejected.clear()
        for rule in equal.asked.filters:
            if rule.name in state.skip_filter:
                continue
            if not _is_of_columns(rule):
                raise PluginFault(_SKIP)
            if rule.is_kept:
                column = self._cache.verdicts(rule, state, pod)
                verdicts = _verdicts(column, nodes)
            else:
                verdicts = as_verdicts(rule.plugin, rule.plugin.filter_nodes(state, pod, nodes), nodes.n)
                verdicts.check()
            if verdicts.may_fail:
                raise PluginFault(_SKIP)
            if verdicts.values.any():
                self._rejected[rule.name] = verdicts
                fits = verdicts.values == 0 if fits is None else fits & (verdicts.values == 0)
        if fits is None:
            return None
        if equal.scores.nodes is not nodes:
            fits = fits[equal.position_of.take(nodes.all_rows) >= 0]
        return np.flatnonzero(fits)

    def result(self) -> FilterResult:
        """What the filters say about the pod that `scores` was asked about last, and had scores for."""
        equal = self._kept[self._key]
        assert equal is not None
        rejected = {rule.name: _verdicts(column, equal.nodes) for rule, column in equal.filters if column.n_rejected}
        rejected |= self._rejected
        return FilterResult(
            equal.nodes, [Rejections(rule.name, rejected[rule.name]) for rule in self._filters if rule.name in rejected]
        )

    # --- bringing up to date ---

    def _update(self, equal: EqualPod, state: CycleState) -> bool:
        """Bring what is known up to date; false where that is not done here: more nodes fit, or a rule failed."""
        rows = self._row_log.since(equal.generation)
        if rows is None or len(rows) > _MOST_ROWS:
            return False
        try:
            if not self._took_ahead(equal, rows):
                update, pod = self._cache.update, state.pod.pod
                for rule, column in (*equal.row_filters, *equal.row_scores):
                    if not update(column, rule, state, pod):
                        return False
        except HOOK_FAULTS:
            return False
        return self._take_in(equal, rows)

    def _took_ahead(self, equal: EqualPod, rows: Sequence[int]) -> bool:
        """Whether nothing has changed but that the pod before is on its node, which was looked at in advance."""
        row, before, now = rows[0], equal.generation, self._row_log.generation
        columns = [column for _, column in (*equal.row_filters, *equal.row_scores)]
        pods = self._columns.pods[row]
        is_own = now == before + 1 and bool(pods) and pods[-1].pod.metadata.uid == equal.uid
        if not is_own or any(column.generation != before for column in columns):
            equal.ahead.changed(rows)
            return False
        if not equal.ahead.take(row, columns):
            return False
        for column in columns:
            column.generation = now
        return True

    def _take_in(self, equal: EqualPod, rows: Sequence[int]) -> bool:
        """Let the scores be those of the columns in some rows."""
        if any(column.may_fail for _, column in equal.row_filters):
            return False
        if not all(column.in_range for _, column in equal.row_scores):
            return False
        for row in rows:
            position = equal.position_of.item(row)
            filters = equal.row_filters if position >= 0 else equal.filters
            fits = all(column.values.item(row) == 0 for _, column in filters)
            if position < 0:
                if fits:
                    return False
            elif fits:
                _set_scores(equal, row, position)
            elif not _take_out(equal, position):
                return False
        equal.generation = self._row_log.generation
        return True

    # --- the pod before ---

    def keep(self, state: CycleState, snapshot: Snapshot) -> None:
        """Note that a pod was decided as any other, for pods that are equal to it.

        Args:
            state: of its cycle.
        """
        key = self._read(state.pod)
        if key not in self._kept:  # the first one: there may be no other
            if len(self._kept) >= _MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = None
        elif self._kept[key] is None:
            self._kept[key] = self._found(state, snapshot)

    def _found(self, of_pod: CycleState, snapshot: Snapshot) -> EqualPod | None:
        cache, pod, nodes = self._cache, of_pod.pod.pod, snapshot.nodes
        shared, asked = self._parted(of_pod)
        state = CycleState(of_pod.pod)
        if not _ask(shared.pre_filters, state, nodes, state.skip_filter):
            return None
        filters = [(rule, cache.verdicts(rule, state, pod)) for rule in shared.filters]
        if any(column.may_fail for _, column in filters):
            return None
        fits = np.ones(nodes.n, dtype=np.bool_)
        for _, column in filters:
            fits &= nodes.take(column.values) == 0
        feasible = nodes if fits.all() else nodes.select(np.flatnonzero(fits))
        if feasible.n < 2 or not _ask(shared.pre_scores, state, feasible, state.skip_score):
            return None
        scores, of_others = self._scores_of(shared.scores, asked.scores, state, feasible)
        row_filters = [kept for kept in filters if kept[0].depends_on is DependsOn.ROW]
        row_scores = [
            (rule, cache.scores(rule, state, pod))
            for rule in shared.scores
            if rule.depends_on is DependsOn.ROW and not isinstance(scores.by_plugin[rule.name], int)
        ]
        position_of = np.full(snapshot.columns.capacity, -1, dtype=np.int64)
        position_of[feasible.all_rows] = np.arange(feasible.n)
        return EqualPod(
            nodes,
            self._row_log.generation,
            self._node_log.generation,
            self._generations(),
            state,
            filters,
            row_filters,
            row_scores,
            shared,
            asked,
            _parts(shared, state),
            scores,
            _without_asked(scores, asked),
            of_others,
            position_of,
            RowsAhead([rule for rule, _ in (*row_filters, *row_scores)], state, nodes),
            pod.metadata.uid,
        )

    def _parted(self, of_pod: CycleState) -> tuple[_Steps, _Steps]:
        """The plugins that need not be asked about a pod that is equal to one; and those that are asked about each.

        A plugin that skipped, skips again. One that reserves has to do with the pod itself, unless it skipped.
        """
        own = self._reserving - of_pod.skip_filter
        filters, pre_filters = self._of_shared(self._filters, self._pre_filters, of_pod.skip_filter, own)
        scores, pre_scores = self._of_shared(self._scores, self._pre_scores, of_pod.skip_score, own)
        shared = _Steps(
            pre_filters,
            [rule for rule in filters if rule.name not in of_pod.skip_filter],
            pre_scores,
            [rule for rule in scores if rule.name not in of_pod.skip_score],
        )
        asked = _Steps(
            [hook for hook in self._pre_filters if hook not in pre_filters],
            [rule for rule in self._filters if rule not in filters],
            [hook for hook in self._pre_scores if hook not in pre_scores],
            [rule for rule in self._scores if rule not in scores],
        )
        return shared, asked

    def _of_shared(
        self, rules: Sequence[PluginRule], hooks: Sequence[PreHook], skip: Set[str], own: Set[str]
    ) -> tuple[list[PluginRule], list[PreHook]]:
        """The rules and hooks of the plugins whose answers equal pods share."""
        asked = own | {rule.name for rule in rules if not rule.is_kept}
        names = {name for name in self._signed if name in skip or name not in asked}
        return [rule for rule in rules if rule.name in names], [hook for hook in hooks if hook[0] in names]

    def _scores_of(
        self, rules: Collection[PluginRule], asked: Collection[PluginRule], state: CycleState, feasible: Nodes
    ) -> tuple[Scores, list[PluginRule]]:
        """The scores that do not depend on which nodes fit, with a place for the others, and the rules of these."""
        scores, of_others = Scores(feasible, {}, np.zeros(feasible.n, dtype=np.int64), 0), []
        for rule in self._scores:
            if rule in rules:
                score = rule.weight * score_rule(rule, self._cache, state, state.pod.pod, feasible, is_whole=True)
                if isinstance(score, int):
                    scores.by_plugin[rule.name] = score
                    scores.shared += score
                elif rule.has_normalize:
                    scores.by_plugin[rule.name] = 0
                    of_others.append(rule)
                else:
                    scores.by_plugin[rule.name] = score  # never a view of the column
                    scores.varying += score
            elif rule in asked:
                scores.by_plugin[rule.name] = 0
        return scores, of_others


def _may_skip(rules: Sequence[PluginRule], hooks: Sequence[PreHook]) -> bool:
    """Whether no rule is asked about single nodes of every pod."""
    names = {name for name, _ in hooks}
    return all(_is_of_columns(rule) or rule.name in names for rule in rules)


def _is_of_columns(rule: PluginRule) -> bool:
    """Whether a rule is asked about all rows at once, whatever others say about them."""
    return not rule.is_lifted and rule.depends_on is not DependsOn.ANYTHING


def _parted(hooks: Sequence[PreHook], signed: Collection[str]) -> tuple[list[PreHook], list[PreHook]]:
    """The hooks that equal pods share, and those that are asked about each."""
    return [hook for hook in hooks if hook[0] in signed], [hook for hook in hooks if hook[0] not in signed]


def _parted_rules(rules: Sequence[PluginRule], signed: Collection[str]) -> tuple[list[PluginRule], list[PluginRule]]:
    is_shared = [rule.is_kept and rule.name in signed for rule in rules]
    return (
        [rule for rule, shared in zip(rules, is_shared, strict=True) if shared],
        [rule for rule, shared in zip(rules, is_shared, strict=True) if not shared],
    )


def _ask(hooks: Sequence[PreHook], state: CycleState, nodes: Nodes, skip: set[str]) -> bool:
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


def _verdicts(column: KeptColumn, nodes: Nodes) -> Verdicts:
    verdicts = Verdicts(nodes.take(column.values), column.status or ())
    verdicts.may_fail = column.may_fail
    return verdicts


def _skip_alike(state: CycleState, other: CycleState) -> bool:
    return state.skip_filter == other.skip_filter and state.skip_score == other.skip_score


def _parts(steps: _Steps, state: CycleState) -> list[Hashable]:
    """What the rules read of a pod, as the columns are kept under it."""
    pod = state.pod.pod
    parts = [rule.plugin.filter_part(state, pod) for rule in steps.filters]
    return [*parts, *(rule.plugin.score_part(state, pod) for rule in steps.scores)]


def _withdraw(state: CycleState, shared: CycleState) -> None:
    """Leave in a state what hooks wrote that were asked about its pod, and nothing else."""
    for kind, data in shared._data.items():
        if state._data.get(kind) is data:
            del state._data[kind]
    state.skip_filter, state.skip_score = set(), set()


def _set_scores(equal: EqualPod, row: int, position: int) -> None:
    scores = equal.scores
    for rule, column in equal.row_scores:
        known = scores.by_plugin[rule.name]
        assert not isinstance(known, int)
        score = rule.weight * column.values.item(row)
        scores.varying[position] += score - known.item(position)
        known[position] = score


def _take_out(equal: EqualPod, position: int) -> bool:
    """Take out a node that the pod does not fit any more; false where one would be left, which gets no score."""
    scores = equal.scores
    if scores.nodes.n <= 2:
        return False
    equal.position_of[scores.nodes.row(position)] = -1
    equal.scores = left = scores.select(np.delete(np.arange(scores.nodes.n), position))
    equal.position_of[left.nodes.all_rows] = np.arange(left.nodes.n)
    equal.without_asked = _without_asked(left, equal.asked)
    return True


def _without_asked(scores: Scores, asked: _Steps) -> Scores:
    """The scores where the plugins that are asked each time skip; they change with those that are given."""
    names = {rule.name for rule in asked.scores}
    by_plugin = {name: one for name, one in scores.by_plugin.items() if name not in names}
    return Scores(scores.nodes, by_plugin, scores.varying, scores.shared)
