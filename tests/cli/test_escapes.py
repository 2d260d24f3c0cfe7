"""No text of a cluster, a configuration or a server controls the terminal of its reader."""

import json
import re
from pathlib import Path

import pytest

import kubesched.cli
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.cli.live_server import api_server, kubeconfig_of

HOSTILE = "x\x1b]0;pwn\x07\x9b31m\u202egnp\nkubesched: note: fake"
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    owned = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "controller": True}]}
    lost = make_pod(f"{HOSTILE}2", node=HOSTILE)
    return write(tmp_path, make_node("n1"), make_pod(HOSTILE, requests={"cpu": "99"}, metadata=owned), lost)


def test_a_note_is_one_line_without_control_characters(cluster: Path) -> None:
    notes = run("explain", cluster).stderr
    assert "x\\x1b]0;pwn\\x07\\x9b31m\\u202egnp\\nkubesched: note: fake" in notes
    assert not RAW.search(notes)
    assert not any(line.startswith("kubesched: note: fake") for line in notes.splitlines())


def test_a_reason_on_standard_output_has_none(cluster: Path) -> None:
    for output in ("table", "wide", "summary"):
        assert not RAW.search(run("simulate", cluster, "-o", output).stdout)


def test_the_message_of_an_error_has_none_and_its_further_lines_are_indented(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    bad = {"kind": "Pod", "metadata": {"name": HOSTILE}, "spec": {"containers": [{"resources": {"requests": 1}}]}}
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [bad]}))
    done = run("explain", path)
    assert done.exit_code == 2
    assert "\\x1b]0;pwn" in done.stderr
    assert not RAW.search(done.stderr)
    assert all(line.startswith(" ") for line in done.stderr.splitlines()[1:])


def test_the_message_of_a_server_has_none(tmp_path: Path) -> None:
    with api_server([], refused=["Node"], message=HOSTILE) as (url, _):
        done = run("explain", "--kubeconfig", kubeconfig_of(url, tmp_path))
    assert done.exit_code == 2
    assert "\\x1b]0;pwn" in done.stderr
    assert not RAW.search(done.stderr)
    assert "\nkubesched: note: fake" not in done.stderr


@pytest.mark.parametrize("output", ["text", "github"])
def test_findings_about_a_configuration_have_none(output: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    profile = {"plugins": {"score": {"enabled": [{"name": HOSTILE}]}}}
    path.write_text(f"{CONFIG}profiles: {json.dumps([profile])}\n")
    done = run("config", "check", path, "-o", output)
    assert "\\x1b]0;pwn" in done.stdout
    assert not RAW.search(done.stdout)


def test_one_function_prints_text_for_people() -> None:
    """Others print documents, which have their own escapes: YAML, JSON and scripts."""
    (folder,) = kubesched.cli.__path__
    texts = {path.stem: path.read_text() for path in Path(folder).glob("*.py")}
    manifests = {"extender", "extender_manifests", "scheduler_manifests"}
    documents = {"completion", "config", "reports", "scheduler_command"} | manifests
    assert {name for name, text in texts.items() if "print_verbatim(" in text} == documents | {"output"}


@pytest.mark.parametrize("command", [("simulate",), ("drain", "n1")])
def test_a_name_with_slashes_is_not_cut(command: tuple[str, ...], tmp_path: Path) -> None:
    """Kubernetes allows no such name, so a namespace that is cut would be that of somebody else."""
    owned = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x/y", "controller": True}]}
    words = {"namespace": "a/b", "requests": {"cpu": "99"}, "metadata": owned}
    path = write(tmp_path, make_node("n1"), make_pod("web", node="n1" if command[0] == "drain" else "", **words))
    out = run(command[0], path, *command[1:]).stdout
    assert "a/b/web" in out
    assert "ReplicaSet a/x/y" not in out
