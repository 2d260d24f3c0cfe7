"""`kubesched plugin`: what `new` writes works, nothing is overwritten, and `check` reports what a plugin breaks."""

import json
from pathlib import Path

import pytest

from tests.cli.clusters import run

BROKEN = """
from kubesched import Plugin, PluginArgs, Status

class Broken(Plugin):
    class Args(PluginArgs):
        limit: int = 3

    def score(self, state, pod, node):
        return {}["zone"]

class Content(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS

class OddQueue(Plugin):
    def pre_enqueue(self, pod):
        return self.unknown
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text(BROKEN)
    return tmp_path


def test_the_new_plugin_and_its_test_work_as_they_are(folder, forks):
    result = run("plugin", "new", "GPUTeams")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "Wrote gpu_teams.py and test_gpu_teams.py.\n\nNext: kubesched plugin check gpu_teams.py:GPUTeams\n"
    )
    options = ("-q", "-W", "error", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", ".")
    done = forks.run("python", "-m", "pytest", *options, "test_gpu_teams.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert run("plugin", "check", "gpu_teams.py:GPUTeams").stdout.startswith("GPUTeams passes all 8 checks")


def test_a_new_plugin_may_have_a_name_that_is_not_that_of_a_class(folder, forks):
    result = run("plugin", "new", "gpu-teams")
    assert result.stdout.startswith("Wrote gpu_teams.py and test_gpu_teams.py.")
    assert "class GpuTeams(Plugin):" in (folder / "gpu_teams.py").read_text()
    assert run("plugin", "check", "gpu_teams.py:GpuTeams").stdout.startswith("gpu-teams passes all 8 checks")
    options = ("-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", ".")
    done = forks.run("python", "-m", "pytest", *options)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("existing", ["team_zone.py", "test_team_zone.py"])
def test_existing_files_are_never_overwritten(folder, existing):
    (folder / existing).write_text("mine")
    result = run("plugin", "new", "TeamZone")
    assert result.exit_code == 2
    assert f"{existing} already exists, and is not overwritten" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == sorted(["broken.py", existing])
    assert (folder / existing).read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NodeName", "a plugin named NodeName already exists (in-tree); choose another name"),
        ("None", "None is a keyword of Python; choose another name"),
        ("Plugin", "Plugin is a name that plugins import from kubesched; choose another name"),
        ("Pod", "Pod is a name that plugins import from kubesched; choose another name"),
        ("Queue", "queue.py would hide the Python module queue; choose another name"),
        ("../X", "'../X' is not the name of a plugin; write it like TeamZone or team-zone"),
        ("team_zone", "'team_zone' is not the name of a plugin; write it like TeamZone or team-zone"),
        ("9-lives", "'9-lives' is not the name of a plugin; write it like TeamZone or team-zone"),
        ("team-zone-", "'team-zone-' is not the name of a plugin; write it like TeamZone or team-zone"),
    ],
)
def test_a_name_that_cannot_be_used_is_one_sentence(folder, name, said):
    result = run("plugin", "new", name)
    assert (result.exit_code, result.stderr) == (2, f"kubesched: error: {said}\n")
    assert [path.name for path in folder.iterdir()] == ["broken.py"]


def test_a_broken_contract_is_a_sentence_and_exit_code_1(folder):
    result = run("plugin", "check", "broken.py:Broken")
    assert result.exit_code == 1
    assert result.stdout.startswith("Broken fails 5 of 6 checks of the contract.\n")
    problem = "KeyError: 'zone' (broken.py:9 in score)"
    assert result.stdout.replace("\n", " ").count(problem) == 1  # five checks found the same
    assert "Traceback" not in result.output


def test_an_exception_in_a_hook_that_a_check_calls_is_a_sentence_too(folder):
    result = run("plugin", "check", "broken.py:OddQueue")
    assert result.exit_code == 1
    assert "AttributeError: 'OddQueue' object has no attribute 'unknown' (broken.py:17 in" in result.stdout


def test_a_filter_that_never_rejects_is_a_warning(folder):
    result = run("plugin", "check", "broken.py:Content")
    assert result.exit_code == 0
    assert "\nWarning: Content: its filter accepts every pod on every node" in result.stdout
    assert "test-a-plugin.md" in result.stdout
    assert "scenario=" not in result.stdout  # the command has no such option


def test_a_check_that_called_no_explain_rejection_says_so(folder):
    (folder / "content.py").write_text(
        "from kubesched import Plugin, Status\n\n\nclass Content(Plugin):\n"
        "    def filter(self, state, pod, node):\n        return Status.SUCCESS\n\n"
        "    def explain_rejection(self, state, pod, node, status):\n        yield 1 / 0\n"
    )
    told = " ".join(run("plugin", "check", "content.py:Content").stdout.split())
    assert "have not seen a rejection, and explain_rejection was not called; in a test," in told


def test_the_outcome_is_given_as_json_and_junit(folder):
    document = json.loads(run("plugin", "check", "broken.py:Broken", "-o", "json").stdout)
    assert document["schema"] == "kubesched/plugin-check/v1"
    assert document["plugin"] == "Broken"
    assert document["checks"][0] == {"name": "args_survive_a_file", "passed": True}
    assert "KeyError" in document["checks"][1]["problem"]
    assert 'tests="6" failures="5"' in run("plugin", "check", "broken.py:Broken", "-o", "junit").stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [("limit: three", 'limit: expected an integer, found "three"'), ("limt: 3", 'limt: did you mean "limit"?')],
)
def test_wrong_arguments_are_one_message(folder, args, said):
    (folder / "args.yaml").write_text(args)
    result = run("plugin", "check", "broken.py:Broken", "--args", "args.yaml")
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_a_plugin_that_does_not_load_is_one_message(folder):
    result = run("plugin", "check", "broken.py:Brokn")
    assert (result.exit_code, result.stdout) == (2, "")
    assert 'did you mean "Broken"?' in result.stderr
