"""A plugin that takes most of the time of a simulation is named."""

import re
import threading
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write

SLOW = """
from time import sleep

from kubesched import Plugin, Status


class Slow(Plugin):
    def filter(self, state, pod, node):
        return look_up(node)


class Quick(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS


def look_up(node):
    sleep(0.5)
    return Status.SUCCESS
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    return write(tmp_path, make_node("n1"), make_node("n2"), make_pod("web"))


@pytest.mark.parametrize("options", [[], ["--no-preemption-effects", "-o", "jsonl"]], ids=["whole", "one by one"])
def test_a_slow_plugin_is_named_with_its_share_of_the_time(cluster: Path, options: list[str]) -> None:
    plugins = ["--plugin", f"{cluster.parent}/slow.py:Slow", "--plugin", f"{cluster.parent}/slow.py:Quick"]
    n_threads = threading.active_count()
    result = run("simulate", cluster, *plugins, *options)
    (said,) = re.findall(r"^kubesched: note: the plugin (.*)$", result.stderr, re.MULTILINE)
    assert re.fullmatch(r"Slow took \d+% of the scheduling time, which was \d+\.\d seconds", said)
    assert threading.active_count() == n_threads


@pytest.mark.parametrize(
    "command",
    [("explain",), ("explain", "default/web"), ("fit", "--resource", "cpu=1"), ("drain", "n1"), ("drain", "--each")],
    ids=" ".join,
)
def test_it_is_named_by_every_command_that_asks_it(cluster: Path, command: tuple[str, ...]) -> None:
    result = run(command[0], str(cluster), *command[1:], "--plugin", f"{cluster.parent}/slow.py:Slow")
    assert re.search(r"^kubesched: note: the plugin Slow took \d+% of", result.stderr, re.MULTILINE)


def test_compare_names_it_with_its_side_and_without_the_time_of_runs_at_the_same_time(cluster: Path) -> None:
    (cluster.parent / "slow.py").write_text(SLOW.replace("0.5", "0.1"))
    n_threads = threading.active_count()
    result = run("compare", str(cluster), "--plugin", f"{cluster.parent}/slow.py:Slow", "--seeds", "5")
    (said,) = re.findall(r"^kubesched: note: the plugin (.*)$", result.stderr, re.MULTILINE)
    assert re.fullmatch(r"Slow took \d+% of the scheduling time of B \(defaults with Slow\)", said)
    assert threading.active_count() == n_threads


def test_a_plugin_is_not_named_in_a_short_run(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.cli.slow_plugins._LEAST_SECONDS", 1000.0)
    assert run("simulate", cluster, "--plugin", f"{cluster.parent}/slow.py:Slow").stderr == ""


def test_a_quick_plugin_is_not_named_in_a_long_run(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.cli.slow_plugins._LEAST_SECONDS", 0.0)
    assert run("simulate", cluster, "--plugin", f"{cluster.parent}/slow.py:Quick").stderr == ""
