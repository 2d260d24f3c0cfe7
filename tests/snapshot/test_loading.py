import io
import json

import pytest

from kubesched.api import EventType, Node, Pod, StorageClass, kind_of
from kubesched.errors import ObjectError
from kubesched.snapshot import load_snapshot, only_read_fields, write_snapshot
from tests.snapshot.builders import listed, node, other, pod, stream


def test_objects_come_in_file_order():
    loaded = load_snapshot(stream(listed(pod("b"), node("n"), pod("a"))))
    assert [(kind_of(o), o.key) for o in loaded.objects] == [("Pod", "shop/b"), ("Node", "n"), ("Pod", "shop/a")]
    assert loaded.kinds == {"Pod": 2, "Node": 1}
    assert [p.name for p in loaded.of(Pod)] == ["b", "a"]


def test_a_snapshot_can_be_walked_over():
    loaded = load_snapshot(stream(listed(node("a"), node("b"))))
    assert [known.name for known in loaded] == ["a", "b"]
    assert len(loaded) == 2


def test_objects_can_be_had_as_events():
    (event,) = load_snapshot(stream(node())).events()
    assert (event.type, event.kind, type(event.object)) == (EventType.ADDED, "Node", Node)


def test_the_source_of_an_object_is_kept_byte_for_byte():
    item = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"x":1.50}'
    text = f'{{"kind":"List","apiVersion":"v1","items":[ {item} ]}}'
    (only,) = load_snapshot(io.BytesIO(text.encode())).objects
    assert only.raw == item.encode()


def test_a_typed_list_says_what_its_items_are():
    items = [{"metadata": {"name": "n"}}]
    (only,) = load_snapshot(stream({"apiVersion": "v1", "kind": "NodeList", "items": items})).objects
    assert isinstance(only, Node)


def test_an_empty_list_of_any_kind_is_no_object():
    lists = [
        {"kind": "List", "apiVersion": "v1"},
        {"kind": "EventList", "apiVersion": "v1", "items": None},
        {"kind": "PodList", "apiVersion": "v1"},
        {"kind": "JobList", "apiVersion": "batch/v1", "items": []},
    ]
    loaded = load_snapshot(stream(*lists))
    assert (loaded.objects, loaded.skipped) == ((), {})


def test_a_kind_may_end_in_list_and_be_an_object():
    assert load_snapshot(stream(other("example.com/v1", "AllowList", "x"))).skipped == {"AllowList": 1}


def test_several_json_documents_may_follow_one_another():
    loaded = load_snapshot(stream(listed(node("a")), node("b"), listed(), listed(node("c"), node("d"))))
    assert [o.name for o in loaded.objects] == ["a", "b", "c", "d"]


def test_kinds_a_scheduler_does_not_read_are_counted():
    items = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": n}} for n in "ab"]
    knative = {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "s"}}
    assert load_snapshot(stream(listed(*items, knative))).skipped == {"ConfigMap": 2, "Service.serving.knative.dev": 1}


def test_pod_groups_of_several_apis_are_read_and_others_counted():
    groups = ["scheduling.k8s.io/v1beta1", "scheduling.x-k8s.io/v1alpha1", "scheduling.volcano.sh/v1beta1"]
    written = [other(version, "PodGroup", "train", spec={"minMember": 2}) for version in [*groups, "example.com/v1"]]
    loaded = load_snapshot(stream(listed(*written)))
    assert [kind_of(found) for found in loaded] == ["PodGroup", "CoschedulingPodGroup", "VolcanoPodGroup"]
    assert loaded.skipped == {"PodGroup.example.com": 1}
    again = io.BytesIO()
    write_snapshot(only_read_fields(loaded), again)
    assert load_snapshot(io.BytesIO(again.getvalue())).objects == loaded.objects
    assert [item["apiVersion"] for item in json.loads(again.getvalue())["items"]] == groups


def test_a_storage_class_without_a_binding_mode_binds_at_once():
    written = [other("storage.k8s.io/v1", "StorageClass", name) for name in "ab"]
    written[1]["volumeBindingMode"] = "WaitForFirstConsumer"
    loaded = load_snapshot(stream(*written)).of(StorageClass)
    assert [known.volume_binding_mode for known in loaded] == ["Immediate", "WaitForFirstConsumer"]
    assert loaded[0].raw == json.dumps(written[0]).encode()


