"""What pods get that are equal to one decided before, on a cluster of which only a few rows have changed since.

A plugin says in `equal_by` what its hooks up to Score read of a pod. Pods of one workload are equal in all of that, so
that these hooks need not be asked again: the verdicts and scores of the pod before are good for the next one, once the
rows that changed are brought up to date. Plugins that look at other rows too, or do not say what they read, are asked
about each pod, and what they answer is added.

Rule: kube-scheduler v1.36 knows the notion as a pod's signature (OpportunisticBatching), and takes nodes for equal pods
from one sorted list. What comes out here is what deciding about each pod alone gives.
"""

from collections.abc import Callable, Hashable, Sequence, Set
from contextlib import suppress
from typing import Final

import numpy as np

from kubesched.framework.column_cache import ColumnCache, KeptColumn, PluginRule
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.equal_pod import EqualPod, equal_pod
from kubesched.framework.hook_answers import as_verdicts
from kubesched.framework.profile import Profile
from kubesched.framework.scores import Scores, score_rule
from kubesched.framework.sharing import Sharing, Steps, ask, is_of_columns, parts_of
from kubesched.framework.status import HOOK_FAULTS, PluginFault, Status
from kubesched.framework.verdicts import FilterResult, Rejections, Verdicts
from kubesched.state import ClusterState, Nodes, Rows, Snapshot

_MOST: Final = 16  # workloads whose pods come in turn
_MOST_ROWS: Final = 16  # changed rows; where there are more, the pod is decided as any other
_MOST_UNUSED: Final = 8  # pods in a row for which what is kept was of no use
_SKIP: Final = Status.SKIP
_FAULTS: Final = (*HOOK_FAULTS, PluginFault)


