"""An explanation accounts for every node: it is feasible, rejected by the first plugin that objects, or left out."""

from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle import more
from kubesched.explanation import Evaluation, Explainer
from kubesched.framework import NO_NODES, Status
from kubesched.setup import set_up
from tests.properties.cluster_walk import generated, read
from tests.trials import examples

FEATURES = sorted(set(more.USUAL) - {"profiles", "nominated"})


@examples(20)
@given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(0, 9),
    bound=st.integers(0, 25),
    features=st.lists(st.sampled_from(FEATURES), max_size=3, unique=True),
)
def test_every_node_is_accounted_for(seed: int, nodes: int, bound: int, features: list[str]) -> None:
    items = generated(
        seed, nodes=nodes, bound=bound if nodes else 0, pending=4, features=tuple(features) if nodes else ()
    )
    explainer = Explainer([read(item) for item in items], set_up(None))
    for pod in explainer.pending:
        said = explainer.evaluate(pod)
        names = said.nodes.names
        assert len(names) == nodes
        assert sorted([*said.feasible, *said.rejections, *left_out(said)]) == sorted(names)
        for name, status in said.rejections.items():
            assert status == first_objection(said, names.index(name))
        if said.fits:
            assert totals(said) == dict(zip(said.scores.nodes.names, said.scores.total.tolist(), strict=True))
            assert said.best == [name for name in said.feasible if totals(said)[name] == max(totals(said).values())]
            assert said.message == ""
        else:
            assert said.scores is None
            assert said.message.startswith(f"0/{nodes} nodes are available:" if nodes else NO_NODES)


def left_out(said: Evaluation) -> list[str]:
    """Nodes that PreFilter did not leave to the filters."""
    looked_at = [] if said.result is None else said.result.nodes.names
    return [name for name in said.nodes.names if name not in looked_at]


def first_objection(said: Evaluation, position: int) -> Status:
    """Of the plugins' own verdicts the first rejection, in the order in which filters run."""
    statuses = [verdicts.status_of(position).by(plugin) for plugin, verdicts in said.by_plugin.items()]
    return next(status for status in statuses if not status.is_success)


def totals(said: Evaluation) -> dict[str, int]:
    return {name: sum(said.scores.at(position).values()) for position, name in enumerate(said.scores.nodes.names)}
