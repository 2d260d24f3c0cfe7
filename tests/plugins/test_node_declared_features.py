import pytest

from kubesched.api import ActionType
from kubesched.framework import QueueingHint, Status
from kubesched.plugins.node_declared_features import NodeDeclaredFeatures
from tests.plugins.hinting import NODE_ADD, hint, node_event, pod_event
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

RESTART, USERS = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"
MISSING = Status.unresolvable("node(s) didn't match Pod's required features")
RULE = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
HOST = {"hostNetwork": True, "hostUsers": False}


def declaring(name: str, *features: str) -> dict:
    found = node(name)
    return {**found, "status": {**found["status"], "declaredFeatures": list(features)}}


def rejected(incoming: dict) -> set[str]:
    nodes = [node("none"), declaring("restart", RESTART), declaring("users", USERS), declaring("both", RESTART, USERS)]
    asked = Asked(NodeDeclaredFeatures(), nodes, incoming)
    assert asked.pre_filter() is Status.SUCCESS
    answers = asked.filter()
    assert set(answers.values()) == {MISSING}
    return set(answers)


@pytest.mark.parametrize(
    "spec", [{}, {"hostNetwork": True}, {"hostUsers": False}, {"hostNetwork": True, "hostUsers": True}]
)
def test_an_ordinary_pod_skips(spec: dict):
    assert Asked(NodeDeclaredFeatures(), [node("a")], pod(**spec)).pre_filter() is Status.SKIP


@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_restarting_all_containers_needs_a_feature(field: str):
    restarting = {field: [{"name": "c", "image": "x", "restartPolicyRules": RULE}]}
    assert rejected(pod(**restarting)) == {"none", "users"}


def test_user_namespaces_on_the_host_network_need_a_feature():
    assert rejected(pod(**HOST)) == {"none", "restart"}


def test_every_needed_feature_must_be_there():
    both = pod(containers=[{"name": "c", "image": "x", "restartPolicyRules": RULE}], **HOST)
    assert rejected(both) == {"none", "restart", "users"}


def test_the_filter_fails_where_pre_filter_is_switched_off():
    asked = Asked(NodeDeclaredFeatures(), [node("a")], pod())
    for hook in (asked.filter, lambda: asked.plugin.filter_part(asked.state, asked.pod)):
        with pytest.raises(RuntimeError) as failed:
            hook()
        assert str(failed.value) == 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'


def test_a_node_that_comes_or_declares_something_else_helps():
    changed, waiting = node_event(ActionType.UPDATE_NODE_DECLARED_FEATURE), read_pod(pod(**HOST))
    old, new = read(node("a")), read(declaring("a", USERS))
    assert hint(NodeDeclaredFeatures(), NODE_ADD, waiting, None, old) is QueueingHint.QUEUE
    assert hint(NodeDeclaredFeatures(), changed, waiting, old, new) is QueueingHint.QUEUE
    assert hint(NodeDeclaredFeatures(), changed, waiting, new, new) is QueueingHint.SKIP


def test_the_pods_own_other_needs_help():
    event, waiting, plain = pod_event(ActionType.UPDATE_OTHER), read_pod(pod(**HOST)), read_pod(pod())
    other = read_pod(pod("other"))
    assert hint(NodeDeclaredFeatures(), event, waiting, waiting, plain) is QueueingHint.QUEUE
    assert hint(NodeDeclaredFeatures(), event, waiting, waiting, waiting) is QueueingHint.SKIP
    assert hint(NodeDeclaredFeatures(), event, waiting, read_pod(pod("other", **HOST)), other) is QueueingHint.SKIP
