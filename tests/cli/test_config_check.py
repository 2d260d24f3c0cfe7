"""What `kubesched config check` prints, and how it ends."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kubesched import load_configuration
from kubesched.cli import main
from kubesched.config import RULES
from kubesched.errors import ConfigError

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
RISKY = f"{HEADER}percentageOfNodesToScore: 1\n"
BROKEN = f"{HEADER}paralelism: 3\nparallelism: lots\n"
CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: mine, namespace: kube-system}
data:
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    parallelism: 0
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(*texts: str, options: tuple[str, ...] = ()) -> Result:
    """Check these texts, written to a.yaml, b.yaml and so on."""
    names = [f"{'abc'[i]}.yaml" for i in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        Path(name).write_text(text)
    return CliRunner().invoke(main, ["config", "check", *names, *options], env={"COLUMNS": "120"})


def second(name: str, lease: str) -> str:
    return f"{HEADER}leaderElection:\n  resourceName: {lease}\nprofiles: [{{schedulerName: {name}}}]\n"


def test_the_message_of_kube_scheduler_comes_first_then_each_finding_with_its_line():
    result = check(BROKEN)
    assert result.exit_code == 1
    assert result.stdout == (
        'parallelism: expected an integer, found "lots"\n'
        "  in a.yaml\n"
        "\n"
        'a.yaml:3:1: error: unknown field "paralelism" [unknown-field]\n'
        "    paralelism: 3\n"
        "    ^\n"
        '  did you mean "parallelism"?\n'
        "\n"
        'a.yaml:4:14: error: parallelism: expected an integer, found "lots" [wrong-type]\n'
        "    parallelism: lots\n"
        "                 ^\n"
        "\n"
        "2 errors\n"
    )


@pytest.mark.parametrize(
    "text", ["[server]\nport = 80\n", '# ours\nname = "x"\nport = 80\n', "[[pools]]\na = [1]\nb = 2\n"]
)
def test_toml_is_named(text):
    result = check(text)
    told = "the text is TOML; a configuration is YAML or JSON"
    assert (result.exit_code, result.stdout.count(told)) == (1, 2), "in kube-scheduler's words, and in ours"
    with pytest.raises(ConfigError, match=told):
        load_configuration("a.yaml")


def test_objects_of_a_chart_without_a_scheduler_are_one_sentence():
    web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
    result = check(f"{web}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\ndata: {{a: b}}\n")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert "a.yaml: no scheduler configuration: found Deployment, ConfigMap; expected" in result.stderr


def test_a_warning_is_printed_and_the_file_accepted():
    result = check(RISKY)
    assert result.exit_code == 0
    assert result.stdout.startswith("a.yaml: accepted\n\na.yaml:3:27: warning: ")
    assert result.stdout.endswith("\n\n1 warning\n")


def test_strict_ends_with_1_for_a_warning_but_not_for_a_note():
    assert check(RISKY, options=("--strict",)).exit_code == 1
    assert check(f"{HEADER}podMaxBackoffSeconds: 600\n", options=("--strict",)).exit_code == 0


def test_silenced_findings_are_counted():
    text = f"{HEADER}percentageOfNodesToScore: 1  # kubesched: ignore low-percentage\n"
    assert check(text, options=("--strict",)).stdout == "a.yaml: accepted\n\nno findings; 1 silenced\n"
    document = json.loads(check(text, options=("-o", "json")).stdout)
    assert (document["findings"], document["silenced"]) == ([], 1)


def test_a_long_line_is_cut_around_the_finding():
    text = json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "x" * 200}],
            "parallelism": 0,
        }
    )
    shown, caret = check(text).stdout.splitlines()[4:6]
    assert len(shown) <= 104
    assert shown[caret.index("^")] == "0"


def test_many_findings_of_one_rule_are_counted():
    result = check(HEADER + "".join(f"field{i}: 1\n" for i in range(60)))
    assert result.stdout.count("[unknown-field]") == 51
    assert "\n... and 10 more [unknown-field]\n\n60 errors\n" in result.stdout


def test_json_has_every_finding_with_its_place():
    document = json.loads(check(BROKEN, options=("-o", "json")).stdout)
    assert document["schema"] == "kubesched/config-check/v1"
    assert (document["file"], document["accepted"], document["silenced"]) == ("a.yaml", False, 0)
    assert document["findings"][0] == {
        "rule": "unknown-field",
        "severity": "error",
        "path": "paralelism",
        "line": 3,
        "column": 1,
        "message": 'unknown field "paralelism"',
        "help": 'did you mean "parallelism"?',
    }


def test_junit_tells_findings_of_one_rule_in_one_place_apart():
    result = check(f"{HEADER}parallelism: 16  # kubesched: ignore aaa, bbb\n", options=("-o", "junit"))
    names = re.findall(r"<testcase .* name=(.*?)/?>", result.stdout)
    assert [name.partition(": ")[0].strip("'\"") for name in names] == ["accepted", *["unknown-rule at 3:18"] * 2]
    assert len(set(names)) == 3


def test_several_files_are_one_json_document_and_the_worst_decides():
    result = check(HEADER, BROKEN, options=("-o", "json"))
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["schema"] == "kubesched/config-check-files/v1"
    assert [(one["file"], one["accepted"]) for one in document["files"]] == [
        ("a.yaml", True),
        ("b.yaml", False),
    ]


REPORTS = ("table", "wide", "jsonl", "csv", "markdown", "html", "junit")


@pytest.mark.parametrize("output", REPORTS)
def test_findings_are_a_report_in_every_format(output: str):
    result = check(RISKY, BROKEN, options=("-o", output))
    assert result.exit_code == 1
    assert "unknown-field" in result.stdout
    assert "low-percentage" in result.stdout
    assert check(HEADER, options=("-o", output)).exit_code == 0


def test_the_table_begins_with_the_verdict():
    result = check(RISKY, BROKEN, options=("-o", "table"))
    assert result.stdout.startswith("1 of 2 accepted; 2 errors, 1 warning.\nparallelism: expected an integer, found")
    sound = check(HEADER, options=("-o", "table")).stdout
    assert sound == "a.yaml: accepted; no findings.\nRead as kube-scheduler v1.36.\n"
    rows = [line.split()[:4] for line in result.stdout.splitlines() if line.strip().startswith(("a.", "b."))]
    assert rows == [
        ["a.yaml", "3", "warning", "low-percentage"],
        ["b.yaml", "3", "error", "unknown-field"],
        ["b.yaml", "4", "error", "wrong-type"],
    ]


def test_a_json_line_has_a_finding_with_its_file():
    lines = [json.loads(line) for line in check(RISKY, BROKEN, options=("-o", "jsonl")).stdout.splitlines()]
    assert [(one["file"], one["line"], one["rule"]) for one in lines] == [
        ("a.yaml", 3, "low-percentage"),
        ("b.yaml", 3, "unknown-field"),
        ("b.yaml", 4, "wrong-type"),
    ]


def test_junit_fails_for_what_ends_with_1():
    assert 'failures="0"' in check(RISKY, options=("-o", "junit")).stdout
    assert 'tests="2" failures="1"' in check(RISKY, options=("-o", "junit", "--strict")).stdout
    assert 'tests="3" failures="3"' in check(BROKEN, options=("-o", "junit")).stdout


def test_github_gets_a_command_for_each_finding():
    result = check(BROKEN, RISKY, options=("-o", "github"))
    first, _, third = result.stdout.splitlines()
    assert first == (
        '::error file=a.yaml,line=3,col=1,title=unknown-field::unknown field "paralelism"%0Adid you mean "parallelism"?'
    )
    assert third.startswith("::warning file=b.yaml,line=3,col=27,title=low-percentage::")
    assert ": 1 %25 of all nodes" in third


def test_a_name_for_github_is_escaped():
    Path("a,b: 100%.yaml").write_text(RISKY)
    result = CliRunner().invoke(main, ["config", "check", "a,b: 100%.yaml", "-o", "github"])
    assert result.stdout.startswith("::warning file=a%2Cb%3A 100%25.yaml,line=3,")


def test_sarif_has_what_the_schema_requires():
    text = f"{RISKY}podMaxBackoffSeconds: 900  # kubesched: ignore long-backoff\n"
    document = json.loads(check(text, BROKEN, options=("-o", "sarif")).stdout)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "kubesched"
    assert [rule["id"] for rule in driver["rules"]] == list(RULES)
    page = "https://github.com/kubesched/kubesched/blob/main/docs/reference/config-rules.md"
    assert all(rule["helpUri"] == f"{page}#{rule['id']}" for rule in driver["rules"])
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert min(region["startLine"], region["startColumn"]) >= 1
    places = [
        (one["ruleId"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "suppressions" in one)
        for one in run["results"]
    ]
    assert places == [
        ("low-percentage", "a.yaml", False),
        ("long-backoff", "a.yaml", True),
        ("unknown-field", "b.yaml", False),
        ("wrong-type", "b.yaml", False),
    ]


def test_a_finding_in_a_config_map_has_the_line_of_the_file():
    result = check(CONFIG_MAP)
    assert "\n  in a.yaml: ConfigMap kube-system/mine, config.yaml\n" in result.stdout
    assert "\na.yaml:8:18: error: parallelism: Invalid value: 0: " in result.stdout
    assert "::error file=a.yaml,line=8,col=18," in check(CONFIG_MAP, options=("-o", "github")).stdout


def test_standard_input_is_checked():
    result = CliRunner().invoke(main, ["config", "check", "-"], input=BROKEN)
    assert result.exit_code == 1
    assert "\nstandard input:3:1: error: unknown field" in result.stdout


def test_two_schedulers_with_one_lease_are_found():
    result = check(second("gpu", "mine"), second("batch", "mine"), second("third", "other"), options=("-o", "json"))
    files = json.loads(result.stdout)["files"]
    assert [[(one["rule"], one["line"], one["column"]) for one in file["findings"]] for file in files] == [
        [("shared-lease", 4, 17)],
        [("shared-lease", 4, 17)],
        [],
    ]
    assert files[0]["findings"][0]["message"] == "b.yaml uses the lease kube-system/mine, too, for another scheduler"


def test_two_versions_of_one_scheduler_may_have_one_lease():
    assert check(second("gpu", "mine"), second("gpu", "mine")).stdout == "a.yaml: accepted\nb.yaml: accepted\n"


def test_a_shared_lease_can_be_silenced():
    text = f"# kubesched: ignore shared-lease\n{second('gpu', 'mine')}"
    assert check(text, second("batch", "mine")).stdout.startswith("a.yaml: accepted\n\nno findings; 1 silenced\n")


def test_a_second_document_is_found():
    result = check(f"{HEADER}---\n{RISKY}")
    assert "\na.yaml:4:1: warning: the file has another document" in result.stdout


def test_an_extender_that_does_not_answer_is_a_finding_at_its_verb():
    text = (
        f"{HEADER}percentageOfNodesToScore: 100\nextenders:\n- urlPrefix: http://127.0.0.1:1\n  filterVerb: filter\n"
        "  ignorable: true\n  nodeCacheCapable: true\n"
    )
    result = check(text, options=("--probe",))
    assert result.exit_code == 1
    assert result.stdout.startswith("a.yaml: accepted\nfilter  http://127.0.0.1:1/filter  ")
    assert "\na.yaml:6:15: error: http://127.0.0.1:1/filter: " in result.stdout
    assert "[extender-probe]" in result.stdout


EXTENDERS = "extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter, nodeCacheCapable: true}]\n"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (HEADER.replace("/v1", "/v1beta2") + EXTENDERS, "probe the output of `kubesched config convert FILE`"),
        ('{"predicates": [], "extenders": [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter"}]}', "--for"),
        (f"{HEADER}parallelism: 0\n{EXTENDERS}", "correct the errors first"),
    ],
)
def test_a_probe_of_what_is_rejected_says_that_it_called_nothing(text: str, advice: str):
    result = check(text, options=("--probe", "-o", "json"))
    assert result.exit_code == 1
    (note,) = [one for one in json.loads(result.stdout)["findings"] if one["rule"] == "not-probed"]
    assert note["message"] == "--probe called no extender, because the configuration is rejected"
    assert advice in note["help"]


def test_for_kubesched_an_older_file_is_probed():
    older = HEADER.replace("/v1", "/v1beta2") + EXTENDERS
    result = check(older, options=("--probe", "--for", "kubesched"))
    assert result.exit_code == 1
    assert "[extender-probe]" in result.stdout
    assert "[not-probed]" not in result.stdout


def test_an_extender_whose_certificate_cannot_be_used_is_a_finding_next_to_the_others():
    text = (
        f"{HEADER}percentageOfNodesToScore: 1\nextenders:\n- urlPrefix: https://127.0.0.1:1\n  filterVerb: filter\n"
        "  ignorable: true\n  nodeCacheCapable: true\n  tlsConfig: {caFile: missing.pem}\n"
    )
    result = check(text, options=("--probe",))
    assert result.exit_code == 1
    message = "extender https://127.0.0.1:1: missing.pem cannot be read: No such file or directory"
    assert f"\na.yaml:5:3: error: {message} [extender-probe]" in result.stdout
    assert "[low-percentage]" in result.stdout
    assert "no extenders to call" not in result.stdout


@pytest.mark.parametrize(
    "text",
    [
        "metadata:\n  name: USERS\n  labels:\n    a: USERS\n",
        '{\n  "a": "USERS",\n  "b": "USERS"\n}\n',
        "- a\n- USERS:\n    USERS: 1\n",
        '"a\\n  USERS"\n',
        "|\n  a\n    USERS\n",
        'kind: "a\\n  USERS"\napiVersion: v1\n',
        'kind: "a\\n  USERS"\n',
        'apiVersion: "a\\n  USERS"\nkind: KubeSchedulerConfiguration\n',
        HEADER + 'parallelism: "a\\n  USERS"\n',
        HEADER + 'profiles: [{pluginConfig: [{name: "b\\n  USERS"}, {name: "b\\n  USERS"}]}]\n',
        HEADER + 'profiles: [{pluginConfig: [{name: NodeAffinity, args: "b\\n  USERS"}]}]\n',
        HEADER + 'profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: "b\\n  USERS"}}]}]\n',
        HEADER + 'extenders: [{urlPrefix: "http://a\\n  USERS", bindVerb: "x\\n  USERS"}, {bindVerb: b}]\n',
        HEADER + 'extenders: [{urlPrefix: x, managedResources: [{name: "a\\n  USERS"}]}]\n',
        HEADER.replace("/v1", "/v1beta2") + 'parallelism: "a\\n  USERS"\n',
        '{"predicates": [{"name": "a\\n  USERS"}]}',
    ],
)
def test_the_help_has_no_pieces_of_the_file(text: str):
    document = json.loads(check(text, options=("-o", "json")).stdout)
    helps = [*document["help"], *(one["help"] for one in document["findings"])]
    lines = [line.strip() for line in "\n".join(helps).split("\n")]
    assert [line for line in lines if line.startswith(("USERS", '"USERS', "labels", '"a', "name:"))] == []
    assert document["error"]


SECOND = "profiles: [{schedulerName: second}]\n"


def test_kubesched_has_a_lease_of_its_own():
    assert "[default-lease]" in check(HEADER + SECOND).stdout
    assert check(HEADER + SECOND, options=("--for", "kubesched")).stdout == "a.yaml: accepted\n"
    named = f"{HEADER}leaderElection: {{resourceName: kube-scheduler}}\n{SECOND}"
    assert "[default-lease]" in check(named, options=("--for", "kubesched")).stdout


def test_an_older_file_is_accepted_for_kubesched():
    text = HEADER.replace("/v1", "/v1beta2") + SECOND
    assert check(text).exit_code == 1
    result = check(text, options=("--for", "kubesched"))
    assert (result.exit_code, result.stdout) == (0, "a.yaml: accepted\n")


def test_a_plugin_that_the_user_brings_is_known():
    Path("zone.py").write_text(
        "from kubesched import Plugin, PluginArgs, Status\n\n\n"
        "class Zone(Plugin):\n"
        "    class Args(PluginArgs):\n        bonus: int = 1\n\n"
        "    def __init__(self, args):\n        1 / args.bonus\n\n"
        "    def score(self, state, pod, node):\n        return 1\n\n"
        "    async def bind(self, state, pod, node):\n        return Status.SKIP\n"
    )
    profile = (
        "profiles:\n- plugins: {multiPoint: {enabled: [{name: Zone}]}}\n  pluginConfig:\n  - name: Zone\n    args: "
    )
    plugin = ("--plugin", "zone.py:Zone", "-o", "json")
    found = {
        args: [
            (one["rule"], one["line"], one["column"])
            for one in json.loads(check(f"{HEADER}{profile}{args}\n", options=plugin).stdout)["findings"]
        ]
        for args in ("{}", "{bonus: 0}", "{bonuz: 1}", "{bonus: x}")
    }
    late = [("unreachable-bind", 4, 36), ("own-plugin", 4, 43)]
    assert found == {
        "{}": late,
        "{bonus: 0}": [*late, ("plugin-init", 7, 5)],
        "{bonuz: 1}": [*late, ("unknown-field", 7, 12)],
        "{bonus: x}": [*late, ("wrong-type", 7, 19)],
    }


def test_a_plugin_of_another_project_is_not_taken_for_a_misspelt_name():
    enabled = "profiles:\n- plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}\n"
    help_line = (
        '  no plugin has the name "Coscheduling"; "kubesched plugin list" prints them; to load your plugin, '
        "add --plugin"
    )
    assert help_line in check(f"{HEADER}{enabled}").stdout
    args = "profiles:\n- pluginConfig: [{name: Coscheduling, args: {}}]\n"
    assert "  load it with --plugin FILE.py:Class\n" in check(f"{HEADER}{args}").stdout
    disabled = "profiles:\n- plugins: {score: {disabled: [{name: Coscheduling}]}}\n"
    assert "SchedulingGates" not in check(f"{HEADER}{disabled}").stdout
