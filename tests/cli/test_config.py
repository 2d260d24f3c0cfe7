import json

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PLUGIN = """
from kubesched.framework import Plugin

class TeamZone(Plugin):
    def score(self, state, pod, node):
        return 1
"""


@pytest.fixture
def run(tmp_path):
    """Run a subcommand on a file with this text; `team_zone.py` stands beside it."""
    (tmp_path / "team_zone.py").write_text(PLUGIN)

    def run_on(command: str, text: str, *options: str) -> Result:
        file = tmp_path / "scheduler.yaml"
        file.write_text(text)
        return CliRunner().invoke(main, ["config", command, str(file), *options])

    return run_on


def test_an_accepted_file_ends_with_0(run):
    result = run("check", HEADER)
    assert result.exit_code == 0
    assert result.stdout.endswith("scheduler.yaml: accepted\n")


@pytest.mark.parametrize(("reader", "lease"), [("kube-scheduler", "kube-scheduler"), ("kubesched", "kubesched")])
def test_the_lease_that_is_shown_is_the_one_of_the_reader(run, reader, lease):
    def name(text: str) -> str:
        return yaml.safe_load(run("show", text, "--for", reader).stdout)["leaderElection"]["resourceName"]

    assert name(HEADER) == name(HEADER.replace("/v1", "/v1beta3")) == lease
    assert name(f"{HEADER}leaderElection: {{resourceName: mine}}\n") == "mine"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("parallelism: 0", "parallelism: Invalid value: 0: should be an integer value greater than zero\n"),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: Nope}]}}}]",
            (
                "initializing profiles: creating profile for scheduler name default-scheduler: "
                'FilterPlugin "Nope" does not exist\n'
            ),
        ),
        ("profiles: [", "yaml: line 3: "),
    ],
)
def test_a_finding_is_printed_in_upstream_words_and_ends_with_1(run, body, message):
    result = run("check", HEADER + body + "\n")
    assert result.exit_code == 1
    assert result.stdout.startswith(message)


def test_a_finding_is_given_as_json(run):
    result = run("check", HEADER + "paralelism: 3", "-o", "json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (found["accepted"], found["error"]) == (False, 'strict decoding error: unknown field "paralelism"')
    assert found["help"][0] == 'paralelism: did you mean "parallelism"?'


def test_acceptance_is_given_as_json(run):
    document = json.loads(run("check", HEADER, "-o", "json").stdout)
    assert document.pop("file").endswith("scheduler.yaml")
    assert document.pop("schema") == "kubesched/config-check/v1"
    assert document.pop("kubernetesVersion") == "v1.36"
    assert document == {"accepted": True, "error": None, "help": [], "findings": [], "silenced": 0}


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_missing_file_ends_with_2(command, tmp_path):
    result = CliRunner().invoke(main, ["config", command, str(tmp_path / "nothing.yaml")])
    assert result.exit_code == 2
    assert result.stderr == f"kubesched: error: open {tmp_path}/nothing.yaml: no such file or directory\n"


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_plugin_that_does_not_load_ends_with_2(run, command):
    result = run(command, HEADER, "--plugin", "nothing.py:Nothing")
    assert (result.exit_code, result.stderr) == (2, "kubesched: error: nothing.py: no such file\n")


def test_what_is_shown_of_a_refused_file_is_why(run):
    result = run("show", HEADER + "parallelism: 0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("kubesched: error: parallelism: Invalid value: 0: ")


def test_the_effective_configuration_is_shown_as_yaml_and_json(run):
    shown = yaml.safe_load(run("show", HEADER).stdout)
    assert shown == json.loads(run("show", HEADER, "-o", "json").stdout)
    assert shown["profiles"][0]["plugins"]["multiPoint"]["enabled"][0] == {"name": "SchedulingGates", "weight": 0}


@pytest.mark.parametrize(("command", "code"), [("show", 0), ("diff", 1)])
@pytest.mark.parametrize("options", [(), ("-o", "json")])
def test_the_password_and_the_key_of_an_extender_are_not_shown(run, command, code, options):
    extender = "{urlPrefix: 'http://me:word@devices', filterVerb: f, tlsConfig: {certData: Y2VydA==, keyData: a2V5}}"
    result = run(command, f"{HEADER}extenders: [{extender}]", *options)
    assert result.exit_code == code
    assert "http://me:***@devices" in result.stdout
    assert "me:word" not in result.stdout
    assert "a2V5" not in result.stdout


def test_a_plugin_of_one_s_own_is_shown_where_it_runs(run, tmp_path):
    result = run("show", HEADER, "--plugin", f"{tmp_path}/team_zone.py:TeamZone", "-o", "json")
    score = json.loads(result.stdout)["profiles"][0]["plugins"]["score"]
    assert score == {"enabled": [{"name": "TeamZone", "weight": 1}]}
