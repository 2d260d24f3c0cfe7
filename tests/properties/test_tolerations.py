from hypothesis import given
from hypothesis import strategies as st

from kubesched.plugins.node_unschedulable import NodeUnschedulable
from kubesched.plugins.taint_toleration import TaintToleration
from tests.plugins.one_plugin import node, pod
from tests.properties.against_reference import differences
from tests.reference.plugins import PLUGINS

KEYS = st.sampled_from(["a", "b", "node.kubernetes.io/unschedulable"])
VALUES = st.sampled_from(["", "1", "2"])
EFFECTS = st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])
TAINTS = st.lists(st.fixed_dictionaries({"key": KEYS, "value": VALUES, "effect": EFFECTS}), max_size=3)
TOLERATION = st.fixed_dictionaries(
    {},
    optional={
        "key": KEYS,
        "operator": st.sampled_from(["Exists", "Equal", "", "Lt", "nonsense"]),
        "value": VALUES,
        "effect": EFFECTS | st.just(""),
    },
)


@st.composite
def items(draw: st.DrawFn) -> list[dict]:
    nodes = [
        node(f"n{i}", taints=draw(TAINTS), unschedulable=draw(st.booleans())) for i in range(draw(st.integers(1, 6)))
    ]
    pods = [pod(f"p{i}", tolerations=draw(st.lists(TOLERATION, max_size=3))) for i in range(2)]
    return [*nodes, *pods]


@given(items(), st.booleans())
def test_taints_are_judged_as_by_the_reference(items: list[dict], hole: bool):
    assert list(differences(TaintToleration(), PLUGINS["TaintToleration"](), items, hole=hole)) == []


@given(items(), st.booleans())
def test_cordoned_nodes_are_judged_as_by_the_reference(items: list[dict], hole: bool):
    assert list(differences(NodeUnschedulable(), PLUGINS["NodeUnschedulable"](), items, hole=hole)) == []
