"""Nodes that a plugin calls alike have the same details, on any cluster."""

from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle import more
from kubesched.explanation import Explainer, obstacles
from kubesched.setup import set_up
from tests.properties.cluster_walk import generated, read
from tests.trials import examples

FEATURES = sorted(set(more.USUAL) - {"profiles"})


@examples(20)
@given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(1, 12),
    bound=st.integers(0, 25),
    features=st.lists(st.sampled_from(FEATURES), max_size=4, unique=True),
)
def test_nodes_that_are_alike_have_the_same_details(seed: int, nodes: int, bound: int, features: list[str]) -> None:
    items = generated(seed, nodes=nodes, bound=bound, pending=4, features=tuple(features))
    with Explainer([read(item) for item in items], set_up(None)) as explainer:
        for pod in explainer.pending:
            evaluation = explainer.evaluate(pod)
            details: dict[tuple, tuple] = {}
            for position in range(nodes):
                for obstacle in obstacles(evaluation, position):
                    if (asked := evaluation.asked.get(obstacle.plugin)) is not None:
                        key = obstacle.plugin, int(asked.alike[position]), obstacle.status
                        shown = obstacle.details, obstacle.is_cordon
                        assert details.setdefault(key, shown) == shown
