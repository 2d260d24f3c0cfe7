import io
import json

import pytest

from kubesched.release import Release
from kubesched.snapshot import ClusterObjects, load_snapshot, version_of, write_snapshot
from kubesched.testing import make_node


def node(name: str, kubelet: str):
    return make_node(name, status={"nodeInfo": {"kubeletVersion": kubelet}})


def test_what_the_api_server_says_decides() -> None:
    cluster = ClusterObjects((node("a", "v1.34.2"),), server_version="v1.35.1-gke.12")
    assert version_of(cluster).release == Release(35)
    assert version_of(cluster).note == ""


def test_else_the_highest_kubelet_decides_and_a_note_says_so() -> None:
    version = version_of([node("a", "v1.9.0"), node("b", "v1.34.2+k3s1"), node("c", "v1.34.10")])
    assert version.release == Release(34)
    assert version.note == (
        "decided as v1.34: the highest kubelet version of the nodes is v1.34.10, and the API server's is not known"
    )


@pytest.mark.parametrize("kubelet", ["", "unknown", "v1.36.1"])
def test_nothing_is_said_where_the_default_decides(kubelet: str) -> None:
    assert version_of([node("a", kubelet)]) == version_of([])


@pytest.mark.parametrize(
    ("server", "minor", "note"),
    [
        ("v1.40.0", 37, "kubesched has the rules of v1.33 to v1.37; v1.40 is decided as v1.37"),
        ("devel", 36, "the API server says that its version is 'devel'; decided as v1.36"),
    ],
)
def test_other_answers_of_a_server(server: str, minor: int, note: str) -> None:
    version = version_of(ClusterObjects((), server_version=server))
    assert (version.release.minor, version.note) == (minor, note)


def written(server: str, name: str) -> io.BytesIO:
    stream = io.BytesIO()
    write_snapshot(ClusterObjects((make_node(name),), server_version=server), stream)
    stream.seek(0)
    return stream


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
