"""LimitRanges complete the requests of new pods, and bound them."""

import pytest

from kubesched.admission import Refusals
from kubesched.api import Pod
from tests.admission.test_admission import expanded, refused
from tests.snapshot.builders import other, pod


def limits(*items, namespace="shop"):
    return other("v1", "LimitRange", "lr", metadata={"namespace": namespace}, spec={"limits": list(items)})


def of_containers(**fields):
    return limits({"type": "Container", **fields})


def with_resources(**resources):
    return pod("p", containers=[{"name": "c", "resources": resources}])


def admitted(manifest, *objects, cluster=()):
    loaded = expanded(manifest, *objects, cluster=cluster)
    (found,) = loaded.of(Pod)
    return found, Refusals(loaded, []).admit(found)


@pytest.mark.parametrize(
    ("fields", "requests", "limit"),
    [
        ({"defaultRequest": {"cpu": "500m"}, "default": {"cpu": "2"}}, 500, "2"),
        ({"default": {"cpu": "2"}}, 2000, "2"),
        ({"max": {"cpu": "3"}}, 3000, "3"),
        ({"min": {"cpu": "250m"}}, 250, None),
    ],
)
def test_containers_get_what_they_do_not_have(fields, requests, limit):
    for found, refusal in (
        admitted(pod("p", initContainers=[{"name": "i"}]), of_containers(**fields)),
        admitted(pod("p"), cluster=[of_containers(**fields)]),
    ):
        assert found.requests == {"cpu": requests}
        assert ((found.containers[0].resources.limits or {}).get("cpu")) == limit
        assert refusal == ""


def test_what_is_written_stays():
    written = with_resources(limits={"cpu": "1"}, requests={"memory": "1Gi"})
    found, _ = admitted(written, of_containers(default={"cpu": "4", "memory": "2Gi"}, defaultRequest={"cpu": "3"}))
    assert found.requests == {"cpu": 1000, "memory": 2**30}
    assert found.containers[0].resources.limits == {"cpu": "1", "memory": "2Gi"}


def test_another_namespace_has_its_own_limits():
    found, _ = admitted(pod("p"), limits({"type": "Container", "default": {"cpu": "1"}}, namespace="dev"))
    assert found.requests == {}


@pytest.mark.parametrize(
    ("fields", "resources", "fault"),
    [
        (
            {"max": {"memory": "1Gi"}},
            {"limits": {"memory": "1536Mi"}},
            "maximum memory usage per Container is 1Gi, but limit is 1536Mi",
        ),
        (
            {"min": {"cpu": "500m"}, "max": {"cpu": "2000m"}},
            {"requests": {"cpu": "0.1"}, "limits": {"cpu": "3"}},
            (
                "[minimum cpu usage per Container is 500m, but request is 100m, "
                "maximum cpu usage per Container is 2, but limit is 3]"
            ),
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            {"maxLimitRequestRatio": {"memory": "2"}},
            {},
            "memory max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
    ],
)
def test_a_container_out_of_bounds_is_refused(fields, resources, fault):
    assert admitted(with_resources(**resources), of_containers(**fields))[1] == fault


def test_the_same_fault_of_several_containers_is_said_once():
    two = [{"name": name, "resources": {"limits": {"cpu": "3"}}} for name in "ab"]
    found = admitted(pod("p", containers=two), of_containers(max={"cpu": "2"}))
    assert found[1] == "maximum cpu usage per Container is 2, but limit is 3"


@pytest.mark.parametrize(("requests", "shown"), [(["1Gi", "512M"], "1548576Ki"), (["1e9"], "1e9"), (["1G"], "1G")])
def test_amounts_are_shown_as_the_containers_have_them(requests, shown):
    containers = [{"name": f"c{i}", "resources": {"requests": {"memory": one}}} for i, one in enumerate(requests)]
    bound = limits({"type": "Pod", "min": {"memory": "2Gi"}})
    fault = admitted(pod("p", containers=containers), bound)[1]
    assert fault == f"minimum memory usage per Pod is 2Gi, but request is {shown}"


def test_defaults_can_make_a_manifest_valid():
    pages = {"hugepages-2Mi": "2Mi"}
    written = with_resources(requests=pages, limits=pages)
    assert admitted(written, of_containers(defaultRequest={"memory": "1Mi"}))[1] == ""
    assert "HugePages require cpu or memory" in refused(written)


def test_defaults_count_against_pod_level_requests():
    written = pod("p", resources={"requests": {"cpu": "100m"}})
    assert admitted(written, of_containers(defaultRequest={"cpu": "300m"}))[1] == (
        'spec.resources.requests[cpu]: Invalid value: "100m": must be greater than or equal to aggregate container '
        "requests of 300m (with the defaults of LimitRange lr)"
    )


def test_pod_level_requests_include_the_defaults_of_containers():
    written = pod("p", resources={"limits": {"memory": "1Gi"}})
    found, _ = admitted(written, of_containers(defaultRequest={"cpu": "300m"}))
    assert found.spec.resources.requests == {"memory": "1Gi", "cpu": "300m"}


def test_a_whole_pod_is_bounded_too():
    two = [{"name": name, "resources": {"limits": {"cpu": "1500m"}}} for name in "ab"]
    bound = limits({"type": "Pod", "max": {"cpu": "2"}})
    assert admitted(pod("p", containers=two), bound)[1] == "maximum cpu usage per Pod is 2, but limit is 3"
    assert admitted(pod("p"), bound)[1] == "maximum cpu usage per Pod is 2.  No limit is specified"


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (of_containers(default={"cpu": "abc"}), "spec.limits[0].default.cpu: 'abc' is not a quantity"),
        (
            other("v1", "ResourceQuota", "q", spec={"hard": {"pods": "many"}}),
            "spec.hard.pods: 'many' is not a quantity",
        ),
        (
            other("node.k8s.io/v1", "RuntimeClass", "r", handler="r", overhead={"podFixed": {"cpu": "-1"}}),
            'overhead.podFixed.cpu: found "-1"; expected 0 or more',
        ),
        (of_containers(defaults={"cpu": "1"}), 'spec.limits[0].defaults: unknown field; did you mean "default"?'),
        (
            other("autoscaling/v2", "HorizontalPodAutoscaler", "h", spec={"minReplicas": "two"}),
            'spec.minReplicas: expected an integer, found "two"',
        ),
    ],
)
def test_a_bad_value_is_one_sentence_with_the_field(document, fault):
    assert fault in refused(document, pod())
