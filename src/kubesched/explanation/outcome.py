"""The outcome for one pod: its state, and why in one line. The overview, the reports on one pod and JUnit share it."""

import enum
from collections.abc import Collection

import msgspec

from kubesched.documents import count
from kubesched.engine import IntVector
from kubesched.explanation.answers_beside_filters import turned_down_words
from kubesched.explanation.choice import choice
from kubesched.explanation.claim_problems import VOLUME_PLUGINS, claim_words
from kubesched.explanation.current_place import current_place
from kubesched.explanation.daemon_pods import gone_node, own_node
from kubesched.explanation.device_survey import device_nearness
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.fix import Fix
from kubesched.explanation.obstacle import ObstacleRow
from kubesched.explanation.obstacles import distinct, obstacle_rows, reason_counts
from kubesched.explanation.preemption_words import preemption_sentence
from kubesched.framework import Code, Status

_REPAIRS = ("devicePlugin", "nodeCondition")  # kinds of fixes
LeftOut = tuple[Status, int] | None
"""The verdict on the nodes that PreFilter plugins left out, and how many these are; None for none."""


class State(enum.Enum):
    """What becomes of a pod, in the order of the overview: what needs attention comes first."""

    FAILED = "failed"
    STUCK = "stuck"
    NOWHERE = "no node"
    NOT_DECIDED = "not decided"
    PREEMPTS = "preempts"
    EVICTED = "evicted again"
    HELD_BACK = "held back"
    FITS = "fits"
    RUNS = "runs"
    ENDED = "ended"


class PodOutcome(msgspec.Struct, frozen=True):
    """What becomes of a pod.

    Attributes:
        why: in one line.
        is_turned_down: whether nodes fit, and a hook after the filters rejects the pod.
        left_out: which nodes PreFilter plugins left out, for a pod that fits on others; empty for none.
    """

    state: State
    why: str
    is_turned_down: bool = False
    left_out: str = ""

    @property
    def note(self) -> str:
        """What there is to say about a pod that fits; empty for nothing."""
        return self.why if self.left_out else ""

    @property
    def failure(self) -> str:
        """Why the pod has no node and would not get one now; empty if it has or would get one."""
        match self.state:
            case State.FITS | State.RUNS | State.ENDED:
                return ""
            case State.NOWHERE:
                return self.why if self.is_turned_down else f"fits on no node; {self.why}"
            case State.PREEMPTS:
                return self.why
        return f"{self.state.value}: {self.why}"


def outcome(evaluation: Evaluation, fix: Fix | None = None) -> PodOutcome:
    """What becomes of an explained pod.

    Args:
        fix: the best one; see `diagnosis`.
    """
    state = state_of(evaluation)
    if state is State.FITS:
        return fits_outcome(len(evaluation.feasible), len(evaluation.nodes), evaluation.diagnosis.left_out)
    is_turned_down = state is State.NOWHERE and evaluation.turned_down is not None
    return PodOutcome(state, _why(evaluation, state, fix), is_turned_down)


def fits_outcome(n_fit: int, n_nodes: int, left_out: LeftOut) -> PodOutcome:
    """The outcome for a pod that would get a node.

    Args:
        left_out: the verdict on the nodes that PreFilter plugins left out, and how many these are; None for none.
    """
    others = _left_out_words(left_out)
    return PodOutcome(State.FITS, f"fits on {n_fit} of {n_nodes} nodes{others and f'; {others}'}", left_out=others)


def _left_out_words(left_out: LeftOut) -> str:
    return f"{left_out[1]} {left_out[0].message}" if left_out is not None else ""


def state_of(evaluation: Evaluation) -> State:
    """The state of an explained pod."""
    if evaluation.runs_on and evaluation.hangs:  # whatever a scheduler would decide
        return State.STUCK
    if evaluation.failure is not None:
        return State.FAILED
    if evaluation.ended is not None:
        return State.ENDED
    if evaluation.runs_on:
        return State.RUNS
    if evaluation.held_back:
        return State.HELD_BACK
    if evaluation.undecided:
        return State.NOT_DECIDED
    if evaluation.turned_down is not None:
        return State.NOWHERE
    if evaluation.preemption is not None and evaluation.preemption.node_name:
        return State.PREEMPTS
    return State.FITS if evaluation.fits else State.NOWHERE


