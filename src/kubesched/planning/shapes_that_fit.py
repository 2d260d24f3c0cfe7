"""Which of the nodes that autoscalers may add would take pending pods, how many of them, and why the others would not.

Each answer is that of a simulation of the cluster with such nodes, and with the pods of DaemonSets on them.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from kubesched.api import ZONE, KubeObject, Node, Pod, is_extended_resource, parse_quantity
from kubesched.controllers import MachineType, NodeShape, Prices, node_shapes, price_of
from kubesched.documents import count
from kubesched.errors import InputError
from kubesched.planning.changed_cluster import Changed
from kubesched.planning.difference import new_pods
from kubesched.planning.shape_trials import FittingNodes, LeftPods, ShapeTrials, left_pods
from kubesched.release import DEFAULT_VERSION, DecidingVersion
from kubesched.session import Progress, Session
from kubesched.setup import Setup
from kubesched.shown import Shown
from kubesched.snapshot import as_read

_MAX_KINDS: Final = 50  # of pods that are asked about, those of most pods first
_NO_PRICES: Final[Prices] = {}


class ShapeVerdict(msgspec.Struct, frozen=True):
    """What a node of one shape is for equal pods.

    Attributes:
        shape: the name of the shape.
        n_on_one: how many of the pods have a node once there is one node of the shape; 0 if none would fit.
        n_nodes: with how many nodes all of them have one; None if no number was found.
        n_within: how many of them have one with as many nodes as there may be.
        zones: where one fits; empty where the nodes have no zone.
        reasons: why none fits: kube-scheduler's words about the node.
        obstacle: the same in the words of `explain`.
    """

    shape: str
    n_on_one: int = 0
    n_nodes: int | None = None
    n_within: int = 0
    zones: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    obstacle: str = ""


class PodsLeft(msgspec.Struct, frozen=True):
    """Equal pods without a node.

    Attributes:
        workload: whom they belong to, such as `Deployment shop/web`.
        pods: `namespace/name` of each.
        cause: what keeps them from the nodes that there are.
        verdicts: one for each shape.
        best: the name of the shape that takes all of them within its limit with the lowest price, if the prices of all
            such shapes are known, or else with the fewest nodes; empty for none.
    """

    workload: str
    pods: tuple[str, ...]
    cause: str
    verdicts: tuple[ShapeVerdict, ...] = ()
    best: str = ""

    @property
    def n_pods(self) -> int:
        """How many pods these are."""
        return len(self.pods)

    @property
    def chosen(self) -> ShapeVerdict | None:
        """The verdict of the best shape; None for none."""
        return next((one for one in self.verdicts if one.shape == self.best), None)


class ShapeUse(msgspec.Struct, frozen=True):
    """What a shape is for all pending pods.

    Attributes:
        n_pods: how many of the pods would fit a node of it.
        n_on_one: how many of them have a node once there is one node of the shape.
        n_nodes: with how many nodes all of them have one, where nodes for pods that ask for other labels of it are
            counted apart; None if no number was found.
    """

    shape: NodeShape
    n_pods: int = 0
    n_on_one: int = 0
    n_nodes: int | None = None

    @property
    def is_short(self) -> bool:
        """Whether there may be fewer nodes than that."""
        most = self.shape.n_more
        return most is not None and self.n_nodes is not None and self.n_nodes > most


class ShapesThatFit(Shown, msgspec.Struct, frozen=True, eq=False):
    """Which shapes of nodes would take the pods that have no node.

    Attributes:
        shapes: all that are known.
        left: the pods that have no node without new nodes.
        n_placed: how many of the pods in question have a node without new nodes.
        notes: what is not known, one sentence each.
        taken_at: when the snapshot was taken, if that is known.
        version: the version of Kubernetes whose rules decided.
        faults: what plugins failed with.
        assumed: the changes to the cluster under which it is answered, each as what follows "if".

    Example:
        answer = shapes_that_fit(load_snapshot("cluster.json"), set_up())
        print([(one.workload, one.best) for one in answer.left])
    """

    shapes: tuple[ShapeUse, ...]
    left: tuple[PodsLeft, ...]
    n_placed: int = 0
    notes: tuple[str, ...] = ()
    taken_at: datetime | None = None
    version: DecidingVersion = DEFAULT_VERSION
    faults: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def n_left(self) -> int:
        """How many pods have no node without new nodes."""
        return sum(one.n_pods for one in self.left)

    @property
    def n_helped(self) -> int:
        """How many of them would fit nodes of one shape, within its limit."""
        return sum(one.n_pods if one.best else max((v.n_within for v in one.verdicts), default=0) for one in self.left)


def shapes_that_fit(
    snapshot: Iterable[KubeObject],
    setup: Setup,
    rows: Sequence[MachineType] = (),
    *,
    file: str = "",
    prices: Prices = _NO_PRICES,
    new: Sequence[KubeObject] = (),
    notes: Iterable[str] = (),
    changed: Changed | None = None,
    progress: Progress | None = None,
) -> ShapesThatFit:
    """Ask which nodes that autoscalers may add would take the pods that no node is left for.

    Args:
        snapshot: the cluster, with its NodePools, NodeClaims and the ConfigMap of cluster-autoscaler.
        rows: further types of machines, as `read_shapes` reads them from `file`.
        prices: of an hour, by type of machine, and perhaps by what is paid for.
        new: objects with new pods, which are then the only ones in question.
        notes: on these.
        changed: the changes that the cluster has behind it, if there are any.
        progress: called with how many shapes have been tried and how many there are.
    Raises:
        InputError: no shape is known.
    """
    read = as_read(snapshot)
    cluster = [*read, *new]
    known = node_shapes(cluster, rows, file)
    if not known.shapes:
        described = "; ".join(known.notes) or (
            "the cluster has no NodePool, NodeClaim or ConfigMap cluster-autoscaler-status with node groups"
        )
        raise InputError(f"no shape of a node is known: {described}; --shapes=FILE.csv names types of machines")
    only = {one.key for one in new if isinstance(one, Pod)}
    shapes = [_with_price(shape, prices) for shape in known.shapes]
    started = msgspec.structs.replace(read, objects=tuple(cluster))
    with Session(started, setup, new=new_pods(cluster)) as session:
        session.assumed = frozenset() if changed is None else changed.nodes
        with session.fork():
            report, every = left_pods(session, only)
        left = every[:_MAX_KINDS]
        trials = ShapeTrials(session, cluster, known.places, every)
        uses: list[ShapeUse] = []
        verdicts: list[list[ShapeVerdict]] = []
        fitting = trials.fitting(shapes, [one.pods[0] for one in left]) if left else []
        for n, (shape, of_pods) in enumerate(zip(shapes, fitting, strict=False), 1):
            use, of_shape = _tried(trials, shape, left, of_pods)
            uses.append(use)
            verdicts.append(of_shape)
            if progress is not None:
                progress(n, len(shapes))
    by_pods = [_with_best(one, [of[i] for of in verdicts], shapes) for i, one in enumerate(left)]
    n_asked = sum(not only or one.pod in only for one in report.placements if one.profile)
    n_left_out = sum(len(one.pods) for one in every[_MAX_KINDS:])
    beyond = [f"{count(n_left_out, 'pod')} of further kinds are not asked about"] if n_left_out else []
    return ShapesThatFit(
        tuple(uses) or tuple(map(ShapeUse, shapes)),
        tuple(by_pods),
        n_asked - sum(len(one.pods) for one in every),
        (*(() if changed is None else changed.notes), *notes, *known.notes, *beyond),
        read.taken_at,
        session.version,
        report.faults,
        () if changed is None else changed.assumed,
    )


def _tried(
    trials: ShapeTrials, shape: NodeShape, left: Sequence[LeftPods], fitting: Sequence[FittingNodes]
) -> tuple[ShapeUse, list[ShapeVerdict]]:
    """What a shape is for all pods, and for equal ones."""
    found: list[ShapeVerdict] = []
    alike: dict[tuple[str, ...], tuple[Sequence[Node], set[str]]] = {}  # pods that ask for the same labels
    for one, (fitted, rejected, is_alike) in zip(left, fitting, strict=True):
        verdict = ShapeVerdict(shape.name)
        if rejected is not None:
            verdict = ShapeVerdict(shape.name, reasons=rejected.reasons, obstacle=rejected.obstacle)
        elif n_on_one := trials.on_one(one.keys, fitted[:1] if is_alike else fitted):
            n_nodes = trials.needed(one.keys, fitted, n_on_one)
            n_within = _within(trials, shape, one.keys, fitted, n_nodes)
            zones = tuple(dict.fromkeys(zone for model in fitted if (zone := model.labels.get(ZONE))))
            verdict = ShapeVerdict(shape.name, n_on_one, n_nodes, n_within, zones)
            tried = fitted[:1] if is_alike else fitted
            labels = tuple(repr(sorted(model.labels.items())) for model in tried)
            alike.setdefault(labels, (tried, set()))[1].update(one.keys)
        found.append(verdict)
    helped = [verdict for verdict in found if verdict.n_on_one]
    n_pods = sum(len(keys) for _, keys in alike.values())
    if len(helped) == 1:
        return ShapeUse(shape, n_pods, helped[0].n_on_one, helped[0].n_nodes), found
    on_one = [trials.on_one(keys, models) for models, keys in alike.values()]
    needed = [trials.needed(keys, models, n) for (models, keys), n in zip(alike.values(), on_one, strict=True)]
    every = [n for n in needed if n is not None]
    n_nodes = sum(every) if every and len(every) == len(needed) else None
    return ShapeUse(shape, n_pods, max(on_one, default=0), n_nodes), found


def _within(
    trials: ShapeTrials, shape: NodeShape, pods: Collection[str], models: Sequence[Node], n_nodes: int | None
) -> int:
    """How many of some pods have a node with as many nodes of a shape as there may be."""
    if n_nodes is not None and (shape.n_more is None or n_nodes <= shape.n_more):
        return len(pods)
    most = len(pods) if shape.n_more is None else min(shape.n_more, len(pods))
    return trials.placed(pods, models, most) if most else 0


def _with_best(one: LeftPods, verdicts: Sequence[ShapeVerdict], shapes: Sequence[NodeShape]) -> PodsLeft:
    """The pods with the best shape: none of the others offers fewer devices that no pod asks for."""
    enough = [
        (shape, verdict, verdict.n_nodes)
        for shape, verdict in zip(shapes, verdicts, strict=False)
        if verdict.n_nodes is not None and (shape.n_more is None or verdict.n_nodes <= shape.n_more)
    ]
    has_prices = all(shape.price is not None for shape, _, _ in enough)
    asked = one.pods[0].requests

    def cost(of: tuple[NodeShape, ShapeVerdict, int]) -> tuple[int, float]:
        shape, _, n = of
        offered = shape.model.status.allocatable or {}
        unused = [name for name in offered if is_extended_resource(name) and parse_quantity(offered[name])]
        n_unused = sum(name not in asked for name in unused)
        return n_unused, n * (shape.price or 0) if has_prices else n

    best = min(enough, key=cost)[0].name if enough else ""
    return PodsLeft(one.workload, tuple(pod.key for pod in one.pods), one.cause, tuple(verdicts), best)


def _with_price(shape: NodeShape, prices: Prices) -> NodeShape:
    price = price_of(shape.model.labels, prices)
    return msgspec.structs.replace(shape, price=price) if shape.price is None else shape
