"""Pods with equal parts share them."""

import math

import msgspec
import pytest

from kubesched.state import ClusterState, host_ports
from kubesched.state.pod_info import image_names
from kubesched.testing import make_pod

PARTS = ("requests", "identity", "tolerations", "node_choice", "ports", "images", "terms", "spread")


def test_equal_pods_share_every_part() -> None:
    cluster_state = ClusterState()
    a, b = (cluster_state.pod_info(make_pod(name, labels={"app": "web"}, requests={"cpu": "1"})) for name in "ab")
    assert all(getattr(a, part) is getattr(b, part) for part in PARTS)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("requests", {"requests": {"cpu": "2"}}),
        ("identity", {"labels": {"app": "db"}}),
        ("identity", {"namespace": "prod"}),
        ("tolerations", {"tolerations": [{"operator": "Exists"}]}),
        ("node_choice", {"node_selector": {"disk": "ssd"}}),
        ("ports", {"host_ports": [80]}),
        ("images", {"image": "other"}),
        ("terms", {"spec": {"affinity": {"podAffinity": {}}}}),
        ("spread", {"spec": {"topologySpreadConstraints": [{"maxSkew": 1}]}}),
    ],
)
def test_what_differs_differs_in_its_part_alone(part: str, said: dict) -> None:
    cluster_state = ClusterState()
    plain, other = cluster_state.pod_info(make_pod("p")), cluster_state.pod_info(make_pod("p", **said))
    assert [name for name in PARTS if getattr(plain, name) is not getattr(other, name)] == [part]


def test_pods_of_one_workload_can_have_different_image_volumes() -> None:
    cluster_state, plain = ClusterState(), make_pod("p", image="app")

    def images(*references: str) -> tuple[str, ...]:
        volumes = [{"name": "v", "image": {"reference": reference}} for reference in references]
        spec = msgspec.structs.replace(plain.spec, volumes=make_pod("q", spec={"volumes": volumes}).spec.volumes)
        return cluster_state.pod_info(msgspec.structs.replace(plain, spec=spec)).images.value[0]

    found = [images(), images("a"), images("b"), images()]
    assert found == [("app:latest",), ("app:latest", "a:latest"), ("app:latest", "b:latest"), ("app:latest",)]


def test_what_a_pod_wants_is_in_canonical_units() -> None:
    info = ClusterState().pod_info(make_pod("p", requests={"cpu": "100m", "memory": "1Gi", "example.com/gpu": "2"}))
    assert info.wanted == {"cpu": 100, "memory": 2**30, "example.com/gpu": 2}


def test_labels_in_another_order_are_the_same_identity() -> None:
    cluster_state = ClusterState()
    a, b = (
        cluster_state.pod_info(make_pod("p", labels=labels)) for labels in ({"a": "1", "b": "2"}, {"b": "2", "a": "1"})
    )
    assert a.identity is b.identity


def test_terms_belong_to_the_namespace_of_their_pod() -> None:
    cluster_state = ClusterState()
    term = {"topologyKey": "zone", "labelSelector": {}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    a, b = (cluster_state.pod_info(make_pod("p", namespace=name, spec={"affinity": affinity})) for name in "ab")
    assert [info.terms.value.required_affinity[0].namespaces for info in (a, b)] == [{"a"}, {"b"}]


def test_a_pod_that_has_not_started_has_started_last() -> None:
    cluster_state = ClusterState()
    started = make_pod("p", node="n", status={"startTime": "1970-01-01T00:01:00Z"})
    assert (cluster_state.pod_info(started).start, cluster_state.pod_info(make_pod("q")).start) == (60.0, math.inf)


def test_host_ports_are_those_of_sidecars_and_containers_with_defaults_filled_in() -> None:
    def container(name: str, *ports: dict, **said) -> dict:
        return {"name": name, "image": "x", "ports": list(ports), **said}

    spec = {
        "containers": [container("c", {"hostPort": 1}, {"containerPort": 9}, {"hostPort": 2, "hostIP": "10.0.0.1"})],
        "initContainers": [
            container("i", {"hostPort": 3}),
            container("s", {"hostPort": 4, "protocol": "UDP"}, restartPolicy="Always"),
        ],
    }
    wanted = (("0.0.0.0", "UDP", 4), ("0.0.0.0", "TCP", 1), ("10.0.0.1", "TCP", 2))
    assert host_ports(make_pod("p", spec=spec)) == wanted


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("app", "app:latest"),
        ("host:5000/app", "host:5000/app:latest"),
        ("app:v1", "app:v1"),
        ("a@sha256:0", "a@sha256:0"),
    ],
)
def test_images_without_a_tag_are_the_latest(image: str, name: str) -> None:
    assert image_names(make_pod("p", image=image)) == ((name,), 1)
