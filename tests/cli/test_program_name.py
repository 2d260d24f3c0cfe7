"""The wheel also installs `kubectl-sched`, which kubectl runs for `kubectl sched`."""

import importlib
import tomllib
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.cli.clusters import shop, write

SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]


def call(monkeypatch: pytest.MonkeyPatch, file: str, *arguments: object) -> int:
    """Start an installed script in this process. Returns: its exit code."""
    module, _, name = SCRIPTS[Path(file).stem].partition(":")
    monkeypatch.setattr("sys.argv", [file, *map(str, arguments)])
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as ended:
        getattr(importlib.import_module(module), name)()
    return ended.value.code


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("/usr/bin/kubesched", "kubesched"),
        ("/usr/bin/kubectl-sched", "kubectl sched"),
        ("kubectl-sched.exe", "kubectl sched"),
    ],
)
@pytest.mark.parametrize(
    ("arguments", "example"),
    [(["--help"], "simulate cluster.json.gz"), (["explain", "--help"], "explain cluster.json shop/web-7")],
)
def test_help_has_the_name_that_was_typed(monkeypatch, capsys, file, name, arguments, example) -> None:
    assert call(monkeypatch, file, *arguments) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: {name} ")
    assert f"\n    {name} {example}\n" in text


def test_a_wrong_call_leads_to_help_under_the_name_that_was_typed(monkeypatch, capsys) -> None:
    assert call(monkeypatch, "/usr/bin/kubectl-sched", "explain", "--nonsense") == 2
    assert capsys.readouterr().err.endswith("  Try: kubectl sched explain --help\n")


def test_the_next_command_has_the_name_that_was_typed(monkeypatch, capsys, tmp_path) -> None:
    cluster = write(tmp_path, *shop())
    assert call(monkeypatch, "/usr/bin/kubectl-sched", "simulate", cluster) == 0
    assert f"\nNext: kubectl sched explain {cluster} --pod default/huge\n" in capsys.readouterr().out
