import pytest

from kubesched.framework import Diagnosis, QueueingHint, Status
from kubesched.plugins.dynamic_resources import DynamicResources
from tests.plugins.hinting import NODE_ADD, hint
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

NODES = [node("a"), node("b")]


def asked_about(**spec: object) -> Asked:
    return Asked(DynamicResources(), NODES, pod(**spec))


def test_a_pod_without_claims_passes_and_scores_0():
    asked = asked_about()
    assert asked.plugin.pre_enqueue(asked.pod) is Status.SUCCESS
    assert asked.pre_filter() is Status.SKIP
    assert asked.score() == {"a": 0, "b": 0}
    assert asked.plugin.reserve(asked.state, asked.pod, "a") is Status.SUCCESS
    assert asked.plugin.pre_bind_pre_flight(asked.state, asked.pod, "a") is Status.SKIP


def test_a_pod_with_claims_is_turned_down():
    rejected = asked_about(resourceClaims=[{"name": "gpu"}]).pre_filter()
    assert rejected == Status.unresolvable("kubesched does not place pods with resource claims yet")


def test_post_filter_has_nothing_to_free():
    asked = asked_about()
    asked.pre_filter()
    answer = asked.plugin.post_filter(asked.state, asked.pod, Diagnosis(2))
    assert answer == (None, Status.unschedulable("no new claims to deallocate"))


def test_post_filter_fails_where_pre_filter_did_not_run():
    asked = asked_about()
    assert asked.plugin.post_filter(asked.state, asked.pod, Diagnosis(2)) == (None, Status.error("not found"))


def test_filter_and_score_fail_where_pre_filter_is_switched_off():
    asked = asked_about()
    for hook in (asked.filter, asked.score, lambda: asked.plugin.score_part(asked.state, asked.pod)):
        with pytest.raises(RuntimeError, match=r"^not found$"):
            hook()


def test_every_new_node_is_worth_a_try():
    assert hint(DynamicResources(), NODE_ADD, read_pod(pod()), None, read(NODES[0])) is QueueingHint.QUEUE
