"""Tries nodes of a shape on a cluster: which pods would fit one, and with how many all of them have a node."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import cycle, islice
from typing import Final, NamedTuple

from kubesched.api import KubeObject, Node, Pod
from kubesched.controllers import OF_PLACES, NodeShape, ZonesOfNodes, new_names, node_with, on_new_node
from kubesched.documents import count
from kubesched.explanation import Evaluation, Explainer, obstacles, reasons_of, with_reasons
from kubesched.framework import Code
from kubesched.planning.placed import has_place
from kubesched.session import Placement, PodState, Report, Session

_MOST_NODES: Final = 1_000  # of a search
_FIT: Final = "NodeResourcesFit"


class LeftPods(NamedTuple):
    """Equal pods of one workload that have no node, and why."""

    workload: str
    pods: tuple[Pod, ...]
    cause: str

    @property
    def keys(self) -> frozenset[str]:
        """`namespace/name` of each."""
        return frozenset(pod.key for pod in self.pods)


class Rejected(NamedTuple):
    """Why a pod does not fit a node: kube-scheduler's words about the node, and those of `explain`."""

    reasons: tuple[str, ...]
    obstacle: str


class FittingNodes(NamedTuple):
    """The nodes of a shape that a pod fits, one for each zone; why it fits none; whether zones are alike for it."""

    models: tuple[Node, ...]
    rejected: Rejected | None
    is_alike: bool = False


def left_pods(session: Session, only: Collection[str]) -> tuple[Report, list[LeftPods]]:
    """What a run makes of the cluster, and the pods that no node is left for, equal ones together.

    Args:
        only: `namespace/name` of the pods in question; empty for all.
    """
    report = session.schedule()
    report = with_reasons(session, report, only=only or None)
    pods = {pod.key: pod for pod in session.pending}
    groups: dict[Hashable, list[Placement]] = {}
    for one in report.placements:
        is_left = one.state is PodState.UNSCHEDULABLE and one.profile and not one.names_node
        if is_left and (not only or one.pod in only):
            groups.setdefault(_alike(session, one, pods[one.pod]), []).append(one)
    found = (
        LeftPods(of[0].workload, tuple(pods[one.pod] for one in of), of[0].diagnosis or of[0].message)
        for of in groups.values()
    )
    return report, sorted(found, key=lambda one: -len(one.pods))


def _alike(session: Session, placement: Placement, pod: Pod) -> Hashable:
    """What equal pods have in common: their workload, if they have one, and all that filters read but their labels."""
    info = session.cluster_state.pod_info(pod)
    return pod.namespace, placement.owner, placement.profile, info.read_by_filters, tuple(pod.claim_names)


