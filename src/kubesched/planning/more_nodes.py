"""How many nodes of a shape are missing for pods to fit: the fewest that a search finds, or why none help."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from kubesched.api import KubeObject, Node, Pod
from kubesched.documents import count
from kubesched.explanation import Explainer, Obstacle, obstacles, with_reasons
from kubesched.framework import Code
from kubesched.planning.changes import with_nodes_like
from kubesched.planning.placed import has_place, placements_of
from kubesched.session import Placement, PodState, Progress, Report, Session

_FIT: Final = "NodeResourcesFit"
_ZONE: Final = "topology.kubernetes.io/zone"


class MoreNodes(NamedTuple):
    """The fewest new nodes that a search found.

    Attributes:
        n: how many; with one less, some pod has no node. None if no number helps.
        cluster: the objects with the new nodes, and without the pods; with none where no number helps.
        report: of the simulation of that cluster with the pods.
        n_without: how many of the pods have a node without new nodes.
        n_at_most: how many have one with as many new nodes as could help; None if all have one.
        next_left: the first pod that has none then.
        obstacle: what keeps it from a new node; empty where that is not known.
        helpful_node: if no number helps: a node of the same shape in another zone, of which as many would; or empty.
    """

    n: int | None
    cluster: list[KubeObject]
    report: Report
    n_without: int
    n_at_most: int | None = None
    next_left: Placement | None = None
    obstacle: str = ""
    helpful_node: str = ""


class _Tried(NamedTuple):
    added: list[KubeObject]
    report: Report
    placements: tuple[Placement, ...]
    obstacle: str = ""
    is_room: bool = False

    @property
    def nodes(self) -> list[str]:
        """The names of the new nodes."""
        return [one.name for one in self.added if isinstance(one, Node)]

    @property
    def left(self) -> list[Placement]:
        return [one for one in self.placements if not has_place(one)]

    @property
    def n_left_in_all(self) -> int:
        """How many pods have no node, with those that were pending already."""
        return sum(not has_place(one) for one in self.report.placements)

    @property
    def example(self) -> str:
        """A new node, an unused one if there is one."""
        return (self.unused or self.nodes)[-1]

    @property
    def unused(self) -> list[str]:
        """The new nodes that no pod goes to."""
        used = {one.node for one in self.report.placements}
        return [name for name in self.nodes if name not in used]


def fewest_nodes(
    session: Session,
    cluster: Sequence[KubeObject],
    new: Sequence[KubeObject],
    model: Node,
    progress: Progress | None = None,
) -> MoreNodes:
    """Search the fewest nodes that have to be added.

    As many nodes as pods are left are the upper limit: of the pods in question, and if all of these nodes are used, of
    all pods, because those that are pending already can take new nodes first.

    Args:
        cluster: the objects of the session.
        new: the pods in question, and the objects that come with them.
        model: the shape of a new node.
    """

    def run(n: int, shape: Node = model, *, explains: bool = False) -> _Tried:
        added = with_nodes_like(cluster, shape, n)[len(cluster) :]
        with session.fork():
            session.change([*added, *new])
            report = session.schedule(progress)
            if explains or not n:
                report = with_reasons(session, report, only=[one.key for one in new if isinstance(one, Pod)])
            tried = _Tried(added, report, placements_of(new, report))
            if explains and tried.left:
                found = _obstacles(tried, new, session)
                text = _in_words(tried, found) if found else ""
                tried = tried._replace(obstacle=text, is_room=any(one.plugin == _FIT for one in found))
            return tried

    none_added = run(0)
    n_without = len(none_added.placements) - len(none_added.left)
    if not none_added.left:
        return MoreNodes(0, list(cluster), none_added.report, n_without)
    too_few, enough = 0, len(none_added.left)
    best = run(enough, explains=True)
    if best.left and not best.unused and none_added.n_left_in_all > enough:
        too_few, enough = enough, none_added.n_left_in_all
        best = run(enough, explains=True)
    if best.left:
        n_at_most = len(best.placements) - len(best.left)
        found = list(cluster), none_added.report, n_without, n_at_most, best.left[0]
        others = () if best.is_room else _in_other_zones(cluster, model)
        helpful = next((node.name for node in others if not run(enough, node).left), "")
        return MoreNodes(None, *found, best.obstacle, helpful)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        tried = run(middle)
        if tried.left:
            too_few = middle
        else:
            enough, best = middle, tried
    return MoreNodes(enough, [*cluster, *best.added], best.report, n_without)


def _in_other_zones(cluster: Iterable[KubeObject], model: Node) -> Iterator[Node]:
    """One node of each other zone with the allocatable resources and the taints of the model."""
    zones = {model.labels.get(_ZONE, "")}
    for node in cluster:
        if isinstance(node, Node) and node.labels.get(_ZONE, "") not in zones:
            if (node.status.allocatable, node.taints) == (model.status.allocatable, model.taints):
                zones.add(node.labels.get(_ZONE, ""))
                yield node


def _obstacles(tried: _Tried, new: Iterable[KubeObject], session: Session) -> list[Obstacle]:
    """What keeps the first pod that is left from a new node; nothing where that is not known."""
    left = tried.left[0]
    if left.state is not PodState.UNSCHEDULABLE or not left.profile:
        return []
    pod = next(one for one in new if isinstance(one, Pod) and one.key == left.pod)
    evaluation = Explainer(session).evaluate(pod, preempt=False)
    return obstacles(evaluation, evaluation.names.index(tried.example))


def _in_words(tried: _Tried, found: Sequence[Obstacle]) -> str:
    texts = [one.text for one in found]
    n_there = sum(isinstance(one, Pod) and one.node_name == tried.example for one in tried.added)
    if n_there and any(one.plugin == _FIT and one.status.code is Code.UNSCHEDULABLE for one in found):
        texts.append(f"{count(n_there, 'DaemonSet or static pod runs', 'DaemonSet or static pods run')} there")
    return "; ".join(texts)
