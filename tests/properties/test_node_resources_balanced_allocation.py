from hypothesis import given
from hypothesis import strategies as st

from kubesched.plugins.args import NodeResourcesBalancedAllocationArgs, ResourceSpec
from kubesched.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from tests.plugins.one_plugin import node, pod
from tests.properties.against_reference import differences
from tests.reference.plugins import PLUGINS

NAMES = ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "example.com/nic")


def amounts(largest: int) -> st.SearchStrategy[dict[str, str]]:
    amount = st.integers(0, largest).map(str)
    cpu = st.integers(0, largest).map(lambda milli: f"{milli}m")
    return st.fixed_dictionaries({}, optional={name: cpu if name == "cpu" else amount for name in NAMES})


@st.composite
def items(draw: st.DrawFn) -> list[dict]:
    nodes = [node(f"n{i}", allocatable=draw(amounts(1000))) for i in range(4)]
    placed = [pod(f"p{i}", requests=draw(amounts(700)), nodeName=f"n{i % 4}") for i in range(draw(st.integers(0, 6)))]
    return [*nodes, *placed, *(pod(f"pending{i}", requests=draw(amounts(500))) for i in range(2))]


@given(items(), st.lists(st.sampled_from(NAMES), min_size=1, unique=True), st.booleans())
def test_balance_is_scored_as_by_the_reference(items: list[dict], names: list[str], hole: bool):
    args = NodeResourcesBalancedAllocationArgs(resources=tuple(ResourceSpec(name, 1) for name in names))
    slow = PLUGINS["NodeResourcesBalancedAllocation"]({"resources": [{"name": name} for name in names]})
    assert list(differences(NodeResourcesBalancedAllocation(args), slow, items, hole=hole)) == []