class EqualPods:
    """The pods of one profile that were decided last, by what plugins read of them.

    Args:
        steps: what the profile asks.
        with_nominated: what rejects nodes with the pods that are nominated there.
    Attributes:
        is_possible: whether enough is known of the plugins of the profile.
    """

    def __init__(
        self,
        cluster_state: ClusterState,
        cache: ColumnCache,
        profile: Profile,
        steps: Steps,
        with_nominated: Callable[..., list[Rejections] | None],
    ) -> None:
        self._sharing = Sharing(profile, steps)
        self._facts = cluster_state
        self._cache = cache
        self._columns = columns = cluster_state.columns
        self._row_log, self._node_log = columns.row_log, columns.node_log
        self.is_possible = self._sharing.is_possible
        self._kept: dict[Hashable, EqualPod | None] = {}  # None: such a pod was decided once
        self._key: Hashable = None  # of the pod that was asked about last
        self._asked: CycleState | None = None  # its state
        self._rejected: dict[str, Verdicts] = {}  # by the plugins that were asked about it
        self._with_nominated = with_nominated
        self._beside_nominated: list[Rejections] = []  # of it
        if self.is_possible:
            cache.drop_with_columns(self)

    def __len__(self) -> int:
        return len(self._kept)

    def forget(self) -> None:
        """Drop what is known of pods."""
        self._kept.clear()
        self._key = self._asked = None
        self._rejected.clear()
        self._beside_nominated = []

    def _key_of(self, state: CycleState) -> Hashable:
        """What plugins read of a pod; None where `equal_by` has what a pod lacks or what cannot be a key."""
        try:
            key = self._sharing.read(state.pod)
            hash(key)
        except (AttributeError, TypeError):
            self.is_possible = False
            return None
        return key

    # --- a further pod ---

    def scores(self, state: CycleState, snapshot: Snapshot) -> Scores | None:
        """The scores of the nodes that fit a pod, if an equal one was decided before.

        Args:
            state: of the pod's cycle; gets what hooks would leave in it, and what they have answered.
        Returns: good until the next pod is asked about; None where the pod has to be decided as any other.
        """
        self._asked, self._key = state, self._key_of(state)
        key = self._key
        equal = self._kept.get(key)
        if equal is None:
            return None
        if equal.nodes is not snapshot.nodes or equal.of_nodes != self._node_log.generation:
            self._kept[key] = None
            return None
        if equal.n_unused == _MOST_UNUSED:
            return None
        if equal.of_objects != self._facts.objects.n_changes and not self._is_still_true(equal, state):
            self._kept[key] = None
            return None
        state._data.update(equal.state._data)
        state.skip_filter = equal.state.skip_filter.copy()
        scores = self._further(equal, state)
        if scores is None:
            equal.n_unused += 1
            _withdraw(state, equal)
        else:
            equal.n_unused = 0
        equal.uid = state.pod.pod.metadata.uid
        return scores

    def _further(self, equal: EqualPod, state: CycleState) -> Scores | None:
        try:
            skipped = self._skipped(equal, state)
            if skipped is not None and skipped == equal.skipped:
                state.skip_filter |= equal.asked_skip_filter
                state._data.update(equal.asked_data)
            elif not ask(equal.asked.pre_filters, state, equal.nodes, state.skip_filter):
                return None
            if self._sharing.has_others and parts_of(equal.shared, state) != equal.parts:
                is_true = False
            else:
                is_true = equal.generation == self._row_log.generation or self._update(equal, state)
            if is_true:
                return self._completed(equal, state, skipped)
            self._kept[self._key] = None
        except _FAULTS:
            pass
        return None

    def _skipped(self, equal: EqualPod, state: CycleState) -> Hashable:
        """By what the plugins skip that are asked about each pod: what they name, and when; None where that is open."""
        if equal.read_skips is None:
            return None
        facts = self._facts
        return equal.read_skips(state.pod), facts.objects.n_changes, facts.n_relations

    def _is_still_true(self, equal: EqualPod, of_pod: CycleState) -> bool:
        """Whether the plugins would say what they said although objects have changed that some of them may read."""
        of_kinds, equal.of_objects = self._generations(), self._facts.objects.n_changes
        if equal.of_kinds == of_kinds:
            return True
        state, shared = CycleState(of_pod.pod), equal.shared
        try:
            if not ask(shared.pre_filters, state, equal.nodes, state.skip_filter):
                return False
            if not ask(shared.pre_scores, state, equal.scores.nodes, state.skip_score):
                return False
            if not _skip_alike(state, equal.state) or parts_of(shared, state) != equal.parts:
                return False
        except HOOK_FAULTS:
            return False
        equal.state, equal.of_kinds = state, of_kinds
        return True

    def _generations(self) -> tuple[int, ...]:
        return tuple(map(self._facts.objects.generation, self._sharing.kinds))

    # --- what is asked about each pod ---

    def _completed(self, equal: EqualPod, state: CycleState, skipped: Hashable) -> Scores | None:
        """The scores, with those of the plugins that are asked each time.

        Args:
            skipped: by what these skip.
        """
        asked = equal.asked
        does_skip = skipped is not None and skipped == equal.skipped
        positions = self._left_by_asked(equal, () if does_skip else asked.filters, state)
        if positions is not None and len(positions) < 2:
            return None
        scores = equal.scores if positions is None else equal.scores.select(positions)
        skip = state.skip_score = equal.state.skip_score.copy()
        if does_skip:
            skip |= equal.asked_skip_score
            rules = equal.of_others
        else:
            if not ask(asked.pre_scores, state, scores.nodes, skip):
                return None
            rules = [rule for rule in (*equal.of_others, *asked.scores) if rule.name not in skip]
            do_all = equal.asked_skip_filter <= state.skip_filter and equal.asked_skip_score <= skip
            equal.skipped, equal.asked_data = (skipped, state._data.copy()) if do_all else (None, {})
        if not rules and positions is None:
            return equal.without_asked
        if not all(map(is_of_columns, rules)):
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

    def _left_by_asked(self, equal: EqualPod, filters: Sequence[PluginRule], state: CycleState) -> Rows | None:
        """The positions in `equal.scores` that are left by filters, and with the pods nominated to them; None for all.

        Args:
            filters: those that are asked each time.
        Raises:
            PluginFault: the pod has to be decided as any other.
        """
        nodes, pod = equal.nodes, state.pod.pod
        self._rejected.clear()
        for rule in filters:
            if rule.name in state.skip_filter:
                continue
            if not is_of_columns(rule):
                raise PluginFault(_SKIP)
            if rule.is_kept:
                column = self._cache.verdicts(rule, state, pod)
                verdicts = _verdicts(column, nodes)
            else:
                verdicts = as_verdicts(rule.plugin, rule.plugin.filter_nodes(state, pod, nodes), nodes.n)
            if not np.count_nonzero(verdicts.values):
                continue
            verdicts.check()
            if verdicts.may_fail:
                raise PluginFault(_SKIP)
            self._rejected[rule.name] = verdicts
        self._beside_nominated = self._with_nominated(state, pod, nodes, is_whole=True) or []
        if any(one.verdicts.may_fail for one in self._beside_nominated):
            raise PluginFault(_SKIP)
        fits = None
        for verdicts in (*self._rejected.values(), *(one.verdicts for one in self._beside_nominated)):
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
            equal.nodes,
            [
                *self._beside_nominated,
                *(
                    Rejections(rule.name, rejected[rule.name])
                    for rule in self._sharing.steps.filters
                    if rule.name in rejected
                ),
            ],
        )

    # --- bringing up to date ---

    def _update(self, equal: EqualPod, state: CycleState) -> bool:
        """Bring what is known up to date; false where that is not done here: more nodes fit, or a rule failed."""
        rows = self._row_log.since(equal.generation)
        if rows is None or len(rows) > _MOST_ROWS:
            return False
        now = self._row_log.generation
        if not equal.is_own(now, self._columns.pods[rows[0]]):
            equal.ahead.changed(rows)
        elif equal.take_ahead(rows[0]):
            return True
        try:
            update, pod = self._cache.update, state.pod.pod
            for rule, column in (*equal.row_filters, *equal.row_scores):
                if not update(column, rule, state, pod):
                    return False
        except HOOK_FAULTS:
            return False
        return equal.take_in(rows, now)

    # --- the pod before ---

    def keep(self, state: CycleState, snapshot: Snapshot) -> None:
        """Note that a pod was decided as any other, for pods that are equal to it.

        Args:
            state: of its cycle.
        """
        key = self._key if state is self._asked else self._key_of(state)
        if key not in self._kept:  # the first one: there may be no other
            if len(self._kept) >= _MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = None
        elif self._kept[key] is None:
            with suppress(*_FAULTS):  # a rule may need what a plugin leaves in the state that is asked about each pod
                self._kept[key] = equal_pod(self._sharing, self._cache, state, snapshot)


def _verdicts(column: KeptColumn, nodes: Nodes) -> Verdicts:
    verdicts = Verdicts(nodes.take(column.values), column.status or ())
    verdicts.may_fail = column.may_fail
    return verdicts


def _skip_alike(state: CycleState, other: CycleState) -> bool:
    return state.skip_filter == other.skip_filter and state.skip_score == other.skip_score


def _withdraw(state: CycleState, equal: EqualPod) -> None:
    """Leave in a state what hooks wrote that were asked about its pod, and nothing else."""
    not_asked = equal.state._data if state._answers else equal.state._data | equal.asked_data
    for kind, data in not_asked.items():
        if state._data.get(kind) is data:
            del state._data[kind]
    state.skip_filter, state.skip_score = set(), set()
