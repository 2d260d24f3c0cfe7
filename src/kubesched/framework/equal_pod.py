"""What is known of pods that are equal in what plugins read of them: the nodes that fit, and their scores."""

from collections.abc import Callable, Hashable, Sequence

import msgspec
import numpy as np

from kubesched.engine import IntVector, Leaders
from kubesched.framework.column_cache import ColumnCache, KeptColumn, PluginRule
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.hooks import DependsOn
from kubesched.framework.rows_ahead import RowsAhead
from kubesched.framework.scores import Scores, score_rule
from kubesched.framework.sharing import Sharing, Steps, ask, parts_of
from kubesched.framework.status import PluginFault, Status
from kubesched.state import Nodes, PodInfo, Snapshot

Kept = tuple[PluginRule, KeptColumn]


class EqualPod(msgspec.Struct, eq=False):
    """What is known of pods that are equal in what plugins read of them; without the plugins that are asked about each.

    Attributes:
        nodes: all nodes, of which it is true.
        generation, of_nodes, of_objects, of_kinds: when it was true: generations of the changes of rows, of nodes, of
            all objects, and of the kinds that plugins read.
        state: what the hooks that are not asked again leave in the state of a cycle.
        filters: those that took part.
        row_filters, row_scores: those whose columns change with rows.
        shared, asked: the plugins whose answers such pods share, and those that are asked about each.
        read_skips: what reads the values in which pods are equal that the latter skip; None where that is not known.
        asked_skip_filter, asked_skip_score: the latter, by the hook with which they skip.
        asked_data: what they left in the state of a cycle as they skipped the pod before.
        skipped: when that was, and these values of it; None where they did not all skip it.
        parts: what the rules of the former read of the pod.
        scores: of the nodes that these filters leave, as far as they do not depend on which these are.
        leaders: the highest of them.
        without_asked: the same where the plugins that are asked each time skip.
        of_others: the rules whose scores do: those of the best node become 100.
        position_of: (rows,) the positions of rows in `scores`; -1 for nodes that do not fit.
        ahead: the rows with further such pods.
        uid: of the pod that was decided last.
        n_unused: how many pods in a row were decided as any other although this was known.
    """

    nodes: Nodes
    generation: int
    of_nodes: int
    of_objects: int
    of_kinds: tuple[int, ...]
    state: CycleState
    filters: list[Kept]
    row_filters: list[Kept]
    row_scores: list[Kept]
    shared: Steps
    asked: Steps
    read_skips: Callable[[object], Hashable] | None
    asked_skip_filter: set[str]
    asked_skip_score: set[str]
    parts: list[Hashable]
    scores: Scores
    leaders: Leaders
    without_asked: Scores
    of_others: list[PluginRule]
    position_of: IntVector
    ahead: RowsAhead
    uid: str
    asked_data: dict[type, object] = {}
    skipped: Hashable = None
    n_unused: int = 0

    def is_own(self, generation: int, pods: Sequence[PodInfo]) -> bool:
        """Whether nothing has changed but that the pod before is on its node.

        Args:
            generation: the present one of the changes of rows.
            pods: those on the row that changed.
        """
        came = pods[-1] if pods and generation == self.generation + 1 else None
        return came is not None and came.pod.metadata.uid == self.uid and self.ahead.is_about(came)

    def take_ahead(self, row: int) -> bool:
        """Let the scores be those that were found in advance for the row that changed.

        Returns: false where there are none, or the pod does not fit there.
        """
        answers, position = self.ahead.take(row), self.position_of.item(row)
        if answers is None or position < 0:
            return False
        before, self.generation = self.generation, self.generation + 1
        for _, column in self.row_filters:
            if column.generation == before:
                column.generation += 1
        by_plugin, leaders = self.scores.by_plugin, self.leaders
        total = leaders.values.item(position)
        for (rule, column), score in zip(self.row_scores, answers, strict=True):
            if column.generation == before:
                column.values[row] = score
                column.generation += 1
            known, weighted = by_plugin[rule.name], rule.weight * score
            total += weighted - known.item(position)  # type: ignore[union-attr]
            known[position] = weighted  # type: ignore[index]
        leaders.set(position, total)
        return True

    def take_in(self, rows: Sequence[int], generation: int) -> bool:
        """Let the scores be those of the columns in some rows.

        Returns: false where more nodes fit, or too few, or a rule failed.
        """
        if any(column.may_fail for _, column in self.row_filters):
            return False
        if not all(column.in_range for _, column in self.row_scores):
            return False
        for row in rows:
            position = self.position_of.item(row)
            filters = self.row_filters if position >= 0 else self.filters
            fits = all(column.values.item(row) == 0 for _, column in filters)
            if position < 0:
                if fits:
                    return False
            elif fits:
                self._set_scores(row, position)
            elif not self._take_out(position):
                return False
        self.generation = generation
        return True

    def _set_scores(self, row: int, position: int) -> None:
        by_plugin, leaders = self.scores.by_plugin, self.leaders
        total = leaders.values.item(position)
        for rule, column in self.row_scores:
            known = by_plugin[rule.name]
            assert not isinstance(known, int)
            score = rule.weight * column.values.item(row)
            total += score - known.item(position)
            known[position] = score
        leaders.set(position, total)

    def _take_out(self, position: int) -> bool:
        """Take out a node that the pod does not fit any more; false where one would be left, which gets no score."""
        scores = self.scores
        if scores.nodes.n <= 2:
            return False
        self.position_of[scores.nodes.row(position)] = -1
        self.scores = left = scores.select(np.delete(np.arange(scores.nodes.n), position))
        self.position_of[left.nodes.all_rows] = np.arange(left.nodes.n)
        self.leaders = self.leaders.without(position)
        left.varying = self.leaders.values
        self.without_asked = _without_asked(left, self.asked, self.leaders)
        return True


