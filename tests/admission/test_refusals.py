"""Valid manifests whose pods an API server refuses: the answer has the refusal, and is not an input error."""

import pytest

from kubesched.planning import fit
from kubesched.planning.pods_that_fit import Fit
from kubesched.snapshot import load_snapshot
from tests.admission.test_admission import refused
from tests.snapshot.builders import listed, node, other, pod, stream, workload

NODE = node("n", status={"allocatable": {"cpu": "8", "memory": "8Gi", "example.com/gpu": "4", "pods": "110"}})
HIGH = other("scheduling.k8s.io/v1", "PriorityClass", "high", value=9)
SHOP = {"metadata": {"namespace": "shop"}}


def template(requests=None, **spec):
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests or {}}}], **spec}


def limit_range(name="usual", **limits):
    return other("v1", "LimitRange", name, **SHOP, spec={"limits": [{"type": "Container", **limits}]})


def asked(manifest, *cluster) -> Fit:
    return fit(load_snapshot(stream(listed(NODE, *cluster))).objects, stream(manifest))


def refusal(answer: Fit) -> str:
    assert (answer.n_fit, answer.n_asked) == (0, 2)
    (one,) = {placement.refused for placement in answer.placements}
    return one


def web(spec):
    return workload("Deployment", template=spec, replicas=2)


@pytest.mark.parametrize("default", [{"default": {"cpu": "2"}}, {"max": {"cpu": "2"}}])
def test_a_default_limit_below_the_request_refuses_the_pods(default):
    said = refusal(asked(web(template({"cpu": "3"})), limit_range(**default)))
    assert said == (
        'spec.containers[0].resources.requests: Invalid value: "3": must be less than or equal to cpu limit of 2 '
        "(with the defaults of LimitRange usual)"
    )


def test_all_limit_ranges_with_defaults_are_named_and_the_first_by_name_counts():
    ranges = [limit_range("b", default={"cpu": "1"}), limit_range("a", default={"cpu": "2"})]
    assert refusal(asked(web(template({"cpu": "3"})), *ranges)).endswith(
        "limit of 2 (with the defaults of LimitRange a, b)"
    )


def test_the_message_of_a_pod_that_is_not_valid_says_so():
    (message, *_) = {
        one.message for one in asked(web(template({"cpu": "3"})), limit_range(max={"cpu": "2"})).placements
    }
    assert message.startswith('Pod "web-')
    assert '" is invalid: spec.containers[0].resources.requests: Invalid value: "3": must be' in message


def test_a_class_that_is_not_there_comes_before_limits():
    classes = [other("node.k8s.io/v1", "RuntimeClass", "kata", handler="kata"), limit_range(max={"cpu": "2"})]
    said = refusal(asked(web(template({"cpu": "3"}, runtimeClassName="gvisor")), *classes))
    assert said == 'pod rejected: RuntimeClass "gvisor" not found'


def test_limits_come_before_an_overhead_without_a_class():
    spec = template({"cpu": "1"}, overhead={"cpu": "1"})
    assert refusal(asked(web(spec), limit_range(min={"cpu": "2"}))).startswith("minimum cpu usage per Container")
    assert refusal(asked(web(spec))).startswith("pod rejected: Pod Overhead set")


def test_init_containers_are_limited_too():
    spec = template({"cpu": "1"}, initContainers=template({"cpu": "3"})["containers"])
    said = refusal(asked(web(spec), limit_range(default={"cpu": "2"})))
    assert said.startswith("spec.initContainers[0].resources.requests: ")


def test_a_default_limit_above_the_request_refuses_nothing():
    assert asked(web(template({"cpu": "2"})), limit_range(default={"cpu": "2"})).all_fit


def test_a_limit_of_the_manifest_below_its_request_is_an_error():
    spec = template({"cpu": "3"})
    spec["containers"][0]["resources"]["limits"] = {"cpu": "1"}
    message = refused(web(spec), cluster=[NODE, limit_range(default={"cpu": "2"})])
    assert "must be less than or equal to cpu limit of 1" in message


def test_a_priority_class_that_is_not_there_refuses_the_pods():
    manifest = web(template(priorityClassName="urgent"))
    assert refusal(asked(manifest, HIGH)) == "no PriorityClass with name urgent was found"
    assert asked(web(template(priorityClassName="high")), HIGH).all_fit
    answers = [asked(web(template(priorityClassName=name)), HIGH) for name in ("hgih", "urgent")]
    fixes = [{one.fix for one in answer.placements} for answer in answers]
    assert fixes == [
        {'did you mean "high"? Else create PriorityClass hgih'},
        {"create PriorityClass urgent, or name one that is there (high)"},
    ]


def test_a_refusal_of_a_quota_says_what_to_do():
    hard = {"limits.memory": "4Gi", "pods": "1"}
    quota = other("v1", "ResourceQuota", "q", **SHOP, spec={"hard": hard})
    (fix,) = {one.fix for one in asked(web(template()), quota).placements}
    assert fix == "set limits.memory on container c, or add a LimitRange with a default to namespace shop"
    bound = template()
    bound["containers"][0]["resources"]["limits"] = {"memory": "1Gi"}
    first, second = asked(web(bound), quota).placements
    assert (first.fix, second.fix) == ("", "raise pods of ResourceQuota shop/q")


def test_a_priority_class_is_an_error_where_no_class_shows_that_they_were_listed():
    assert "no PriorityClass with name urgent was found" in refused(pod(priorityClassName="urgent"))


def test_a_namespace_that_is_being_deleted_refuses_the_pods():
    gone = other("v1", "Namespace", "shop", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    said = refusal(asked(web(template()), gone))
    assert said == "unable to create new content in namespace shop because it is being terminated"
    applied = asked(web(template()), gone).notes
    assert not any("neither the snapshot" in note for note in applied)


def test_a_namespace_in_the_manifests_does_not_stop_its_deletion():
    gone = other("v1", "Namespace", "shop", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    new = other("v1", "Namespace", "shop", metadata={"labels": {"team": "a"}})
    answer = fit(load_snapshot(stream(listed(NODE, gone))).objects, stream(web(template()), new))
    assert "is being terminated" in refusal(answer)


def test_a_namespace_that_is_not_there_refuses_the_pods():
    there = [other("v1", "Namespace", name) for name in ("default", "shops")]
    answer = asked(web(template()), *there)
    assert refusal(answer) == 'namespaces "shop" not found'
    assert {one.fix for one in answer.placements} == {'did you mean "shops"? Else create Namespace shop'}
    assert asked(web(template())).all_fit
    assert asked(web(template()), other("v1", "Namespace", "part-of-them")).all_fit
    with_it = load_snapshot(stream(listed(NODE, *there))).objects
    assert fit(with_it, stream(other("v1", "Namespace", "shop"), web(template()))).all_fit
