"""Finds the fixes of a pod that fits nowhere: tries every remedy on the cluster, and ranks those that help."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Pod
from kubesched.documents import count, joined
from kubesched.engine import BoolVector
from kubesched.explanation.before_fix import before_of
from kubesched.explanation.change import Change
from kubesched.explanation.daemon_pods import gone_node
from kubesched.explanation.effort import Effort
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.fix import Fix, to_repair
from kubesched.explanation.nearest import nearest
from kubesched.explanation.remedies import (
    ELSEWHERE,
    OTHERS,
    Case,
    Cause,
    Remedy,
    causes,
    corrected_and_tolerated,
    is_equal,
    pools,
    without_gates,
)
from kubesched.explanation.trial import Move, Place, Trial
from kubesched.framework import Framework, Status
from kubesched.plugins import taint_words
from kubesched.state import PodInfo

MAX_FIXES: Final = 8
_N_NAMED: Final = 5
_MAX_CLASSES: Final = 4  # combinations of two causes that are looked at, those of most nodes first
_MAX_NAMED_PODS: Final = 3
_MAX_OTHERS: Final = 3  # that are named beside a fix
_MAX_EQUAL: Final = 10  # further pods that are placed, too; the rest is helped as these are
_MAX_REMEDIES: Final = 4  # of each of the two causes


def fixes(
    framework: Framework,
    evaluation: Evaluation,
    *,
    max_fixes: int = MAX_FIXES,
    given: Collection[str] = (),
    waiting: Sequence[Pod] = (),
) -> tuple[Fix, ...]:
    """Find and note the changes after which the pod fits, each of them tried: the filters pass the nodes that it names.

    Fixes that leave no other pod pending come first, then those that keep what the pod and the nodes are for, then
    single changes, then those that cost a person less, then those that open more nodes.

    Pairs are looked for on the nearest node, and on the others only where no single change helps. There are none for a
    pod that fits, that is being deleted, whose DaemonSet made it for a node that is gone, or about which kubesched
    cannot decide; and none that move such a pod.
    Extenders are not asked, so there are none either where one has rejected nodes. A node where a plugin fails does not
    count; fixes with such nodes come last, and the fault is noted, too.

    Args:
        framework: of the profile that the explanation is by, over the same cluster.
        max_fixes: how many at most.
        given: nodes that the question has changed: no fix takes a cordon or a taint from them.
        waiting: the other pending pods; a rule that counts pods is changed for all of those of the workload.
    """
    if has_no_fix(evaluation):
        return ()
    case = Case(evaluation, _nominated(framework, evaluation), given, waiting)
    gates = without_gates(case)
    is_failing = (
        evaluation.failure is not None and not evaluation.failure.place
    )  # what raises, raises whatever is tried
    if evaluation.fits and gates is None and not is_failing:
        return ()
    equal = [one for one in waiting if is_equal(one, evaluation.pod)]
    search = _Search(Trial(framework, evaluation.pod), gates, equal)
    if evaluation.fits and is_failing:
        helping = [fix for fix in _helping(case, search) if fix.fault is None]
    else:
        helping = search.tried([()]) if evaluation.fits else _helping(case, search)
    helping = search.without_extras(helping)
    helping.sort(key=_rank)
    best = [fix for fix in helping if fix.effort < Effort.LAST_RESORT][:max_fixes] or helping[:1]
    evaluation.fixes = tuple(search.with_before(fix, evaluation) for fix in best)
    evaluation.fix_fault = evaluation.failure or _own_fault(search.fault, evaluation)
    return evaluation.fixes


def _own_fault(fault: Status | None, evaluation: Evaluation) -> Status | None:
    """A fault that was met while changes were tried; None for an error of what was tried alone.

    What a plugin reports is an error of the pod if a fix that helps has it, too, or some node as it is. A plugin that
    raises is faulty whatever is tried.
    """
    known = {one.message for said in evaluation.by_plugin.values() for one in said.distinct}
    known |= {fix.fault.message for fix in evaluation.fixes if fix.fault is not None}
    return fault if fault is not None and (fault.place or fault.message in known) else None


def has_no_fix(evaluation: Evaluation) -> bool:
    """Whether no change is looked for, for one of the reasons that `fixes` names."""
    has_none = evaluation.ended is not None or evaluation.pod.is_terminating or bool(gone_node(evaluation))
    return bool(evaluation.extenders or evaluation.undecided) or has_none


def _helping(case: Case, search: "_Search") -> list[Fix]:
    known = causes(case)
    every = np.ones(len(case.nodes), dtype=np.bool_)
    first = (*pools(case), *corrected_and_tolerated(case), *_singles(case, known))
    helping = search.tried(first) or search.tried(list(_new_nodes(case, known)))
    enough = {fix.text for fix in helping}
    pairs = list(_pairs(case, known, _nearest_node(case.evaluation)))
    if all(fix.effort >= Effort.OUTRANK for fix in helping):
        pairs += _pairs(case, known, every)
    return helping + search.tried([pair for pair in pairs if enough.isdisjoint(one.text for one in pair)])


def _whole(fix: Fix) -> tuple[bool, bool, Effort]:
    """What no part of a fix may exceed, so that the rest of it is too much."""
    return fix.fault is not None, bool(fix.leaves_pending), fix.effort


def _rank(fix: Fix) -> tuple[bool, bool, int, bool, int, int, int]:
    changed_purpose = (fix.effort >= Effort.OTHER_POOL) + (fix.effort >= Effort.OUTRANK)
    fails = fix.fault is not None, bool(fix.leaves_pending), changed_purpose, fix.is_short
    return (*fails, len(fix.parts), fix.effort, -fix.n_nodes)


def _nominated(framework: Framework, evaluation: Evaluation) -> list[tuple[int, PodInfo]]:
    """The pods that are nominated to nodes and count for the explained one, with the positions of the nodes."""
    known = framework.handle.nominated
    if not known:
        return []
    positions, pods = known.on(evaluation.nodes, evaluation.info)
    return list(zip(positions.tolist(), pods.infos, strict=True))


class _Search:
    """Tries combinations of remedies, each together with the removal of scheduling gates."""

    def __init__(self, trial: Trial, gates: Remedy | None, equal: Sequence[Pod]) -> None:
        self._trial = trial
        self._equal = equal
        self._always = () if gates is None else (gates,)
        self._moves: dict[str, list[Move]] = {}
        self._steps: dict[str, set[str]] = {}
        self.fault: Status | None = None

    def with_before(self, fix: Fix, evaluation: Evaluation) -> Fix:
        """A fix that was found here, with what it changes."""
        before = before_of(evaluation, fix.change, self._moves.get(fix.text, ()))
        return msgspec.structs.replace(fix, before=before)

    def tried(self, combinations: Sequence[tuple[Remedy, ...]]) -> list[Fix]:
        """The combinations that help, in order; of a ladder only the first, which helps most of the equal pods."""
        helping: dict[str, Fix] = {}
        climbed: set[tuple[str, ...]] = set()
        rungs_of: dict[str, tuple[str, ...]] = {}
        for combination in combinations:
            rungs = tuple(remedy.ladder or remedy.text for remedy in combination)
            fix = None if rungs in climbed else self._try((*self._always, *combination))
            if fix is not None and fix.text not in helping:
                helping[fix.text] = fix
                self._moves[fix.text] = [move for remedy in combination for move in remedy.moves]
                self._steps[fix.text] = {step for remedy in combination for step in remedy.steps or (remedy.text,)}
                rungs_of[fix.text] = rungs
                if not fix.is_short and fix.effort <= max(remedy.cost for remedy in (*self._always, *combination)):
                    climbed.add(rungs)
        best: dict[tuple[str, ...], Fix] = {}
        for fix in helping.values():
            known = best.get(rungs_of[fix.text], fix)
            best[rungs_of[fix.text]] = max(known, fix, key=lambda one: (one.n_pods, -one.effort))
        return list(best.values())

    def without_extras(self, helping: Sequence[Fix]) -> list[Fix]:
        """The fixes that were found here, without those of which a part helps at no higher cost."""

        def has_extras(fix: Fix) -> bool:
            steps = self._steps[fix.text]
            return any(self._steps[less.text] < steps and _whole(less) <= _whole(fix) for less in helping)

        return [fix for fix in helping if not has_extras(fix)]

    def _try(self, remedies: tuple[Remedy, ...]) -> Fix | None:
        change = sum((remedy.change for remedy in remedies), Change())
        names = self._trial.feasible(change)
        moves = [move for remedy in remedies for move in remedy.moves]
        places = self._trial.places(change, names[0], moves) if names else {}
        if self._trial.is_undecided:
            return None
        if places:
            put = (edit for move in moves if move.pod.key in places for edit in places[move.pod.key].edits)
            change += Change(edits=tuple(put))
            names = self._trial.feasible(change)
        fault = self._trial.fault
        self.fault = self.fault or fault
        if (
            not names
            or _is_idle(remedies, names)
            or any(remedy.needs_places and _unplaced(remedy, places) for remedy in remedies)
        ):
            return None
        if any(is_equal(move.pod, self._trial.pod) for move in moves if move.pod.key not in places):
            return None  # they only swap who waits
        remedies = tuple(self._with_others(remedy, remedies, len(names)) for remedy in remedies)
        return _with_fault(self._for_equal(self._whole_fix(remedies, names, change, places), remedies), fault)

    def _for_equal(self, fix: Fix, remedies: Sequence[Remedy]) -> Fix:
        """The fix with how many of the equal pods get a node with it, where it changes a rule that counts pods."""
        if not self._equal or not any(remedy.counts_pods for remedy in remedies):
            return fix
        n_equal, tried = 1 + len(self._equal), self._equal[:_MAX_EQUAL]
        placed = self._trial.n_placed(fix.change, tried)
        return msgspec.structs.replace(fix, n_pods=n_equal if placed > len(tried) else placed, n_equal=n_equal)

    def _whole_fix(
        self, remedies: Sequence[Remedy], names: list[str], change: Change, places: Mapping[str, Place]
    ) -> Fix:
        """The fix of one or several remedies."""
        if len(remedies) == 1:
            return self._fix(remedies[0], names, change, places)
        parts = [self._fix(remedy, names, remedy.change, places) for remedy in remedies]
        text, kind = " and ".join(part.text for part in parts), "+".join(part.kind for part in parts)
        keeps = all(part.keeps_intent for part in parts)
        answers = next((remedy.like for remedy in remedies if remedy.like), names[0])
        left = tuple(key for part in parts for key in part.leaves_pending)
        first, cost = tuple(names[:_N_NAMED]), max(part.effort for part in parts)
        return Fix(text, len(names), first, keeps, kind, tuple(parts), change, answers, left, cost)

    def _fix(self, remedy: Remedy, names: list[str], change: Change, places: Mapping[str, Place]) -> Fix:
        text, left = remedy.text, _unplaced(remedy, places)
        if left:
            text = f"{text.replace(f' {ELSEWHERE}', '')}{''.join(self._left(remedy, left))}"
        elif len(remedy.moves) == 1:
            text = text.replace(ELSEWHERE, f"to {places[remedy.moves[0].pod.key].node}")
        cost = remedy.cost
        if kept := self._kept_for_others(remedy, places):
            text, cost = f"{text} ({kept})", max(cost, Effort.RESERVED)
        first, answers = tuple(names[:_N_NAMED]), remedy.like or names[0]
        return Fix(text, len(names), first, remedy.keeps_intent, remedy.kind, (), change, answers, left, cost)

    def _kept_for_others(self, remedy: Remedy, places: Mapping[str, Place]) -> str:
        """Which taints keep nodes for other pods than those that go there; empty for none."""
        put = ((move.pod, places[move.pod.key].node) for move in remedy.moves if move.pod.key in places)
        taints = {
            words: node for pod, node in put for words in map(taint_words, self._trial.kept_for_others(pod, node))
        }
        return joined(f"taint {words} keeps {node} for other pods" for words, node in taints.items())

    def _with_others(self, remedy: Remedy, together: Sequence[Remedy], n_nodes: int) -> Remedy:
        """The remedy with those in its text that help in its place; with the number of nodes where it is another."""
        rest = sum((one.change for one in together if one is not remedy), Change())
        opened = ((name, len(self._trial.feasible(rest + change))) for name, change in remedy.instead)
        helping = ((name if n == n_nodes else f"{name} ({count(n, 'node')})") for name, n in opened if n)
        if others := " or ".join(islice(helping, _MAX_OTHERS)):
            return msgspec.structs.replace(remedy, text=remedy.text_with_others.replace(OTHERS, others))
        return remedy

    def _left(self, remedy: Remedy, left: tuple[str, ...]) -> Iterator[str]:
        """What becomes of the pods that make way and have no place."""
        reasons = {move.pod.key: self._trial.lost_because(move.pod) for move in remedy.moves if move.pod.key in left}
        for why in dict.fromkeys(sorted(reasons.values())):
            keys = [key for key in left if reasons[key] == why]
            who = joined(keys) if len(keys) <= _MAX_NAMED_PODS else f"{len(keys)} pods"
            yield f" (loses {who}: {why})" if why else f" (leaves {who} pending)"


def _is_idle(remedies: Sequence[Remedy], names: Sequence[str]) -> bool:
    """Whether a new node does not take the pod: other parts open the nodes."""
    edits = [edit for one in remedies if one.kind == "addNode" for edit in one.change.edits]
    new = {edit.key for edit in edits if edit.kind == "Node"}
    return bool(new) and new.isdisjoint(names)


def _with_fault(fix: Fix, fault: Status | None) -> Fix:
    if fault is None:
        return fix
    until = f"{to_repair(fault)} is fixed" if fault.place else f"this error is gone: {fault.message}"
    return msgspec.structs.replace(fix, text=f"{fix.text} (once {until})", fault=fault)


def _unplaced(remedy: Remedy, places: Mapping[str, Place]) -> tuple[str, ...]:
    return tuple(move.pod.key for move in remedy.moves if move.pod.key not in places)


def _singles(case: Case, known: Sequence[Cause]) -> Iterator[tuple[Remedy]]:
    """The remedies for nodes that have one cause only, the cause of most nodes first."""
    alone = _count(case, known) == 1
    by_cause = [(cause, cause.nodes & alone) for cause in known]
    for cause, where in sorted(by_cause, key=lambda one: -int(np.count_nonzero(one[1]))):
        if where.any():
            for find in cause.remedies:
                for remedy in find(case, where):
                    yield (remedy,)


def _new_nodes(case: Case, known: Sequence[Cause]) -> Iterator[tuple[Remedy]]:
    """Nodes more that answer one cause and have no pods that would be another one."""
    for cause in known:
        for remedy in _some(case, cause, cause.nodes):
            if remedy.kind == "addNode":
                yield (remedy,)


def _nearest_node(evaluation: Evaluation) -> BoolVector:
    """(nodes,) bool: the node that is nearest to fitting."""
    mask = np.zeros(len(evaluation.nodes), dtype=np.bool_)
    mask[nearest(evaluation)[:1]] = True
    return mask


def _pairs(case: Case, known: Sequence[Cause], among: BoolVector) -> Iterator[tuple[Remedy, ...]]:
    """The remedies for those of some nodes that have two causes: one for each, or one that both have."""
    has_two = among & (_count(case, known) == 2)
    classes = []
    for i, first in enumerate(known):
        for second in known[i + 1 :]:
            where = first.nodes & second.nodes & has_two
            if where.any() and first.remedies and second.remedies:
                classes.append((int(np.count_nonzero(where)), first, second, where))
    classes.sort(key=lambda one: -one[0])
    for _, first, second, where in classes[:_MAX_CLASSES]:
        for pair in product(_some(case, first, where), _some(case, second, where)):
            if pair[0].text == pair[1].text:
                yield pair[:1]
            elif not all(remedy.kind == "addNode" for remedy in pair):  # the pod goes to one node
                yield pair


def _some(case: Case, cause: Cause, where: BoolVector) -> list[Remedy]:
    """The first remedies of a cause; what a taint off the nodes does in a pair, a toleration does, too."""
    every = (remedy for find in cause.remedies for remedy in find(case, where))
    return list(islice((remedy for remedy in every if remedy.cost is not Effort.OPEN_TO_ALL), _MAX_REMEDIES))


def _count(case: Case, known: Sequence[Cause]) -> np.ndarray:
    return sum((cause.nodes.astype(np.int64) for cause in known), np.zeros(len(case.nodes), dtype=np.int64))
