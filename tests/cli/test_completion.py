"""`kubesched completion` prints scripts that ask kubesched what fits."""

import importlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched.testing import make_node, make_pod
from tests.architecture.sources import ROOT
from tests.cli.clusters import run, write

SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]


def complete(*words: str) -> list[str]:
    """What the script of bash gets for a line: `TYPE,VALUE`."""
    environ = {"_KUBESCHED_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    return CliRunner().invoke(main, [], prog_name="kubesched", env=environ).stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("kubesched", "co"), ["plain,compare", "plain,config", "plain,completion"]),
        (("kubesched", "config", "ch"), ["plain,check"]),
        (("kubesched", "simulate", "--fail"), ["plain,--fail-on-pending"]),
        (("kubesched", "simulate", "--unc"), ["plain,--uncordon"]),
        (("kubesched", "simulate", "--qu"), ["plain,--quiet"]),
        (("kubesched", "explain", "-o", "js"), ["plain,json", "plain,jsonl"]),
        (("kubesched", "simulate", "clus"), ["file,clus"]),
        (("kubesched", "explain", "--config", "sch"), ["file,sch"]),
        (("kubesched", "simulate", "--manifest", "web"), ["file,web"]),
        (("kubesched", "fit", "-f", "web"), ["file,web"]),
    ],
)
def test_commands_options_choices_and_files_are_completed(words: tuple[str, ...], expected: list[str]) -> None:
    assert complete(*words) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_valid_and_calls_kubesched(shell: str) -> None:
    result = run("completion", shell)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"_KUBESCHED_COMPLETE={shell}_complete" in result.stdout
    if (program := shutil.which(shell)) is not None:
        subprocess.run([program, "-n"], input=result.stdout, text=True, check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_a_command(tmp_path: Path) -> None:
    (tmp_path / "kubesched").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kubesched "$@"\n')
    (tmp_path / "kubesched").chmod(0o755)
    script = run("completion", "bash").stdout
    script += f'PATH="{tmp_path}:$PATH"; COMP_WORDS=(kubesched sim); COMP_CWORD=1; _kubesched_completion kubesched\n'
    ran = subprocess.run(
        ["bash", "-c", f'{script}echo "${{COMPREPLY[@]}}"'], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "simulate\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["exp"], ["explain", ":4"]),
        (["explain", "-o", "js"], ["json", "jsonl", ":4"]),
        (["explain", "clus"], [":0"]),  # a file
        (["explain", "--nonsens"], [":4"]),
    ],
)
def test_kubectl_completes_its_plugin(words: list[str], expected: list[str], monkeypatch, capsys) -> None:
    """kubectl runs `kubectl_complete-sched` with the words behind `kubectl sched`, up to the one to be completed."""
    script = SCRIPTS["kubectl_complete-sched"]
    monkeypatch.setattr("sys.argv", ["/usr/bin/kubectl_complete-sched", *words])
    module, _, name = script.partition(":")
    getattr(importlib.import_module(module), name)()
    assert [line.partition("\t")[0] for line in capsys.readouterr().out.splitlines()] == expected


def test_another_shell_is_a_wrong_call() -> None:
    assert run("completion", "powershell").exit_code == 2


# --- names from the file on the line ---


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the line is typed."""
    monkeypatch.chdir(tmp_path)
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}
    nodes = [make_node("worker-1", zone="a"), make_node("worker-2", zone="b"), make_node("gpu-1")]
    pods = [
        make_pod("web-1", namespace="shop"),
        make_pod("db-0", namespace="shop", metadata={"ownerReferences": [owner]}),
    ]
    return write(tmp_path, *nodes, *pods, make_pod("lint", namespace="dev"))


def names(*words: str) -> list[str]:
    return [line.removeprefix("plain,") for line in complete("kubesched", *words)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("explain", "cluster.json", ""), ["dev/lint", "shop/db-0", "shop/statefulset/db", "shop/web-1"]),
        (("explain", "cluster.json", "shop/w"), ["shop/web-1"]),
        (("explain", "cluster.json", "we"), ["web-1"]),
        (("explain", "cluster.json", "-n", "shop", "d"), ["db-0"]),
        (("explain", "cluster.json", "--pod", "dev/"), ["dev/lint"]),
        (("explain", "cluster.json", "shop/web-1", "--node", "w"), ["worker-1", "worker-2"]),
        (("explain", "cluster.json", "-n", ""), ["dev", "shop"]),
        (("check", "cluster.json", "-n", "s"), ["shop"]),
        (("drain", "cluster.json", "worker-1", "worker"), ["worker-1", "worker-2"]),
        (("drain", "cluster.json", "--zone", ""), ["a", "b"]),
        (("simulate", "cluster.json", "--cordon", "gp"), ["gpu-1"]),
        (("simulate", "cluster.json", "--like", "gp"), ["gpu-1"]),
        (("simulate", "cluster.json", "--scale", "shop/"), ["shop/statefulset/db="]),
        (("fit", "cluster.json", "--nodes-like", "gp"), ["gpu-1"]),
        (("snapshot", "cluster.json", "--around", "shop/w"), ["shop/web-1"]),
    ],
)
def test_names_are_completed_from_the_file_on_the_line(shop: Path, words: tuple[str, ...], expected: list[str]) -> None:
    assert names(*words) == expected


def test_where_no_name_begins_so_the_shell_completes_files(shop: Path) -> None:
    assert names("explain", "cluster.json", "new-pod") == ["file,new-pod"]
    assert names("drain", "clus") == ["file,clus"]
    assert names("drain", "cluster.json", "--zone", "z") == [""]


def test_of_many_names_the_beginnings_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, *(make_pod(f"p-{i:03}", namespace=f"team-{i % 2}") for i in range(300)))
    assert names("explain", "cluster.json", "") == ["team-0/", "team-1/"]
    assert len(names("explain", "cluster.json", "team-0/")) == 150


@pytest.mark.parametrize("text", ["{", "", "kind: [", '{"kind": "Pod", "metadata": {"name": 7}}', "\0"])
def test_a_file_that_cannot_be_read_completes_nothing_and_says_nothing(tmp_path, monkeypatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.json").write_text(text)
    environ = {"_KUBESCHED_COMPLETE": "bash_complete", "COMP_WORDS": "kubesched drain cluster.json", "COMP_CWORD": "3"}
    result = CliRunner().invoke(main, [], prog_name="kubesched", env=environ)
    assert (result.stdout, result.stderr) == ("file,\n", "")


@pytest.mark.parametrize(
    ("name", "size"), [("cluster.json", 2**26), ("cluster.json.gz", 2**23), ("cluster.yaml", 2**20)]
)
def test_a_file_that_takes_long_to_read_is_not_read(tmp_path: Path, monkeypatch, name: str, size: int) -> None:
    monkeypatch.chdir(tmp_path)
    with (tmp_path / name).open("wb") as file:
        file.truncate(size + 1)
    monkeypatch.setattr("kubesched.snapshot.files.read_texts", lambda source: pytest.fail("it was read"))
    assert names("drain", name, "worker") == ["file,worker"]
    assert names("drain", "-", "worker") == ["file,worker"]