@pytest.mark.parametrize("version", ["policy/v1beta1", "policy/v1"])
def test_an_older_version_of_the_same_group_is_read(version):
    budget = {"apiVersion": version, "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    assert load_snapshot(stream(budget)).kinds == {"PodDisruptionBudget": 1}


def test_null_is_the_same_as_absent():
    written = pod(nodeName=None, schedulerName=None, containers=[{"name": None, "image": "i"}])
    (only,) = load_snapshot(stream(written)).of(Pod)
    assert (only.node_name, only.scheduler_name, only.containers[0].name) == ("", "default-scheduler", "")
    assert "nodeName" not in only.document["spec"]


def test_finished_pods_are_among_the_objects():
    (only,) = load_snapshot(stream({**pod(), "status": {"phase": "Succeeded"}})).of(Pod)
    assert only.is_finished


def test_the_higher_resource_version_wins_and_keeps_the_place():
    versions = [other("v1", "Node", "a", metadata={"resourceVersion": v, "uid": f"u{v}"}) for v in ("9", "10", "8")]
    loaded = load_snapshot(stream(versions[0], node("b"), *versions[1:]))
    assert [(o.name, o.uid) for o in loaded.objects] == [("a", "u10"), ("b", "")]


def test_the_same_object_twice_is_one():
    assert len(load_snapshot(stream(node(), listed(node()))).objects) == 1


def test_the_same_object_with_other_content_names_both_places():
    with pytest.raises(ObjectError) as caught:
        load_snapshot(stream(node(), listed(node("x"), node(labels={"a": "b"}))))
    assert str(caught.value).startswith(
        "<stream>, document 2, item 2 (Node n1): is also at <stream>, document 1, with other content"
    )


def test_bad_objects_can_be_left_out():
    loaded = load_snapshot(stream(listed(node("a"), node(5), pod(containers=3), node("b"))), skip_bad_objects=True)
    assert [o.name for o in loaded.objects] == ["a", "b"]
    assert loaded.bad == (
        "<stream>, item 2 (Node): metadata.name: expected a string, found 5; put it in quotes",
        "<stream>, item 3 (Pod shop/p1): spec.containers: expected a list, found 3",
    )


def test_of_two_that_differ_the_first_is_kept_when_bad_objects_are_left_out():
    loaded = load_snapshot(stream(listed(node(labels={"a": "1"}), node(labels={"a": "2"}))), skip_bad_objects=True)
    assert [known.labels for known in loaded] == [{"a": "1"}]
    assert len(loaded.bad) == 1


def test_a_yaml_file_may_begin_like_json(tmp_path):
    (tmp_path / "n.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: a}}\n---\n" + json.dumps(node("b")))
    assert [known.name for known in load_snapshot(tmp_path)] == ["a", "b"]


def test_json_documents_may_be_set_apart_as_in_yaml():
    text = "\n---\n".join(json.dumps(node(name)) for name in "ab")
    assert [known.name for known in load_snapshot(io.StringIO(text + "\n---\n"))] == ["a", "b"]


def test_progress_reaches_the_end(tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(json.dumps(listed(*[node(f"{path.name}-{i}") for i in range(3000)])))
    calls = []
    load_snapshot(*paths, progress=lambda done, of: calls.append((done, of)))
    total = sum(path.stat().st_size for path in paths)
    assert calls == sorted(calls)
    assert len(calls) == 4
    assert calls[-1] == (total, total)


def test_equal_parts_of_pods_are_one_object():
    first, second = load_snapshot(
        stream(pod("a", containers=[{"name": "c"}]), pod("b", containers=[{"name": "c"}]))
    ).of(Pod)
    assert first.spec.containers is second.spec.containers


def with_origin(metadata: object) -> io.BytesIO:
    return stream({**listed(node()), "metadata": metadata})


def test_the_earliest_time_of_several_files_counts():
    times = ("2026-11-23T09:14:00Z", "2026-11-22T10:14:00+01:00", None)
    loaded = load_snapshot(*(with_origin({"takenAt": time}) for time in times))
    assert loaded.taken_at is not None
    assert loaded.taken_at.isoformat() == "2026-11-22T10:14:00+01:00"


@pytest.mark.parametrize(
    "metadata", [None, {}, 7, {"resourceVersion": ""}, {"takenAt": "yesterday"}, {"takenAt": "2026-11-23T09:14:00"}]
)
def test_a_list_without_a_time_has_none(metadata: object):
    assert load_snapshot(with_origin(metadata)).taken_at is None


def test_a_kind_that_is_listed_completely_is_not_missed():
    waiting = pod(priorityClassName="high")
    document = {**listed(node(), waiting), "metadata": {"listedKinds": ["PriorityClass"]}}
    assert load_snapshot(stream(document)).missing == ()
    assert len(load_snapshot(stream(listed(node(), waiting))).missing) == 1