class ShapeTrials:
    """Tries shapes on a session, which is as before afterwards.

    Args:
        session: at rest, with all pending pods.
        cluster: its objects.
        left: the pods without a node.
    """

    def __init__(
        self, session: Session, cluster: Sequence[KubeObject], places: ZonesOfNodes, left: Iterable[LeftPods]
    ) -> None:
        self._session = session
        self._cluster = cluster
        self._places = places
        self._left = [pod for one in left for pod in one.pods]
        self._on_it: dict[Hashable, list[KubeObject]] = {}
        self._taken = {one.name for one in cluster if isinstance(one, Node)}
        affinities = (one.spec.affinity for one in cluster if isinstance(one, Pod))
        self._has_anti_affinity = any(one is not None and one.pod_anti_affinity is not None for one in affinities)

    def fitting(self, shapes: Iterable[NodeShape], pods: Sequence[Pod]) -> list[list[FittingNodes]]:
        """For each shape, which of its nodes each of some pods fits.

        The other pending pods have their nodes already, as far as there are any for them.
        """
        aside = self._session.scheduler.aside
        with self._session.fork():
            self._session.schedule()
            explainer = Explainer(self._session)
            found = [[self._fitting(explainer, shape, pod) for pod in pods] for shape in shapes]
        self._session.scheduler.aside = aside
        return found

    def _fitting(self, explainer: Explainer, shape: NodeShape, pod: Pod) -> FittingNodes:
        models = tuple(shape.models_for(pod, self._places))
        is_alike = self._is_same_everywhere(pod)
        tried = [(model, self._rejected(explainer, model, pod)) for model in (models[:1] if is_alike else models)]
        fitting = tuple(model for model, rejected in tried if rejected is None)
        reasons = [rejected for _, rejected in tried if rejected is not None]
        if fitting:
            return FittingNodes(models if is_alike else fitting, None, is_alike)
        return FittingNodes((), min(reasons, key=lambda one: len(one.reasons)))

    def _is_same_everywhere(self, pod: Pod) -> bool:
        """Whether no rule of the pod or of placed pods sets one zone apart from another."""
        spec = pod.spec
        is_bound = spec.affinity is not None or spec.topology_spread_constraints or any(pod.claim_names)
        return not (is_bound or self._has_anti_affinity or any(key.startswith(OF_PLACES) for key in pod.node_selector))

    def _rejected(self, explainer: Explainer, model: Node, pod: Pod) -> Rejected | None:
        """Why a pod does not fit a new node; None where it fits."""
        added = self._new_nodes([model], 1)
        with self._session.fork():
            self._session.change(added)
            evaluation = explainer.evaluate(pod, preempt=False)
            name = added[0].name
            n_there = sum(isinstance(one, Pod) for one in added)
            return None if name in evaluation.feasible else _why(evaluation, evaluation.names.index(name), n_there)

    def _new_nodes(self, models: Sequence[Node], n: int) -> list[KubeObject]:
        """New nodes like some models, one after another and from the beginning again, with what is on them."""
        added: list[KubeObject] = []
        names = {model.name: (name for name in new_names(model) if name not in self._taken) for model in models}
        given: set[str] = set()
        for model in islice(cycle(models), n):
            key = (model.name, tuple(sorted(model.labels.items())))
            if key not in self._on_it:
                self._on_it[key] = on_new_node(self._cluster, model)
            name = next(name for name in names[model.name] if name not in given)
            given.add(name)
            added += node_with(model, name, self._on_it[key])
        return added

    def placed(self, pods: Collection[str], models: Sequence[Node], n: int) -> int:
        """How many of some pods have a node with `n` new nodes; of the pods without a node there are no others.

        Args:
            models: the nodes, one after another and from the beginning again.
        """
        with self._session.fork():
            gone = [pod for pod in self._left if pod.key not in pods]
            self._session.change(self._new_nodes(models, n), gone=gone)
            report = self._session.schedule()
        return sum(one.pod in pods and has_place(one) for one in report.placements)

    def on_one(self, pods: Collection[str], models: Sequence[Node]) -> int:
        """How many of some pods have a node with one new node, in the zone that is best for them."""
        return max((self.placed(pods, [model], 1) for model in models), default=0)

    def needed(self, pods: Collection[str], models: Sequence[Node], n_on_one: int) -> int | None:
        """With how many new nodes all of some pods have one; None if no number was found."""
        if not n_on_one or n_on_one == len(pods):
            return 1 if n_on_one else None

        def is_enough(n: int) -> bool:
            return self.placed(pods, models, n) == len(pods)

        guess, most = -(-len(pods) // n_on_one), min(len(pods), _MOST_NODES)
        if is_enough(guess):  # often the fewest; pods that spread may do with fewer
            too_few, enough = (0, guess - 1) if guess > 1 and is_enough(guess - 1) else (guess - 1, guess)
        elif guess < most and is_enough(most):
            too_few, enough = guess, most
        else:
            return None
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            too_few, enough = (too_few, middle) if is_enough(middle) else (middle, enough)
        return enough


def _why(evaluation: Evaluation, position: int, n_there: int) -> Rejected:
    found = obstacles(evaluation, position)
    reasons = dict.fromkeys(reason for one in found for reason in reasons_of(one.status))
    texts = list(dict.fromkeys(text for one in found for text in one.text.split("; ")))
    if n_there and any(one.plugin == _FIT and one.status.code is Code.UNSCHEDULABLE for one in found):
        texts.append(f"{count(n_there, 'pod of a DaemonSet runs', 'pods of DaemonSets run')} there")
    return Rejected(tuple(reasons), "; ".join(texts))
