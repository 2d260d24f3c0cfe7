from hypothesis import given
from hypothesis import strategies as st

from kubesched.plugins.node_ports import NodePorts
from tests.plugins.one_plugin import node, pod
from tests.properties.against_reference import differences
from tests.reference.plugins import PLUGINS

PORTS = st.lists(
    st.fixed_dictionaries(
        {"hostPort": st.integers(0, 2)},
        optional={
            "hostIP": st.sampled_from(["", "0.0.0.0", "10.0.0.1", "10.0.0.2", "::"]),
            "protocol": st.sampled_from(["", "TCP", "UDP"]),
        },
    ),
    max_size=3,
)


@st.composite
def items(draw: st.DrawFn) -> list[dict]:
    placed = [pod(f"p{i}", ports=draw(PORTS), nodeName=f"n{i % 4}") for i in range(draw(st.integers(0, 5)))]
    sidecar = {"name": "s", "image": "x", "restartPolicy": "Always", "ports": draw(PORTS)}
    setup = {"name": "i", "image": "x", "ports": draw(PORTS)}
    pending = pod("pending", ports=draw(PORTS), initContainers=draw(st.sampled_from([[], [setup], [sidecar, setup]])))
    return [*(node(f"n{i}") for i in range(4)), *placed, pending]


@given(items(), st.booleans())
def test_host_ports_are_judged_as_by_the_reference(items: list[dict], hole: bool):
    assert list(differences(NodePorts(), PLUGINS["NodePorts"](), items, hole=hole)) == []