def equal_pod(sharing: Sharing, cache: ColumnCache, of_pod: CycleState, snapshot: Snapshot) -> EqualPod | None:
    """What others share with a pod that was decided.

    Args:
        of_pod: the state of its cycle.
    Returns: None where fewer than two nodes fit, or a plugin fails.
    """
    pod, nodes, columns = of_pod.pod.pod, snapshot.nodes, snapshot.columns
    shared, asked = sharing.parted(of_pod)
    state = CycleState(of_pod.pod)
    if not ask(shared.pre_filters, state, nodes, state.skip_filter):
        return None
    filters = [(rule, cache.verdicts(rule, state, pod)) for rule in shared.filters]
    if any(column.may_fail for _, column in filters):
        return None
    fits = np.ones(nodes.n, dtype=np.bool_)
    for _, column in filters:
        fits &= nodes.take(column.values) == 0
    feasible = nodes if fits.all() else nodes.select(np.flatnonzero(fits))
    if feasible.n < 2 or not ask(shared.pre_scores, state, feasible, state.skip_score):
        return None
    scores, of_others = _scores_of(sharing, (shared, asked), cache, state, feasible)
    row_filters = [kept for kept in filters if kept[0].depends_on is DependsOn.ROW]
    row_scores = [
        (rule, cache.scores(rule, state, pod))
        for rule in shared.scores
        if rule.depends_on is DependsOn.ROW and not isinstance(scores.by_plugin[rule.name], int)
    ]
    leaders = Leaders(scores.varying)
    position_of = np.full(columns.capacity, -1, dtype=np.int64)
    position_of[feasible.all_rows] = np.arange(feasible.n)
    return EqualPod(
        nodes=nodes,
        generation=columns.row_log.generation,
        of_nodes=columns.node_log.generation,
        of_objects=snapshot.objects.n_changes,
        of_kinds=tuple(map(snapshot.objects.generation, sharing.kinds)),
        state=state,
        filters=filters,
        row_filters=row_filters,
        row_scores=row_scores,
        shared=shared,
        asked=asked,
        read_skips=sharing.skip_reader(asked),
        asked_skip_filter=asked.of_filters,
        asked_skip_score=asked.of_scores,
        parts=parts_of(shared, state),
        scores=scores,
        leaders=leaders,
        without_asked=_without_asked(scores, asked, leaders),
        of_others=of_others,
        position_of=position_of,
        ahead=RowsAhead([rule for rule, _ in row_filters], [rule for rule, _ in row_scores], state, nodes),
        uid=pod.metadata.uid,
    )


def _scores_of(
    sharing: Sharing, parted: tuple[Steps, Steps], cache: ColumnCache, state: CycleState, feasible: Nodes
) -> tuple[Scores, list[PluginRule]]:
    """The scores that do not depend on which nodes fit, with a place for the others, and the rules of these.

    Args:
        parted: the plugins that are shared, and those that are asked each time.
    Raises:
        PluginFault: a plugin failed, or its scores cannot be shared.
    """
    scores, of_others = Scores(feasible, {}, np.zeros(feasible.n, dtype=np.int64), 0), []
    shared, asked = parted
    for rule in sharing.steps.scores:
        if rule in shared.scores:
            score = rule.weight * score_rule(rule, cache, state, state.pod.pod, feasible, is_whole=True)
            if rule.depends_on is DependsOn.DEVICES and not isinstance(score, int):
                raise PluginFault(Status.SKIP)  # devices change without their rows
            if isinstance(score, int):
                scores.by_plugin[rule.name] = score
                scores.shared += score
            elif rule.has_normalize:
                scores.by_plugin[rule.name] = 0
                of_others.append(rule)
            else:
                scores.by_plugin[rule.name] = score  # never a view of the column
                scores.varying += score
        elif rule in asked.scores:
            scores.by_plugin[rule.name] = 0
    return scores, of_others


def _without_asked(scores: Scores, asked: Steps, leaders: Leaders) -> Scores:
    """The scores where the plugins that are asked each time skip; they change with those that are given."""
    names = {rule.name for rule in asked.scores}
    by_plugin = {name: one for name, one in scores.by_plugin.items() if name not in names}
    return Scores(scores.nodes, by_plugin, scores.varying, scores.shared, leaders)
