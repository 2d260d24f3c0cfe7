from kubesched.framework import QueueingHint, Status
from kubesched.plugins.node_name import NodeName
from tests.plugins.hinting import NODE_ADD, hint
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

NODES = [node("a"), node("b")]


def test_a_pod_without_a_node_name_may_run_everywhere():
    assert Asked(NodeName(), NODES, pod()).filter() == {}


def test_every_other_node_is_unresolvable():
    rejected = Asked(NodeName(), NODES, pod(nodeName="b")).filter()
    assert rejected == {"a": Status.unresolvable("node(s) didn't match the requested node name")}


def test_a_name_that_no_node_has_fits_nowhere():
    assert Asked(NodeName(), NODES, pod(nodeName="c")).filter().keys() == {"a", "b"}


def test_every_new_node_is_worth_a_try():
    assert hint(NodeName(), NODE_ADD, read_pod(pod()), None, read(node("c"))) is QueueingHint.QUEUE