def diagnosis(evaluation: Evaluation, fix: Fix | None = None, leaving: Collection[str] = ()) -> str:
    """Why the pod fits on no node, in one line.

    Args:
        fix: what it removes is the cause, unless other nodes are nearer to fitting. Otherwise the cause is what keeps
            the pod from the nearest nodes.
        leaving: nodes that are cordoned because they are to go, so that it says nothing of them where there are others.
    """
    if gone := gone_node(evaluation):
        return gone
    if message := evaluation.diagnosis.pre_filter_message:
        plugin = evaluation.diagnosis.absent.plugin
        if plugin in VOLUME_PLUGINS and (words := claim_words(evaluation)):
            return "; ".join(words)
        if evaluation.lacking_claims:
            return "; ".join(evaluation.lacking_claims)
        return f"{plugin}: {message}" if plugin else message
    rows = obstacle_rows(evaluation)
    name = evaluation.nodes.name
    rows = tuple(row for row in rows if any(name(position) not in leaving for position in row.positions)) or rows
    own = evaluation.nodes.position_of(own_node(evaluation))
    if mine := next((row for row in rows if own in row.positions), None):
        return f"its node {own_node(evaluation)}: {'; '.join(mine.texts)}"
    if not rows:
        return "; ".join(f"{n} {reason}" for reason, n in reason_counts(evaluation)) or evaluation.message
    answered = evaluation.nodes.position_of(fix.answers) if fix is not None else None
    is_repair = fix is not None and fix.kind in _REPAIRS  # then other nodes are full, which is no cause
    near = device_nearness(evaluation)
    first = _distance(rows[0], near)
    removed = (row for row in rows if answered in row.positions and (is_repair or _distance(row, near) <= first))
    cause = next(removed, rows[0])
    same = [row for row in rows if row is cause or _unnamed(evaluation, row) == _unnamed(evaluation, cause)]
    n, n_nodes = sum(len(row.positions) for row in same), len(evaluation.nodes)
    every = "the only node" if n == 1 else "all nodes"
    which = every if n == n_nodes else count(n, "node")
    example = "" if cause.is_alike and len(same) == 1 else f", for example {evaluation.nodes.name(cause.positions[0])}"
    others = "" if _is_left_out(evaluation, cause.positions[0]) else _left_out_words(evaluation.diagnosis.left_out)
    return f"{which}{example}: {'; '.join(dict.fromkeys((*cause.texts, *([others] if others else ()))))}"


def _unnamed(evaluation: Evaluation, row: ObstacleRow) -> tuple[str, ...]:
    """The texts of a row without the names of the pods on its first node, which the row is about."""
    texts = "\n".join(row.texts)
    for info in evaluation.nodes[row.positions[0]].pods:
        texts = texts.replace(info.pod.key, "*")
    return tuple(texts.split("\n"))


def _is_left_out(evaluation: Evaluation, position: int) -> bool:
    """Whether PreFilter plugins left the node out."""
    result = evaluation.result
    return result is not None and result.nodes.position_of(evaluation.nodes.name(position)) is None


def _distance(row: ObstacleRow, near: IntVector) -> tuple[int, int, int]:
    """How far the nodes are from fitting: by their obstacles, by those that stay whatever pods leave, by devices.

    Args:
        near: (nodes,) a Nearness for each node.
    """
    codes = [obstacle.status.code for obstacle in distinct(row.obstacles)]
    return len(codes), codes.count(Code.UNSCHEDULABLE_AND_UNRESOLVABLE), int(near[row.positions[0]])


def _why(evaluation: Evaluation, state: State, fix: Fix | None) -> str:
    if state is State.FAILED:
        assert evaluation.failure is not None
        return evaluation.failure.located
    if state is State.ENDED:
        assert evaluation.ended is not None
        return evaluation.ended.text
    if state is State.STUCK:
        return f"on {evaluation.runs_on}, which spec.nodeName names: {evaluation.hangs}"
    if state is State.RUNS:
        place = current_place(evaluation, choice(evaluation))
        return place.text.removeprefix(f"Pod {evaluation.pod.key} ").removesuffix(".")
    if state is State.PREEMPTS:
        assert evaluation.preemption is not None
        return preemption_sentence(evaluation.preemption, evaluation.pod)
    if state is State.HELD_BACK and evaluation.lacking_claims:
        return evaluation.held_back_words
    if evaluation.turned_down is not None:
        where = turned_down_words(evaluation.turned_down)
    elif evaluation.scores is None:
        where = diagnosis(evaluation, fix)
    else:
        where = fits_outcome(len(evaluation.feasible), len(evaluation.nodes), evaluation.diagnosis.left_out).why
    return f"{evaluation.held_back_words}; {where}" if state is State.HELD_BACK else where
