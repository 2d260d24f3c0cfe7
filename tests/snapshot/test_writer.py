import gzip
import io
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import KINDS, Node, ObjectMeta, Pod, decode_object
from kubesched.errors import InputError
from kubesched.snapshot import ClusterObjects, load_snapshot, write_snapshot

NODES = [Node(metadata=ObjectMeta(name=f"n{i}", labels={"i": str(i)})) for i in range(3)]


def decoded(kind, **fields):
    document = {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": {"name": "x"}, **fields}
    return decode_object(kind, json.dumps(document).encode())


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.json.zst"])
def test_what_was_written_reads_back_equal(tmp_path, name):
    write_snapshot(NODES, tmp_path / name)
    assert list(load_snapshot(tmp_path / name).objects) == NODES


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.json.zst"])
def test_the_same_objects_give_the_same_bytes(tmp_path, name):
    write_snapshot(NODES, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    write_snapshot(NODES, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


def test_the_suffix_decides_the_packing(tmp_path):
    write_snapshot(NODES, tmp_path / "s.json.gz")
    assert json.loads(gzip.decompress((tmp_path / "s.json.gz").read_bytes()))["kind"] == "List"


def test_fields_a_scheduler_does_not_read_are_written_too():
    stream = io.BytesIO()
    write_snapshot([decoded("Node", status={"nodeInfo": {"kubeletVersion": "v1.36.3"}})], stream)
    assert b'"kubeletVersion":"v1.36.3"' in stream.getvalue()


def test_items_without_a_kind_get_one():
    loaded = load_snapshot(
        io.BytesIO(b'{"kind":"ReplicaSetList","apiVersion":"apps/v1","items":[{"metadata":{"name":"r"}}]}')
    )
    stream = io.BytesIO()
    write_snapshot(loaded.objects, stream)
    (item,) = json.loads(stream.getvalue())["items"]
    assert (item["apiVersion"], item["kind"]) == ("apps/v1", "ReplicaSet")


def test_no_objects_give_an_empty_list(tmp_path):
    write_snapshot([], tmp_path / "s.json")
    assert load_snapshot(tmp_path / "s.json").objects == ()


def test_strip_leaves_no_values_of_the_environment():
    container = {"name": "c", "env": [{"name": "A", "value": "hunter2"}, {"name": "B", "valueFrom": {}}]}
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "hunter2", "kept": "1"}
    metadata = {"name": "x", "managedFields": [{"manager": "hunter2"}], "annotations": annotations}
    spec = {"containers": [container], "initContainers": [container], "ephemeralContainers": [container]}
    stream = io.BytesIO()
    objects = [
        decoded("Pod", metadata=metadata, spec=spec),
        decoded("StatefulSet", metadata=metadata, spec={"template": {"spec": spec}}),
    ]
    write_snapshot(objects, stream, strip=True)
    assert b"hunter2" not in stream.getvalue()
    pod = json.loads(stream.getvalue())["items"][0]
    assert pod["spec"]["containers"] == [{"name": "c", "env": [{"name": "A"}, {"name": "B", "valueFrom": {}}]}]
    assert pod["metadata"]["annotations"] == {"kept": "1"}


def test_strip_goes_past_fields_of_a_strange_shape():
    strange = decoded("ReplicaSet", spec={"template": {"spec": {"containers": [7, {"env": {"A": 1}}, {"env": [2]}]}}})
    stream = io.BytesIO()
    write_snapshot([strange], stream, strip=True)
    assert load_snapshot(io.BytesIO(stream.getvalue())).objects == (strange,)


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "s.json"
    path.write_text("old")

    def interrupted():
        yield NODES[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_snapshot(interrupted(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"s\.json: cannot be written: No such file or directory"):
        write_snapshot(NODES, tmp_path / "no" / "s.json")


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"expected a name that ends with \.json, \.json\.gz, \.json\.zst"):
        write_snapshot(NODES, tmp_path / "s.yaml")


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
maps = st.dictionaries(texts, texts, max_size=3)
quantities = st.sampled_from(["1", "100m", "1.5Gi", "1e3", 2, 0.5])
containers = st.fixed_dictionaries(
    {},
    optional={
        "name": texts,
        "image": texts,
        "resources": st.fixed_dictionaries(
            {}, optional={part: st.none() | st.dictionaries(texts, quantities) for part in ("requests", "limits")}
        ),
        "ports": st.none() | st.lists(st.fixed_dictionaries({"hostPort": st.integers(0, 65535)}), max_size=2),
        "env": st.lists(st.fixed_dictionaries({"name": texts, "value": texts}), max_size=2),
    },
)
pods = st.fixed_dictionaries(
    {"metadata": st.fixed_dictionaries({"name": texts.filter(bool)}, optional={"labels": maps, "namespace": texts})},
    optional={
        "spec": st.fixed_dictionaries(
            {}, optional={"containers": st.lists(containers, max_size=3), "priority": st.integers(-9, 9), "x": texts}
        ),
        "status": st.fixed_dictionaries({}, optional={"phase": texts}),
    },
)


@given(
    st.lists(pods, max_size=5, unique_by=lambda p: (p["metadata"].get("namespace") or "default", p["metadata"]["name"]))
)
def test_decode_of_written_is_the_same(documents):
    objects = [decode_object("Pod", json.dumps({"apiVersion": "v1", "kind": "Pod", **d}).encode()) for d in documents]
    stream = io.BytesIO()
    write_snapshot(objects, stream)
    again = load_snapshot(io.BytesIO(stream.getvalue())).of(Pod)
    assert again == objects
    assert [o.document for o in again] == [o.document for o in objects]


def test_the_configuration_of_an_export_is_kept(tmp_path):
    export = {"nodes": [], "pods": [], "schedulerConfig": {"profiles": [{"schedulerName": "mine"}]}}
    cluster = load_snapshot(io.BytesIO(json.dumps(export).encode()))
    write_snapshot(cluster, tmp_path / "s.json")
    again = load_snapshot(tmp_path / "s.json").scheduler_config
    assert json.loads(again)["profiles"] == [{"schedulerName": "mine"}]
    assert again == cluster.scheduler_config


def test_the_time_of_the_reading_and_the_kinds_that_are_complete_are_kept(tmp_path):
    taken_at = datetime(2026, 11, 23, 9, 14, tzinfo=UTC)
    kinds = frozenset(("Node", "Pod"))
    write_snapshot(ClusterObjects(tuple(NODES), taken_at=taken_at, listed_kinds=kinds), tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text())["metadata"] == {
        "takenAt": "2026-11-23T09:14:00Z",
        "listedKinds": ["Node", "Pod"],
    }
    again = load_snapshot(tmp_path / "s.json")
    assert (again.taken_at, again.listed_kinds) == (taken_at, kinds)
