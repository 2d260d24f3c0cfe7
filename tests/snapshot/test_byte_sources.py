import io
import json
import os
import sys
import threading

import pytest

from kubesched.errors import InputError
from kubesched.snapshot import load_snapshot
from tests.snapshot.builders import listed, node, pod, stream


def names(*sources):
    return [known.name for known in load_snapshot(*sources).objects]


def test_sources_are_read_in_the_order_given(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text(json.dumps(node(name)))
    assert names(tmp_path / "b.json", str(tmp_path / "a.json"), stream(node("c"))) == ["b", "a", "c"]


def test_a_folder_gives_its_files_in_order_of_their_paths(tmp_path):
    for path in ("z.json", "a/2.yaml", "a/1.yml", "b.yaml"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(json.dumps(node(path.replace("/", "-"))))
    assert names(tmp_path) == ["a-1.yml", "a-2.yaml", "b.yaml", "z.json"]


def test_a_folder_leaves_out_other_files_and_hidden_ones(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps(node("n")))
    (tmp_path / "readme.md").write_text("# no YAML: [")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "old.json").write_text(json.dumps(node("old")))
    (tmp_path / ".old.json").write_text(json.dumps(node("old")))
    assert names(tmp_path) == ["n"]


def test_a_folder_leaves_out_pipes_and_broken_links_with_a_note(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps(node("n")))
    (tmp_path / "linked.json").symlink_to(tmp_path / "n.json")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "gone.json").symlink_to("nowhere")
    loaded = load_snapshot(tmp_path)
    assert [known.name for known in loaded.objects] == ["n"]
    assert f"left out what is not a regular file: {tmp_path}/gone.json, {tmp_path}/pipe.json" in loaded.notes


def test_a_pipe_that_is_named_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    writer = threading.Thread(target=(tmp_path / "pipe.json").write_text, args=[json.dumps(node("n"))])
    writer.start()
    assert names(tmp_path / "pipe.json") == ["n"]
    writer.join()


def test_a_cluster_info_dump_is_read_without_its_logs(tmp_path):
    """The layout that `kubectl cluster-info dump --all-namespaces --output-directory` writes."""
    nodes = {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "n1"}}]}
    pods = {"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "p1", "namespace": "shop"}}]}
    events = {
        "kind": "EventList",
        "apiVersion": "v1",
        "items": [{"metadata": {"name": "e"}}, {"metadata": {"name": "f"}}],
    }
    empty = {"kind": "ServiceList", "apiVersion": "v1", "items": None}
    (tmp_path / "shop" / "p1").mkdir(parents=True)
    (tmp_path / "nodes.json").write_text(json.dumps(nodes, indent=4))
    for name, content in (("pods", pods), ("events", events), ("services", empty)):
        (tmp_path / "shop" / f"{name}.json").write_text(json.dumps(content, indent=4))
    (tmp_path / "shop" / "p1" / "logs.txt").write_text("==== START logs for container main of pod shop/p1 ====\n{")
    loaded = load_snapshot(tmp_path)
    assert [known.key for known in loaded.objects] == ["n1", "shop/p1"]
    assert loaded.skipped == {"Event": 2}


def test_a_cluster_info_dump_on_standard_output_is_read_without_its_logs():
    logs = b"==== START logs for container c of pod s/p ====\n{cut\n==== END logs for container c of pod s/p ====\n"
    dump = b"\n".join((json.dumps(listed(node("n"))).encode(), logs, logs, json.dumps(pod("p")).encode(), logs))
    assert names(io.BytesIO(dump)) == ["n", "p"]


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream(node("n"))))
    assert names("-") == ["n"]


def test_standard_input_can_be_named_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream(node("n"))))
    with pytest.raises(InputError, match=r'standard input \("-"\) is given twice, but can be read only once'):
        load_snapshot("-", "-")


def test_a_text_stream_is_read_too():
    assert names(io.StringIO(json.dumps(node("ñ")))) == ["ñ"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_byte_order_marks_are_understood(encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    assert names(io.BytesIO((mark + json.dumps(node("n"))).encode(encoding))) == ["n"]


def test_a_stream_is_called_by_its_name_in_messages(tmp_path):
    path = tmp_path / "nodes.json"
    path.write_text("[5]")
    with path.open("rb") as file, pytest.raises(InputError, match=r"nodes\.json, item 1: expected an object, found 5"):
        load_snapshot(file)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_text_in_a_wide_encoding_is_read_with_and_without_its_mark(encoding):
    assert names(io.BytesIO(json.dumps(node("n")).encode(encoding))) == ["n"]
    assert names(io.BytesIO("kind: Node\napiVersion: v1\nmetadata: {name: n1}\n".encode(encoding))) == ["n1"]


def test_a_folder_with_an_archive_is_answered_with_its_name(tmp_path):
    (tmp_path / "backup.tgz").write_bytes(b"x")
    with pytest.raises(InputError, match=f"which is not opened; name the file: {tmp_path}/backup.tgz"):
        load_snapshot(tmp_path)


def test_tabs_in_yaml_are_named():
    with pytest.raises(InputError, match=r"line 3, column 1: not valid YAML: .*; found a tab, expected spaces"):
        load_snapshot(io.BytesIO(b"kind: Pod\nmetadata:\n\tname: x\n"))
