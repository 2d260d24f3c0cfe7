"""--quiet and --debug belong to every command, before and after its name."""

import json
import logging
from pathlib import Path

import click
import pytest

from kubesched.cli import main
from kubesched.cli.general_options import with_general_options
from kubesched.cli.output import progress_bar
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write

FAULTY = """
from kubesched import Plugin


class Faulty(Plugin):
    def filter(self, state, pod, node):
        return room(node)


def room(node):
    return node.nothing_of_this_name
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """A cluster with something to note."""
    return write(tmp_path, make_node("n1"), make_pod("web"), make_pod("lost", node="gone"))


def all_commands(command: click.Command, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    listed = [words] if words else []
    for name, child in getattr(command, "commands", {}).items():
        listed += all_commands(child, (*words, name))
    return listed


@pytest.mark.parametrize("words", all_commands(main), ids=" ".join)
def test_every_command_lists_both_options_once(words: tuple[str, ...]) -> None:
    text = run(*words, "--help").stdout
    assert (text.count("  --quiet "), text.count("  --debug ")) == (1, 1)


@pytest.mark.parametrize("arguments", [["--quiet", "simulate"], ["simulate", "--quiet"]])
def test_quiet_leaves_out_notes_before_and_after_the_command(arguments: list[str], cluster: Path) -> None:
    loud, quiet = run("simulate", cluster), run(*arguments, cluster)
    assert "the snapshot does not have (gone)" in loud.stderr
    assert (quiet.stderr, quiet.stdout, quiet.exit_code) == ("", loud.stdout, 0)


def test_quiet_leaves_out_notes_before_a_subcommand() -> None:
    assert run("config", "--quiet", "check", "--help").exit_code == 0
    assert run("scheduler", "--quiet", "manifests", "--image", "x").exit_code == 0


def test_quiet_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []

    @click.command()
    def work() -> None:
        with progress_bar("working") as progress:
            shown.append(progress)

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with_general_options(work).main(["--quiet"], standalone_mode=False)
    assert shown == [None]


def test_quiet_keeps_errors(tmp_path: Path) -> None:
    result = run("--quiet", "simulate", tmp_path / "missing.json")
    assert (result.exit_code, result.stderr.count("kubesched: error: ")) == (2, 1)


@pytest.mark.parametrize("arguments", [["--debug", "simulate"], ["simulate", "--debug"]])
def test_debug_shows_where_an_error_was_raised(arguments: list[str], tmp_path: Path) -> None:
    plain, debugged = run("simulate", tmp_path / "no.json"), run(*arguments, tmp_path / "no.json")
    assert "Traceback" not in plain.stderr
    assert debugged.stderr.startswith("Traceback (most recent call last):")
    assert debugged.stderr.endswith(plain.stderr)
    assert debugged.exit_code == plain.exit_code == 2


def test_debug_shows_no_traceback_of_a_wrong_call() -> None:
    assert "Traceback" not in run("--debug", "simulate", "--nonsense").stderr


def test_debug_shows_where_a_plugin_failed(cluster: Path, tmp_path: Path) -> None:
    file = tmp_path / "faulty.py"
    file.write_text(FAULTY)
    logger = logging.getLogger("kubesched.plugin")
    before = (logger.level, list(logging.getLogger().handlers), logging.getLogger().level)
    plain = run("simulate", cluster, "--plugin", f"{file}:Faulty", "-o", "json")
    debugged = run("simulate", cluster, "--plugin", f"{file}:Faulty", "-o", "json", "--debug")
    assert "Traceback" not in plain.stderr
    assert "nothing_of_this_name" in debugged.stderr
    assert "faulty.py" in debugged.stderr
    assert json.loads(debugged.stdout) == json.loads(plain.stdout)
    assert (logger.level, list(logging.getLogger().handlers), logging.getLogger().level) == before
