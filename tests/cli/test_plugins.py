import csv
import io
import json

import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched.legacy import LEGACY_PLUGINS
from kubesched.plugins import IN_TREE_PLUGINS

TEAM_ZONE = """
from kubesched.framework import Plugin, Status

class TeamZone(Plugin):
    def score(self, state, pod, node):
        return 1

    def filter(self, state, pod, node):
        return Status.SUCCESS
"""


def run(*words: str) -> Result:
    """Run `plugin list`, or `plugin show` if the first word is a name."""
    command = "show" if words and not words[0].startswith("-") else "list"
    return CliRunner().invoke(main, ["plugin", command, *words])


@pytest.fixture
def team_zone(tmp_path) -> str:
    (tmp_path / "team_zone.py").write_text(TEAM_ZONE)
    return f"{tmp_path}/team_zone.py"


def test_in_tree_plugins_are_listed_in_the_default_order(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    lines = [line.split() for line in run().stdout.splitlines()]
    assert lines[2] == ["NAME", "EXTENSION", "POINTS", "WEIGHT", "FROM"]
    assert lines[4] == ["SchedulingGates", "preEnqueue", "-", "in-tree"]
    assert ["TaintToleration", "filter,", "preScore,", "score", "3", "in-tree"] in lines


def test_legacy_plugins_are_marked_and_follow_the_in_tree_ones(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    lines = [line.split() for line in run().stdout.splitlines()]
    assert ["NodeLabel", "filter,", "score", "1", "legacy"] in lines
    origins = [line[-1] for line in lines[4:] if line]
    assert origins.index("bundled") == origins.count("in-tree")
    assert origins.index("legacy") == origins.count("in-tree") + origins.count("bundled")


@pytest.mark.parametrize("width", [60, 80])
def test_the_list_is_as_wide_as_the_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, run().stdout.splitlines())) <= width


def test_a_plugin_of_one_s_own_comes_last_with_its_file(team_zone, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    last = run("--plugin", f"{team_zone}:TeamZone").stdout.rstrip().splitlines()[-1]
    assert last.split() == ["TeamZone", "filter,", "score", "1", team_zone]


def test_the_list_is_given_as_json(team_zone):
    document = json.loads(run("--plugin", f"{team_zone}:TeamZone", "-o", "json").stdout)
    assert document["schema"] == "kubesched/plugin-list/v1"
    listed = document["plugins"]
    assert listed[-1] == {
        "name": "TeamZone",
        "extensionPoints": ["filter", "score"],
        "defaultWeight": 1,
        "origin": team_zone,
    }
    assert listed[0]["defaultWeight"] is None


@pytest.mark.parametrize("output", ["table", "wide", "json", "jsonl", "csv", "markdown", "html", "junit"])
def test_the_list_and_a_plugin_have_the_formats_of_the_other_reports(output):
    for name in ((), ("NodeResourcesFit",)):
        result = run(*name, "-o", output)
        assert result.exit_code == 0
        assert "NodeResourcesFit" in result.stdout or output == "csv"


def test_lists_for_programs_have_a_row_for_each_plugin():
    names = [plugin["name"] for plugin in json.loads(run("-o", "json").stdout)["plugins"]]
    assert [row["name"] for row in csv.DictReader(io.StringIO(run("-o", "csv").stdout))] == names
    assert [json.loads(line)["name"] for line in run("-o", "jsonl").stdout.splitlines()] == names
    arguments = csv.DictReader(io.StringIO(run("NodeResourcesFit", "-o", "csv").stdout))
    assert "scoringStrategy" in [row["name"] for row in arguments]


def test_a_plugin_that_does_not_load_ends_with_2():
    result = run("--plugin", "nothing.py:Nothing")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "kubesched: error: nothing.py: no such file\n"


def test_a_broken_package_does_not_hide_the_others(monkeypatch):
    from importlib.metadata import EntryPoint, EntryPoints

    from kubesched.setup import registry as registry_module
    from kubesched.setup.registry import ENTRY_POINT_GROUP

    broken = EntryPoints([EntryPoint("Lost", "no_such_module:Lost", ENTRY_POINT_GROUP)])
    monkeypatch.setattr(registry_module, "entry_points", lambda *, group: broken.select(group=group))
    result = run()
    assert result.exit_code == 2
    assert "NodeName" in result.stdout
    assert "no module no_such_module" in result.stderr
    junit = run("-o", "junit").stdout
    assert f'name="plugin-list" tests="{len(IN_TREE_PLUGINS) + len(LEGACY_PLUGINS) + 2}" failures="1"' in junit


LIMITED = """
from kubesched import Plugin, PluginArgs

class Limited(Plugin):
    \"\"\"Scores up to a limit.

    More about it.
    \"\"\"

    class Args(PluginArgs):
        \"\"\"Arguments.

        Attributes:
            most: the highest
                score.
            names: of nodes.
        \"\"\"

        most: int
        names: list[str] = []
        by_zone: dict[str, float] = {}

    def score(self, state, pod, node):
        return 1
"""


def test_one_plugin_is_shown_with_its_arguments(tmp_path):
    (tmp_path / "limited.py").write_text(LIMITED)
    shown = json.loads(run("Limited", "--plugin", f"{tmp_path}/limited.py:Limited", "-o", "json").stdout)
    assert shown["schema"] == "kubesched/plugin/v1"
    assert (shown["name"], shown["purpose"]) == ("Limited", "Scores up to a limit.")
    assert shown["arguments"] == [
        {"name": "most", "type": "integer", "meaning": "the highest score."},
        {"name": "names", "type": "list of string", "default": [], "meaning": "of nodes."},
        {"name": "byZone", "type": "map of string to number", "default": {}, "meaning": ""},
    ]


def test_an_argument_with_a_few_values_lists_them():
    shown = run("NodeUsage", "-o", "json")
    types = {one["name"]: one["type"] for one in json.loads(shown.stdout)["arguments"]}
    assert types["whenStale"] == "ignore or zero or reject"


def test_an_in_tree_plugin_is_shown_with_its_defaults():
    lines = [line.split() for line in run("InterPodAffinity").stdout.splitlines()]
    assert ["ARGUMENT", "TYPE", "DEFAULT", "MEANING"] in lines
    assert any(line[:3] == ["hardPodAffinityWeight", "integer", "1"] for line in lines)


def test_a_plugin_without_arguments_has_no_table():
    text = run("NodeName").stdout
    assert "It takes no arguments." in text
    assert "ARGUMENT" not in text


@pytest.mark.parametrize("name", [*IN_TREE_PLUGINS, *LEGACY_PLUGINS])
def test_every_argument_of_kube_scheduler_s_plugins_has_a_meaning(name):
    for argument in json.loads(run(name, "-o", "json").stdout)["arguments"]:
        assert argument["meaning"], argument["name"]


def test_a_name_that_no_plugin_has_is_one_sentence():
    result = run("NodeNam")
    assert (result.exit_code, result.stdout) == (2, "")
    assert 'no plugin has the name NodeNam; did you mean "NodeName"?' in result.stderr
