import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kubesched.snapshot import ClusterObjects, load_snapshot, write_snapshot
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, shop, write
from tests.cli.live_server import api_server, kubeconfig_of

RAW_PLUGIN = """
from kubesched import Plugin

class Raw(Plugin):
    wants_raw = True

    def score(self, state, pod, node):
        return 1
"""
SECRETIVE = make_pod(
    "secretive", spec={"containers": [{"name": "c", "image": "x", "args": ["hunter2"]}]}, annotations={"note": "kept"}
)


def test_the_live_cluster_is_saved_and_decided_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json.gz"
    with api_server([*shop(), SECRETIVE]) as (url, _):
        kubeconfig = kubeconfig_of(url, tmp_path)
        saved = run("snapshot", "--kubeconfig", kubeconfig, "-o", path)
        live = run("simulate", "--kubeconfig", kubeconfig, "-o", "json")
    assert saved.stdout == ""
    assert f"wrote 2 nodes, 8 pods and 2 other objects to {path}" in saved.stderr
    assert run("simulate", path, "-o", "json").stdout == live.stdout


def test_the_time_is_in_the_file_and_its_age_in_a_note(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    with api_server(shop()) as (url, _):
        run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", path)
    taken_at = load_snapshot(path).taken_at
    assert taken_at is not None
    assert abs(datetime.now(UTC) - taken_at) < timedelta(minutes=1)
    assert run("simulate", path).stderr == (
        f"kubesched: note: the snapshot was taken {taken_at:%Y-%m-%d %H:%M} UTC, less than 2 minutes ago\n"
    )


@pytest.mark.parametrize(("hours", "words"), [(1.5, "90 minutes ago"), (30, "30 hours ago"), (72, "3 days ago")])
def test_the_age_is_told_in_a_fitting_unit(hours: float, words: str, tmp_path: Path) -> None:
    old = ClusterObjects((make_node("n1"),), taken_at=datetime.now(UTC) - timedelta(hours=hours, seconds=5))
    write_snapshot(old, tmp_path / "old.json")
    assert words in run("simulate", tmp_path / "old.json").stderr


def test_a_file_is_reduced_to_what_a_scheduler_reads(tmp_path: Path) -> None:
    result = run("snapshot", write(tmp_path, make_node("n1"), SECRETIVE))
    document = json.loads(result.stdout)
    assert document["kind"] == "List"
    assert "hunter2" not in result.stdout
    assert "kept" not in result.stdout


def test_annotations_are_kept_on_request(tmp_path: Path) -> None:
    result = run("snapshot", write(tmp_path, SECRETIVE, make_node("n1")), "--keep-annotations")
    assert json.loads(result.stdout)["items"][0]["metadata"]["annotations"] == {"note": "kept"}


def test_pods_are_whole_for_a_plugin_that_wants_them_so(tmp_path: Path) -> None:
    (tmp_path / "raw.py").write_text(RAW_PLUGIN)
    result = run("snapshot", write(tmp_path, SECRETIVE, make_node("n1")), "--plugin", f"{tmp_path}/raw.py:Raw")
    assert json.loads(result.stdout)["items"][0]["spec"]["containers"][0]["args"] == ["hunter2"]


def test_kinds_that_may_not_be_listed_are_missing_in_the_file_too(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    pod = make_pod("p", spec={"priorityClassName": "high", "priority": None})
    with api_server([make_node("n1"), pod], ["PriorityClass"]) as (url, _):
        saved = run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", path)
    assert "priorityclasses cannot be listed (403 Forbidden)" in saved.stderr
    assert "the snapshot has no PriorityClass" in run("simulate", path).stderr


@pytest.mark.parametrize(
    ("output", "words"), [("c.yaml", "expected a name that ends with"), ("no/c.json", "No such file or directory")]
)
def test_a_wrong_output_is_refused_before_the_cluster_is_read(output: str, words: str, tmp_path: Path) -> None:
    with api_server(shop()) as (url, asked):
        result = run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", tmp_path / output)
    assert result.exit_code == 2
    assert words in result.stderr
    assert asked == []


def test_a_refusal_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text("old")
    with api_server(shop(), ["Pod"]) as (url, _):
        result = run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", path)
    assert result.exit_code == 2
    assert path.read_text() == "old"
