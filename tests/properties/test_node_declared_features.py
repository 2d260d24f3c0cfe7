from hypothesis import given
from hypothesis import strategies as st

from kubesched.plugins.node_declared_features import NodeDeclaredFeatures
from tests.plugins.one_plugin import node, pod
from tests.properties.against_reference import differences
from tests.reference.plugins import PLUGINS

FEATURES = st.sets(
    st.sampled_from(["Another", "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"])
)
RULES = st.lists(st.fixed_dictionaries({"action": st.sampled_from(["Restart", "RestartAllContainers"])}), max_size=2)


@st.composite
def items(draw: st.DrawFn) -> list[dict]:
    nodes = [node(f"n{i}") for i in range(draw(st.integers(1, 5)))]
    for one in nodes:
        one["status"]["declaredFeatures"] = sorted(draw(FEATURES))
    container = {"name": "c", "image": "x", "restartPolicyRules": draw(RULES)}
    host = draw(st.fixed_dictionaries({}, optional={"hostNetwork": st.booleans(), "hostUsers": st.booleans()}))
    return [*nodes, pod(containers=[container], **host)]


@given(items(), st.booleans())
def test_features_are_judged_as_by_the_reference(items: list[dict], hole: bool):
    assert list(differences(NodeDeclaredFeatures(), PLUGINS["NodeDeclaredFeatures"](), items, hole=hole)) == []
