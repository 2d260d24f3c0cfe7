"""Pods of requests: decoded once, in bounds; victims by uid looked up in the watch."""

import json
from typing import Any

import pytest

from kubesched.errors import ExtenderError
from kubesched.extender import RequestedPods
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod
from kubesched.wire import MetaPod
from tests.extender.asking import Server, encode, pod, with_nodes


def requested(*, is_watched: bool = False) -> RequestedPods:
    return RequestedPods(ClusterState(), is_watched=is_watched)


def test_the_same_bytes_give_the_same_pod():
    pods = requested()
    first = pods.info(encode(pod("a")))
    assert first.pod.key == "d/a"
    assert pods.info(encode(pod("b"))).pod.key == "d/b"
    assert pods.info(encode(pod("a"))) is first


def test_a_pod_that_changed_is_another_one():
    pods = requested()
    assert pods.info(encode(pod("a", priority=1))).pod.priority == 1
    assert pods.info(encode(pod("a", priority=2))).pod.priority == 2


def test_the_pod_of_the_last_calls_is_kept_and_old_ones_are_not():
    pods = requested()
    first = pods.info(encode(pod("first")))
    for i in range(200):
        pods.info(encode(pod(f"p{i}")))
    assert pods.info(encode(pod("first"))) is first
    for i in range(200, 400):
        pods.info(encode(pod(f"p{i}")))
    assert pods.info(encode(pod("first"))) is first
    for i in range(400, 700):
        pods.info(encode(pod(f"p{i}")))
    assert pods.info(encode(pod("first"))) is not first


def test_victims_push_out_nobody():
    pods = requested()
    first = pods.info(encode(pod("first")))
    for i in range(1000):
        pods.info(encode(pod(f"victim-{i}")), keep=False)
    assert pods.info(encode(pod("first"))) is first


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (5, "Pod: expected an object, found 5"),
        ({"spec": {}}, "Pod: metadata.name is missing"),
        (pod(containers="c"), 'Pod: spec.containers: expected a list, found "c"'),
        (pod(priority="high"), 'Pod: spec.priority: expected an integer, found "high"'),
        (pod(overhead={"cpu": "much"}), "Pod: spec.overhead.cpu: 'much' is not a quantity"),
    ],
)
def test_a_pod_that_is_none_says_why(wrong: Any, message: str):
    with pytest.raises(ExtenderError) as raised:
        requested().info(encode(wrong))
    assert str(raised.value).startswith(message)
    assert json.loads(encode(wrong)) == wrong
    assert Server().filter(with_nodes(pod=wrong)).Error.startswith(message)


def test_victims_by_uid_are_those_of_the_watch_that_are_still_there():
    victim = make_pod("v", node="n1")
    server = Server(watched=[make_node("n1"), victim])
    pods = RequestedPods(server.cluster_state, is_watched=True)
    assert [info.pod for info in pods.placed([MetaPod("gone"), MetaPod(victim.uid), MetaPod("")])] == [victim]


def test_victims_by_uid_need_a_watch():
    with pytest.raises(ExtenderError, match=r"victims only by uid.*--kubeconfig.*nodeCacheCapable: false"):
        requested().placed([MetaPod("v")])
