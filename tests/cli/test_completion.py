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
from tests.architecture.sources import ROOT
from tests.cli.clusters import run

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
