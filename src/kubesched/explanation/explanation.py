"""An explanation: what a pod's decision comes to, as values. They stay valid when the cluster changes."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from kubesched.api import Pod
from kubesched.engine import BoolVector
from kubesched.explanation.advice import advice
from kubesched.explanation.choice import Choice, choice
from kubesched.explanation.current_place import CurrentPlace, current_place
from kubesched.explanation.device_rows import DeviceRow, device_rows
from kubesched.explanation.evaluation import Attempted, Evaluation
from kubesched.explanation.held_devices import named_obstacles, named_row
from kubesched.explanation.nearest import nearest, not_named, shortages, too_small
from kubesched.explanation.node_scores import NodeNames, NodeScores, kept
from kubesched.explanation.obstacle import Obstacle, ObstacleRow
from kubesched.explanation.obstacles import obstacle_rows, reason_counts
from kubesched.explanation.outcome import PodOutcome, outcome
from kubesched.explanation.recorded import Recorded, recorded_of
from kubesched.explanation.remedies import Case
from kubesched.framework import Status
from kubesched.naming import full_names
from kubesched.release import DEFAULT_VERSION, DecidingVersion
from kubesched.shown import Shown, data_frame
from kubesched.state import NodeInfo

if TYPE_CHECKING:
    import pandas as pd

N_NEAREST: Final = 20
"""How many of the nodes that do not fit are looked at closely, the nearest to fitting."""


class NodeRoom(msgspec.Struct, frozen=True):
    """What a node has: resource -> amount in canonical units.

    Attributes:
        allocatable: what it offers.
        requested: what pods hold, with their number as `pods`.
    """

    allocatable: dict[str, int]
    requested: dict[str, int]


class CloseLook(msgspec.Struct, frozen=True):
    """One node, looked at closely.

    Attributes:
        obstacles: everything that keeps the pod from it, with details; empty where it fits.
        short: each resource that is short as NodeResourcesFit says, with the missing amount in canonical units.
        room: what it has, where the node was asked for; None for others.
    """

    obstacles: tuple[Obstacle, ...]
    short: dict[str, int]
    room: NodeRoom | None = None


class Explanation(Shown, Attempted, frozen=True, kw_only=True, eq=False, dict=True):  # type: ignore[misc]  # msgspec can
    """One pod against one cluster; see `Attempted` for the other attributes.

    Attributes:
        pod: as it was explained.
        requests: what it asks for: resource -> amount in canonical units.
        nodes: the names of all nodes, in the snapshot's order. Positions are those of this list.
        outcome: what becomes of the pod, and why in one line.
        message: the FitError text when no node fits, with a fault as the rejection of its node; else why it is not
            placed. It is what the recorded evaluations have, which look at every node by itself. An attempt ends with
            `failure`. Empty if kubesched cannot decide about the pod: then nothing says that no node fits.
        undecided: why kubesched cannot decide about the pod, while kube-scheduler can; empty where it decides.
        rejections: node -> the first rejection of the whole profile, in the snapshot's order. Nodes that pass are left
            out, and so are nodes that PreFilter left out.
        reason_counts: each reason of the whole profile with its number of nodes, most nodes first.
        feasible: the nodes that pass everything, in the snapshot's order.
        scores: of the feasible nodes; None when there are none, or when scoring failed.
        best: the nodes with the highest total, in the snapshot's order.
        choice: where the pod goes, and what decided; None where no node was scored, or a plugin failed.
        place: where a pod that has its node is, and what a new decision would make of it; None for others.
        advice: what would help, or what is in the way; empty for a pod that fits.
        nearest: the positions of all nodes that do not fit, the nearest to fitting first.
        rows: these nodes by their obstacles; the row with the nearest node comes first.
        closely: by position, the nodes that were looked at closely: the nearest ones, and those that were asked for.
        too_small: (nodes,) bool: nodes that are too small for the pod even when they are empty.
        not_named: (nodes,) bool: where the pod or a local volume names hosts, the nodes that are not one of them.
        recorded: what kube-scheduler itself said of the pod at last, where that is not this answer; None for others.
        devices: what the nodes have for the requests of its resource claims, those of most nodes first.
        version: the version of Kubernetes whose rules decided.

    Example:
        explanation = explain(load_snapshot("cluster.json"), "shop/web-7")
        assert explanation.fits and explanation.best == ["n1", "n2"]
        print({name: len(verdicts.rejections) for name, verdicts in explanation.by_plugin.items()})
    """

    pod: Pod
    requests: dict[str, int]
    nodes: NodeNames
    outcome: PodOutcome
    message: str
    undecided: str
    rejections: dict[str, Status]
    reason_counts: list[tuple[str, int]]
    feasible: list[str]
    scores: NodeScores | None
    best: list[str]
    choice: Choice | None
    place: CurrentPlace | None
    advice: str
    nearest: tuple[int, ...]
    rows: tuple[ObstacleRow, ...]
    closely: dict[int, CloseLook]
    too_small: BoolVector
    not_named: BoolVector
    recorded: Recorded | None = None
    devices: tuple[DeviceRow, ...] = ()
    version: DecidingVersion = DEFAULT_VERSION

    @property
    def fits(self) -> bool:
        """Whether some node passes every filter."""
        return bool(self.feasible)

    def obstacles(self, position: int) -> tuple[Obstacle, ...]:
        """Everything that keeps the pod from a node, in the order in which filters run; empty for a node that fits.

        The obstacles have details where the node was looked at closely.
        """
        if position in self.closely:
            return self.closely[position].obstacles
        statuses = ((name, said.status_of(position)) for name, said in self.by_plugin.items())
        return tuple(Obstacle(name, status) for name, status in statuses if not status.is_success)

    def scores_frame(self) -> "pd.DataFrame":
        """The weighted scores as a DataFrame, a row for each feasible node, the best first; `node` is the index.

        Columns: each plugin that scored, in the order of the profile, and `total`. Nodes with equal totals are in the
        snapshot's order. The frame has no rows if no node was scored.

        Raises:
            InputError: pandas is not installed.
        """
        if self.scores is None:
            return data_frame({"node": [], "total": []}, "node")
        columns = {name: self.scores.of(name).tolist() for name in self.scores.by_plugin}
        columns |= {"node": list(self.scores.nodes.names), "total": self.scores.total.tolist()}
        return data_frame(columns, "node").sort_values("total", ascending=False, kind="stable")


def explained(
    evaluation: Evaluation, asked: Collection[str] | None = (), version: DecidingVersion = DEFAULT_VERSION
) -> Explanation:
    """What an evaluation comes to.

    Args:
        asked: the nodes to look at closely beside the nearest ones, by their names; None for all nodes.
        version: the version of Kubernetes whose rules decide.
    Raises:
        InputError: there is no such node, or a short name belongs to several.
    """
    has_ended = evaluation.ended is not None
    order = () if has_ended else tuple(nearest(evaluation).tolist())
    chosen = choice(evaluation)
    needs_advice = not has_ended and (not evaluation.fits or evaluation.failure is not None)
    return Explanation(
        **{name: getattr(evaluation, name) for name in Attempted.__struct_fields__},
        pod=evaluation.pod,
        requests=dict(evaluation.info.requests.value.wanted),
        nodes=NodeNames(evaluation.names),
        outcome=outcome(evaluation, next(iter(evaluation.fixes), None)),
        message=evaluation.message,
        undecided=evaluation.undecided,
        rejections=evaluation.rejections,
        reason_counts=[] if has_ended else reason_counts(evaluation),
        feasible=evaluation.feasible,
        scores=None if evaluation.scores is None else kept(evaluation.scores),
        best=evaluation.best,
        choice=chosen,
        place=current_place(evaluation, chosen) if evaluation.runs_on else None,
        advice=advice(evaluation, () if evaluation.undecided else order) if needs_advice else "",
        nearest=order,
        rows=() if has_ended else tuple(named_row(evaluation, row) for row in obstacle_rows(evaluation)),
        closely=dict(_close_looks(evaluation, order, asked)),
        too_small=too_small(evaluation),
        not_named=not_named(evaluation),
        recorded=None if has_ended or evaluation.runs_on else _recorded(evaluation),
        devices=() if has_ended else device_rows(evaluation),
        version=version,
    )


def _recorded(evaluation: Evaluation) -> Recorded | None:
    fits_on = next(iter(evaluation.feasible), "")
    return recorded_of(evaluation.pod, evaluation.message, evaluation.nodes, fits_on)


def _close_looks(
    evaluation: Evaluation, order: tuple[int, ...], asked: Collection[str] | None
) -> Iterator[tuple[int, CloseLook]]:
    if evaluation.ended is not None:
        return
    case = Case(evaluation)
    names = evaluation.names
    meant = full_names(names, asked) if asked else ()
    wanted = set(range(len(names))) if asked is None else {names.index(name) for name in meant}
    for position in dict.fromkeys((*order[:N_NEAREST], *sorted(wanted))):
        room = _room(evaluation.nodes[position]) if position in wanted else None
        yield position, CloseLook(named_obstacles(evaluation, position), shortages(case, position), room)


def _room(node: NodeInfo) -> NodeRoom:
    return NodeRoom(node.allocatable, {**node.requested, "pods": len(node.pods)})
