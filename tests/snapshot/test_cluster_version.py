import io
import json

import msgspec
import pytest

from kubesched.release import Release
from kubesched.snapshot import ClusterObjects, load_snapshot, version_of, write_snapshot
from kubesched.testing import make_node


def node(name: str, kubelet: str):
    return make_node(name, status={"nodeInfo": {"kubeletVersion": kubelet}})


def test_what_the_api_server_says_decides() -> None:
    cluster = ClusterObjects((node("a", "v1.34.2"),), server_version="v1.35.1-gke.12")
    assert version_of(cluster).release == Release(35)
    assert version_of(cluster).words == "decided as kube-scheduler v1.35, the version of the API server"


def test_else_the_highest_kubelet_decides() -> None:
    version = version_of([node("a", "v1.9.0"), node("b", "v1.34.2+k3s1"), node("c", "v1.34.10")])
    assert version.release == Release(34)
    highest = "the highest kubelet version of the nodes is v1.34.10: v1.34.10 is decided as v1.34.4"
    assert version.words == f"decided as kube-scheduler v1.34; {highest}"
    exact = version_of([node("a", "v1.34.2+k3s1")])
    assert exact.words == "decided as kube-scheduler v1.34, the highest kubelet version of the nodes"


@pytest.mark.parametrize("kubelet", ["", "unknown"])
def test_else_the_default_decides(kubelet: str) -> None:
    version = version_of([node("a", kubelet)])
    assert version.words == "decided as kube-scheduler v1.36; the version of the cluster is not known"


@pytest.mark.parametrize(
    ("server", "minor", "why"),
    [
        ("v1.40.0", 37, "v1.40.0: kubesched has the rules of v1.33 to v1.37; v1.40.0 is decided as v1.37"),
        ("devel", 36, "'devel'"),
    ],
)
def test_other_answers_of_a_server(server: str, minor: int, why: str) -> None:
    version = version_of(ClusterObjects((), server_version=server))
    words = f"decided as kube-scheduler v1.{minor}; the version of the API server is {why}"
    assert (version.release.minor, version.words) == (minor, words)


def test_another_version_that_decides_stands_beside_that_of_the_cluster() -> None:
    version = version_of(ClusterObjects((), server_version="v1.35.2"))
    asked = msgspec.structs.replace(version, release=Release(37))
    assert asked.words == "decided as kube-scheduler v1.37; the version of the API server is v1.35.2"


def stream_of(cluster) -> io.BytesIO:
    stream = io.BytesIO()
    write_snapshot(cluster, stream)
    stream.seek(0)
    return stream


def written(server: str, name: str) -> io.BytesIO:
    return stream_of(ClusterObjects((make_node(name),), server_version=server))


def test_a_file_keeps_the_version_and_of_several_files_the_newest_counts() -> None:
    assert load_snapshot(written("v1.35.2", "a")).server_version == "v1.35.2"
    both = load_snapshot(written("v1.9.2", "a"), written("v1.35.2", "b"))
    assert both.server_version == "v1.35.2"
    assert both.notes == ("the files are of clusters with v1.35 and v1.9; the newest one decides",)


def test_a_snapshot_keeps_the_kubelet_version() -> None:
    stream = io.BytesIO()
    write_snapshot([node("a", "v1.34.2")], stream)
    item = json.loads(stream.getvalue())["items"][0]
    assert item["status"]["nodeInfo"] == {"kubeletVersion": "v1.34.2"}


def test_a_server_without_a_version_leaves_it_to_the_kubelets() -> None:
    """The same holds for its snapshot, which keeps what it says."""
    live = ClusterObjects((node("a", "v1.34.2"),), server_version="ma\x1bin")
    kept = load_snapshot(stream_of(live))
    assert kept.server_version == "ma\x1bin"
    words = "the highest kubelet version of the nodes (the API server reports the version 'ma\\x1bin')"
    for cluster in (live, kept):
        assert version_of(cluster).words == f"decided as kube-scheduler v1.34, {words}"


@pytest.mark.parametrize("kubelet", ["v0.0.0", "v0.9.0-vk", "v10.0.0", "v9999.9999.0", "v2.1.0"])
def test_kubelets_of_other_majors_say_no_version_of_kubernetes(kubelet: str) -> None:
    assert version_of([node("a", kubelet), node("b", "v1.34.2")]).release == Release(34)
    assert version_of([node("a", kubelet)]).words.endswith("the version of the cluster is not known")


@pytest.mark.parametrize("value", [36, 1.36, None, ["v1.36.0"], {"gitVersion": "v1.36.0"}, True])
def test_a_version_that_is_no_text_leaves_the_rest_of_the_metadata(value: object) -> None:
    metadata = {"takenAt": "2026-11-01T10:00:00Z", "listedKinds": ["Node"], "serverVersion": value}
    items = [{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}}]
    document = {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items}
    cluster = load_snapshot(io.StringIO(json.dumps(document)))
    assert (cluster.server_version, cluster.listed_kinds) == ("", {"Node"})
    assert cluster.taken_at is not None
    (about_it,) = (one for one in cluster.notes if "serverVersion" in one)
    assert f"metadata.serverVersion is {json.dumps(value)}, " in about_it


@pytest.mark.parametrize("is_turned", [False, True])
def test_kubelets_newer_than_the_server_of_another_file_are_of_another_cluster(is_turned: bool) -> None:
    files = [
        stream_of(ClusterObjects((node("a", "v1.34.2"),), server_version="v1.34.2")),
        stream_of([node("b", "v1.37.0")]),
    ]
    both = load_snapshot(*(reversed(files) if is_turned else files))
    assert "the files are of clusters with v1.34 and v1.37; the newest one decides" in both.notes
    assert version_of(both).words == "decided as kube-scheduler v1.37, the highest kubelet version of the nodes"


def test_older_kubelets_in_another_file_may_be_of_the_same_cluster() -> None:
    server = stream_of(ClusterObjects((node("a", "v1.36.2"),), server_version="v1.36.2"))
    both = load_snapshot(server, stream_of([node("b", "v1.34.2")]))
    assert (both.server_version, both.notes) == ("v1.36.2", ())
