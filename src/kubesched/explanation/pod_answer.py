"""The answer for one of several pods: what becomes of it, why in one line, and the best fix."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from kubesched.explanation.choice import choice
from kubesched.explanation.claims_in_use import ClaimInUse
from kubesched.explanation.current_place import Outlook, current_place
from kubesched.explanation.effort import Effort
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.fix import Fix
from kubesched.explanation.outcome import PodOutcome, State, outcome, state_of
from kubesched.explanation.recorded import Recorded

MOST_TO_AVOID_EVICTIONS: Final = Effort.ADD
"""What a fix costs at most for a pod that preempts others: it needs none that changes what it is for."""
_WITHOUT_FIX: Final = (State.FAILED, State.STUCK, State.ENDED, State.NOT_DECIDED)
"""States in which a plugin has to be fixed first, or in which nothing helps."""


class Told(msgspec.Struct, frozen=True):
    """What the overview says about a pod beside its state.

    Attributes:
        outcome: why, in one line.
        n_fit: how many nodes fit.
        fixes: what makes the pod fit, the best first.
        recorded: what kube-scheduler itself said of the pod at last, where that is not this answer; None for others.
        claims_in_use: claims whose disks are attached to another node than that of the pod, which would not start.
        advice: what helps a pod for which no change of the cluster was tried; empty for nothing.
    """

    outcome: PodOutcome
    n_fit: int = 0
    fixes: tuple[Fix, ...] = ()
    recorded: Recorded | None = None
    claims_in_use: tuple[ClaimInUse, ...] = ()
    advice: str = ""

    @property
    def fix(self) -> str:
        """The best fix, with how many nodes fit then; empty for none."""
        return str(self.fixes[0]) if self.fixes else self.advice


class PodAnswer(msgspec.Struct, frozen=True):
    """The answer for one pod of an overview.

    Attributes:
        pod: `namespace/name`.
        workload: what it belongs to, such as `Deployment shop/web`.
        state: what becomes of it.
        cause: pods of one workload in one state with the same cause, apart from its numbers, share a row; empty for
            pods that run and would come back to a node.
        tell: the rest; called at once, for the first pod of each row, or for each pod.
        node: where it goes; empty for nowhere.
        runs_on: where it is; empty for a pod that waits.
        n_fit: how many nodes fit; None for as many as for the first pod of the row.
        node_names: the names of all nodes.
        tells_each: whether `tell` is called for each pod of a row: equal pods cost nothing, and others may differ in
            what the row does not show, such as their claims.
    """

    pod: str
    workload: str
    state: State
    cause: str
    tell: Callable[[], Told]
    node: str = ""
    n_fit: int | None = None
    node_names: Sequence[str] = ()
    tells_each: bool = False
    runs_on: str = ""


def answer_of(
    evaluation: Evaluation,
    workload: str,
    fixes_of: Callable[[Evaluation], Sequence[Fix]] = lambda evaluation: evaluation.fixes,
) -> PodAnswer:
    """The answer for a pod that is explained by itself, as one that runs. It is valid as long as the evaluation.

    Args:
        workload: what it belongs to, such as `Deployment shop/web`.
        fixes_of: finds what makes a pod fit, the best first.

    Example:
        with Explainer(load_snapshot("cluster.json")) as explainer:
            evaluated = explainer.evaluations("shop/web-7")
            answers = (answer_of(one, f"Pod {one.pod.key}", explainer.fixes) for one in evaluated)
            assert overview_page(answers).verdict.text == "1 pending pod: 1 fits."
    """
    state = state_of(evaluation)

    def tell() -> Told:
        limit = MOST_TO_AVOID_EVICTIONS if state is State.PREEMPTS else max(Effort)
        is_reported = evaluation.failure is not None and not evaluation.failure.place  # a change may prevent an error
        known = () if state in _WITHOUT_FIX and not is_reported else fixes_of(evaluation)
        fixes = tuple(fix for fix in known if fix.effort <= limit)
        return Told(outcome(evaluation, next(iter(fixes), None)), len(evaluation.feasible), fixes)

    chosen = choice(evaluation)
    cause = {
        State.FAILED: evaluation.failure.message if evaluation.failure is not None else "",
        State.NOWHERE: evaluation.message,
        State.NOT_DECIDED: evaluation.undecided,
        State.PREEMPTS: evaluation.message,
        State.HELD_BACK: evaluation.held_back,
    }.get(state, "")
    comes_back = state is State.RUNS and current_place(evaluation, chosen).outlook is not Outlook.LOST
    if state in (State.STUCK, State.RUNS, State.ENDED) and not comes_back:
        cause = outcome(evaluation).why
    node = "" if chosen is None or state is State.STUCK else chosen.best.node
    n_fit = len(evaluation.feasible)
    return PodAnswer(
        evaluation.pod.key,
        workload,
        state,
        cause,
        tell,
        node,
        n_fit,
        evaluation.names,
        tells_each=state is State.RUNS,
        runs_on=evaluation.runs_on,
    )
