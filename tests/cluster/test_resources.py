import pytest

from kubesched.api import KINDS
from kubesched.cluster import list_path, object_path


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Node", "/api/v1/nodes"),
        ("Pod", "/api/v1/pods"),
        ("PodDisruptionBudget", "/apis/policy/v1/poddisruptionbudgets"),
        ("CSIStorageCapacity", "/apis/storage.k8s.io/v1/csistoragecapacities"),
        ("ReplicaSet", "/apis/apps/v1/replicasets"),
    ],
)
def test_lists_cover_all_namespaces(kind: str, path: str) -> None:
    assert list_path(kind) == path


def test_a_list_may_cover_one_namespace() -> None:
    assert list_path("Pod", "shop") == "/api/v1/namespaces/shop/pods"


def test_objects_live_in_namespaces_or_not() -> None:
    assert object_path("Pod", "shop", "web-0", "binding") == "/api/v1/namespaces/shop/pods/web-0/binding"
    assert object_path("Node", "ignored", "n1") == "/api/v1/nodes/n1"


def test_names_cannot_leave_their_place_in_the_path() -> None:
    assert object_path("Pod", "a/b", "../x?y") == "/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_path(kind: str) -> None:
    assert list_path(kind).endswith("/" + KINDS[kind].plural)
