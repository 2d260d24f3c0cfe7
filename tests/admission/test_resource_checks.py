"""New pods may only request what an API server accepts; pods of a snapshot may have anything."""

import pytest

from kubesched.errors import InputError
from kubesched.snapshot import admit_manifests, load_snapshot
from tests.snapshot.builders import node, pod, stream, workload

GPU_NODE = node("gpu", status={"allocatable": {"cpu": "8", "pods": "9", "nvidia.com/gpu": "2"}})


def admitted(manifest):
    return admit_manifests(load_snapshot(stream(GPU_NODE)), [stream(manifest)])


def refused(manifest):
    with pytest.raises(InputError) as caught:
        admitted(manifest)
    return str(caught.value)


def container(**resources):
    return {"containers": [{"name": "c", "resources": resources}]}


@pytest.mark.parametrize(
    ("resources", "fault"),
    [
        ({"requests": {"cpu": -1}}, "requests.cpu: found -1; expected 0 or more"),
        ({"requests": {"cpu": 2}, "limits": {"cpu": 1}}, "must be less than or equal to cpu limit of 1"),
        ({"limits": {"nvidia.com/gpu": 0.5}}, 'limits[nvidia.com/gpu]: Invalid value: "0.5": must be an integer'),
        ({"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}}, "must be equal to nvidia.com/gpu limit"),
        ({"requests": {"nvidia.com/gpu": 1}}, "limits: Required value: Limit must be set for non overcommitable"),
        (
            {"limits": {"nvidia": 1}},
            'or a name with a domain such as example.com/gpu; did you mean "nvidia.com/gpu"?',
        ),
        ({"limits": {"gpu": 1}}, '; did you mean "nvidia.com/gpu"?'),
        (
            {"requests": {"cpus": 2}},
            'requests[cpus]: Invalid value: "cpus": must be a standard resource for containers',
        ),
        ({"requests": {"Memory": "1Gi"}}, '; did you mean "memory"?'),
        ({"requests": {"storage": "1Gi"}}, '; did you mean "ephemeral-storage"?'),
        ({"requests": {"pods": 1}}, 'requests[pods]: Invalid value: "pods": must be a standard resource'),
        ({"requests": {"a_b/gpu": 1}}, 'requests[a_b/gpu]: Invalid value: "a_b/gpu": prefix part'),
        ({"limits": {"requests.nvidia.com/gpu": 1}}, "doesn't follow extended resource name standard"),
        ({"limits": {"hugepages-2Mi": "4Mi"}}, "resources: Forbidden: HugePages require cpu or memory"),
        (
            {"limits": {"hugepages-2Mi": "3Mi", "cpu": 1}},
            'limits[hugepages-2Mi]: Invalid value: "3Mi": is not positive integer multiple of hugepages-2Mi',
        ),
    ],
)
def test_what_no_api_server_accepts_is_refused(resources, fault):
    sentence = refused(pod(**container(**resources)))
    assert sentence.startswith("<stream> (Pod shop/p1): spec.containers[0].resources")
    assert fault in sentence


@pytest.mark.parametrize(
    "resources",
    [
        {"requests": {"cpu": "0.1", "memory": "1Gi", "ephemeral-storage": "1G"}},
        {"limits": {"nvidia.com/gpu": "2"}},
        {"limits": {"nvidia.com/gpu": "1k"}, "requests": {"nvidia.com/gpu": 1000}},
        {"limits": {"hugepages-2Mi": "4Mi", "memory": "1Gi"}},
        {"requests": {"kubernetes.io/batch-cpu": 1}},
    ],
)
def test_what_an_api_server_accepts_is_accepted(resources):
    assert admitted(pod(**container(**resources))).notes == ()


def test_a_pod_as_a_whole_asks_for_cpu_memory_and_huge_pages():
    asked = {"nvidia.com/gpu": 1}
    assert refused(pod(**container(), resources={"requests": asked, "limits": asked})) == (
        '<stream> (Pod shop/p1): spec.resources.limits[nvidia.com/gpu]: Unsupported value: "nvidia.com/gpu": supported '
        'values: "cpu", "hugepages-", "memory"'
    )
    asked = {"cpu": "1", "hugepages-2Mi": "2Mi"}
    admitted(pod(**container(), resources={"requests": asked, "limits": asked}))


def test_an_overhead_has_the_names_of_resources_too():
    assert "spec.overhead[cpus]: Invalid value" in refused(pod(**container(), overhead={"cpus": 1}))


def test_a_part_of_a_byte_is_accepted_with_a_note():
    (note,) = admitted(pod(**container(limits={"memory": "400m"}))).notes
    assert note == (
        '<stream>: spec.containers[0].resources.requests[memory]: fractional byte value "400m" is invalid, must be an '
        'integer; did you mean "400M" or "400Mi"?'
    )


def test_the_note_on_a_workload_has_the_path_of_its_template():
    manifest = workload("Deployment", replicas=2, template=container(limits={"memory": "400m"}))
    (note,) = admitted(manifest).notes
    assert note.startswith("<stream>: spec.template.spec.containers[0].resources.requests[memory]: ")


def test_a_snapshot_may_have_what_an_older_api_server_accepted():
    odd = pod(**container(requests={"cpus": 2, "nvidia.com/gpu": 0.5, "memory": "400m"}))
    assert len(load_snapshot(stream(odd)).objects) == 1


def test_the_word_that_may_be_meant_also_stands_behind_an_operator():
    assert 'did you mean "Exists"?' in refused(pod(**container(), tolerations=[{"key": "a", "operator": "Exist"}]))


@pytest.mark.parametrize(
    ("whole", "fault"),
    [
        (
            {"requests": {"cpu": "1"}},
            (
                'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate '
                "container requests of 1500m"
            ),
        ),
        (
            {"limits": {"memory": "1Gi"}},
            (
                'spec.resources.containers[0][memory].limits: Invalid value: "2Gi": must be less than or equal to pod '
                "limits of 1Gi"
            ),
        ),
        (
            {"limits": {"cpu": "1"}},
            'spec.resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1',
        ),
    ],
)
def test_a_whole_pod_has_room_for_its_containers(whole, fault):
    spec = container(requests={"cpu": "1.5", "memory": "0.5Gi"}, limits={"memory": "2048Mi"})
    assert fault in refused(pod(**spec, resources=whole))


def test_amounts_are_shown_as_an_api_server_prints_them():
    spec = container(requests={"memory": "0.5Gi"}, limits={"memory": "1000k"})
    assert '"512Mi": must be less than or equal to memory limit of 1M' in refused(pod(**spec))


PAGES = {"hugepages-2Mi": "16Mi"}


@pytest.mark.parametrize(
    ("resources", "whole", "fault"),
    [
        (
            {"requests": PAGES, "limits": PAGES},
            {"requests": {"cpu": "1"}},
            "spec.containers[0].resources: Forbidden: HugePages require cpu or memory",
        ),
        (
            {},
            {"requests": PAGES, "limits": PAGES},
            "spec.resources: Forbidden: HugePages require cpu or memory",
        ),
        (
            {"requests": {"cpu": "1"}},
            {"requests": {"cpu": "1"} | PAGES},
            "spec.resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
    ],
)
def test_huge_pages_of_a_whole_pod_follow_the_rules_of_those_of_a_container(resources, whole, fault):
    assert fault in refused(pod(**container(**resources), resources=whole))
