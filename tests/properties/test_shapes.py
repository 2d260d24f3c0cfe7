"""A shape takes what it is said to take: as many pods have a node in a fresh simulation with such a node."""

from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle import more
from kubesched.api import Node, Pod
from kubesched.controllers import MachineType, node_shapes
from kubesched.planning import has_place, shapes_that_fit, with_nodes_like
from kubesched.session import Simulator
from kubesched.setup import set_up
from tests.properties.cluster_walk import generated, read
from tests.trials import examples

FEATURES = sorted(set(more.USUAL) - {"profiles"})
ROWS = (
    MachineType("small", {"cpu": "4", "memory": "8Gi", "pods": "10"}, zones=("zone-1",)),
    MachineType("large", {"cpu": "32", "memory": "128Gi", "pods": "110"}),
)


@examples(12)
@given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(1, 5),
    bound=st.integers(0, 20),
    pending=st.integers(1, 10),
    features=st.lists(st.sampled_from(FEATURES), max_size=3, unique=True),
)
def test_a_node_of_a_shape_takes_as_many_pods_as_is_said(seed, nodes, bound, pending, features) -> None:
    objects = [
        read(item) for item in generated(seed, nodes=nodes, bound=bound, pending=pending, features=tuple(features))
    ]
    answer = shapes_that_fit(objects, set_up(None), ROWS)
    known = node_shapes(objects, ROWS)
    left = {pod for one in answer.left for pod in one.pods}
    for group in answer.left:
        alone = [one for one in objects if not isinstance(one, Pod) or one.key in group.pods or one.key not in left]
        first = next(one for one in objects if isinstance(one, Pod) and one.key == group.pods[0])
        for shape, verdict in zip(known.shapes, group.verdicts, strict=True):
            models = [
                model
                for model in shape.models_for(first, known.places)
                if model.labels.get("topology.kubernetes.io/zone", "") in (verdict.zones or ("",))
            ]
            if verdict.n_nodes is not None and len(models) == 1:
                assert placed(alone, group.pods, models[0], verdict.n_nodes) == len(group.pods)
            if verdict.n_on_one:
                assert verdict.n_on_one == max(placed(alone, group.pods, model) for model in models)


def placed(objects: list, pods: tuple[str, ...], model: Node, n: int = 1) -> int:
    """How many of some pods have a node in a new simulation with more nodes."""
    report = Simulator(with_nodes_like(objects, model, n), set_up(None)).run()
    return sum(one.pod in pods and has_place(one) for one in report.placements)
