import pytest

from kubesched.api import ActionType
from kubesched.framework import QueueingHint, Status
from kubesched.plugins.taint_toleration import TaintToleration
from tests.plugins.hinting import NODE_ADD, hint, node_event, pod_event
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

TAINT = node_event(ActionType.UPDATE_NODE_TAINT)


def tainted(name: str, *effects: str) -> dict:
    return node(name, taints=[{"key": f"k{i}", "effect": effect} for i, effect in enumerate(effects)])


def test_an_untolerated_taint_is_unresolvable():
    nodes = [
        tainted("none"),
        tainted("soft", "PreferNoSchedule"),
        tainted("hard", "NoSchedule"),
        tainted("x", "NoExecute"),
    ]
    reason = Status.unresolvable("node(s) had untolerated taint(s)")
    assert Asked(TaintToleration(), nodes, pod()).filter() == {"hard": reason, "x": reason}


def test_a_tolerated_taint_does_no_harm():
    tolerant = pod(tolerations=[{"key": "k0", "operator": "Exists"}])
    assert Asked(TaintToleration(), [tainted("a", "NoSchedule")], tolerant).filter() == {}


def test_soft_taints_are_counted_and_reversed():
    nodes = [tainted("a"), tainted("b", "PreferNoSchedule"), tainted("c", *["PreferNoSchedule"] * 3)]
    asked = Asked(TaintToleration(), nodes, pod())
    assert asked.pre_score() is Status.SUCCESS
    assert asked.score() == {"a": 0, "b": 1, "c": 3}
    assert asked.normalized() == {"a": 100, "b": 67, "c": 0}


def test_without_soft_taints_every_node_has_100():
    asked = Asked(TaintToleration(), [tainted("a"), tainted("b", "NoSchedule")], pod())
    asked.pre_score()
    assert asked.normalized() == {"a": 100, "b": 100}


def test_the_score_fails_where_pre_score_is_switched_off():
    asked = Asked(TaintToleration(), [tainted("a")], pod())
    message = 'failed to read "PreScoreTaintToleration" from cycleState: not found'
    for hook in (asked.score, lambda: asked.plugin.score_part(asked.state, asked.pod)):
        with pytest.raises(RuntimeError) as failed:
            hook()
        assert str(failed.value) == message


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (("NoSchedule",), (), QueueingHint.QUEUE),
        (("NoSchedule",), ("PreferNoSchedule",), QueueingHint.QUEUE),
        (("NoSchedule",), ("NoExecute",), QueueingHint.SKIP),
        (("PreferNoSchedule",), (), QueueingHint.SKIP),
        ((), ("NoSchedule",), QueueingHint.SKIP),
    ],
)
def test_a_node_that_becomes_tolerable_helps(old: tuple, new: tuple, expected: QueueingHint):
    before, after = read(tainted("a", *old)), read(tainted("a", *new))
    assert hint(TaintToleration(), TAINT, read_pod(pod()), before, after) is expected


def test_a_new_node_helps_when_it_is_tolerable():
    waiting = read_pod(pod())
    assert hint(TaintToleration(), NODE_ADD, waiting, None, read(tainted("a"))) is QueueingHint.QUEUE
    assert hint(TaintToleration(), NODE_ADD, waiting, None, read(tainted("a", "NoSchedule"))) is QueueingHint.SKIP


def test_the_pods_own_new_tolerations_help():
    event, mine, other = pod_event(ActionType.UPDATE_POD_TOLERATION), read_pod(pod("mine")), read_pod(pod("other"))
    assert hint(TaintToleration(), event, mine, mine, mine) is QueueingHint.QUEUE
    assert hint(TaintToleration(), event, mine, other, other) is QueueingHint.SKIP
