"""Configurations with the traps of articles on extending the scheduler, as `kubesched config` reads them."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main
from tests.articles.table import ARTICLES, FOLDER, PLUGIN_FILE, WAY_OUT, Article

MANIFEST = str(FOLDER / "scheduler-with-policy.yaml")
BARE_POLICY = str(FOLDER / "policy-without-kind.json")


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """A file with one node, which has room."""
    file = tmp_path / "cluster.json"
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    file.write_text(json.dumps({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}, "status": status}))
    return str(file)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["config", *words])


@pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.file)
def test_every_command_reads_the_file_with_its_profiles_and_lease(article: Article, snapshot, tmp_path):
    file, plugins = str(article.write(tmp_path)), article.plugin_options
    checked = run("check", file, *plugins)
    assert (checked.exit_code, "[old-version]" in checked.stdout) == (int(article.is_old), article.is_old)
    assert "1 error" in checked.stdout or not article.is_old
    converted, shown = run("convert", file, *plugins), run("show", file, *plugins)
    assert converted.exit_code in (0, 3), converted.stderr
    for text in (converted.stdout, shown.stdout):
        (document,) = yaml.safe_load_all(text)
        assert [one.get("schedulerName", "default-scheduler") for one in document["profiles"]] == [*article.schedulers]
        assert document.get("leaderElection", {}).get("resourceName", "kube-scheduler") == article.lease_of_the_file
    simulated = CliRunner().invoke(main, ["simulate", snapshot, "--config", file, *plugins])
    assert simulated.exit_code == 0, simulated.stderr


COMMANDS = [
    ("scheduler", "--kubeconfig", "gone"),
    ("scheduler", "manifests", "--image", "example.com/kubesched:1"),
    ("simulate", "{}"),
    ("explain", "{}", "--all"),
    ("compare", "{}", "--pack"),
    ("drain", "{}", "n1"),
    ("fit", "{}", "--resource", "cpu=1"),
    ("extender", "--plugin", f"{PLUGIN_FILE}:skipMaintenance"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_every_command_refuses_a_file_with_two_configurations_and_names_them(command, snapshot, tmp_path):
    file = tmp_path / "both.yaml"
    file.write_text("---\n".join((FOLDER / name).read_text() for name in ("multipoint.yaml", "points.yaml")))
    words = [word.format(snapshot) for word in command]
    result = CliRunner().invoke(main, [*words, "--config", str(file)])
    assert result.exit_code == 2, result.output
    assert f"{file}: expected one configuration, found 2: {file}: line 1; {file}: line 12\n" in result.stderr
    assert f"give one of them as a file; `kubesched config convert {file}`" in result.stderr


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_the_manifest_of_a_scheduler_decides_as_its_configuration(command, snapshot):
    words = [command, snapshot, *(["--all"] if command == "explain" else [])]
    assert CliRunner().invoke(main, [*words, "--config", MANIFEST]).exit_code == 0


def test_the_manifest_of_a_scheduler_names_the_profile_and_the_lease(tmp_path):
    written = tmp_path / "written.yaml"
    result = CliRunner().invoke(main, ["scheduler", "--config", MANIFEST, "--write-config-to", str(written)])
    assert result.exit_code == 0, result.stderr
    document = yaml.safe_load(written.read_text())
    assert [profile["schedulerName"] for profile in document["profiles"]] == ["blue-scheduler"]
    assert document["leaderElection"]["resourceName"] == "blue-scheduler"


def test_manifests_have_the_converted_configuration_and_its_lease():
    words = ["scheduler", "manifests", "--image", "example.com/kubesched:1", "--config", MANIFEST]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.stderr
    (config_map,) = (one for one in yaml.safe_load_all(result.stdout) if one["kind"] == "ConfigMap")
    document = yaml.safe_load(config_map["data"]["scheduler.yaml"])
    assert (document["kind"], document["profiles"][0]["schedulerName"]) == (
        "KubeSchedulerConfiguration",
        "blue-scheduler",
    )
    assert document["leaderElection"]["resourceName"] == "blue-scheduler"


def test_show_converts_an_older_version_and_says_so(caplog):
    result = run("show", MANIFEST)
    assert result.exit_code == 0, result.stderr
    assert yaml.safe_load(result.stdout)["profiles"][0]["schedulerName"] == "blue-scheduler"
    assert [message.partition(";")[0] for message in caplog.messages] == [
        f"{MANIFEST}: converted from kubescheduler.config.k8s.io/v1alpha1"
    ]


def test_a_policy_in_a_manifest_is_converted_once_as_a_part_of_its_configuration():
    result = run("convert", MANIFEST)
    (document,) = yaml.safe_load_all(result.stdout)
    assert document["profiles"][0]["schedulerName"] == "blue-scheduler"
    assert document["leaderElection"]["resourceName"] == "blue-scheduler"
    assert document["extenders"][0]["filterVerb"] == "predicates/always_true"


def test_a_manifest_with_a_configuration_and_its_policy_is_one_side_of_a_diff():
    result = run("diff", MANIFEST, MANIFEST)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_manifest_is_judged_as_one_configuration(command):
    assert "blue-scheduler-policy, policy.cfg" not in run(command, MANIFEST).output


NOTE = "Policy v1 (it has neither kind nor apiVersion, but predicates, priorities and extenders)"


def test_a_policy_without_kind_and_version_is_converted_with_one_note():
    result = run("convert", BARE_POLICY)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"# Converted from {NOTE} for kube-scheduler")
    assert result.stdout.count("apiVersion, but") == 1
    enabled = yaml.safe_load(result.stdout)["profiles"][0]["plugins"]["score"]["enabled"]
    assert enabled == [{"name": "NodeResourcesFit", "weight": 1}]


@pytest.mark.parametrize("words", [("config", "show"), ("config", "diff"), ("simulate", "--config")])
def test_a_policy_without_kind_and_version_is_taken_with_one_note(words, snapshot, caplog):
    result = CliRunner().invoke(main, [*words, BARE_POLICY, *([snapshot] if words[0] == "simulate" else [])])
    assert result.exit_code == (1 if "diff" in words else 0), result.stderr
    assert [message.partition(";")[0] for message in caplog.messages] == [f"{BARE_POLICY}: converted from {NOTE}"]


def test_a_policy_without_kind_and_version_is_rejected_by_kube_scheduler_and_named_by_check():
    result = run("check", BARE_POLICY)
    assert result.exit_code == 1
    (finding,) = [line for line in result.stdout.splitlines() if line.startswith(f"{BARE_POLICY}:")]
    assert finding == f"{BARE_POLICY}:1:1: error: Object 'Kind' is missing [old-version]"
    advice = "predicates, priorities and extenders at the top are those of a Policy; `kubesched config convert FILE`"
    assert result.stdout.count(advice) == 2  # below kube-scheduler's sentence, and below the finding


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("kind: Policy\npredicates: []\n", "add the line `apiVersion: v1`\n"),
        ("apiVersion: v1\npredicates: []\n", "add the line `kind: Policy`\n"),
        ("apiVersion: kubescheduler.config.k8s.io/v1\n", "add the line `kind: KubeSchedulerConfiguration`\n"),
        ("kind: KubeSchedulerConfiguration\n", "add the line `apiVersion: kubescheduler.config.k8s.io/v1`, or "),
    ],
)
@pytest.mark.parametrize("command", ["check", "convert", "show"])
def test_the_one_line_that_is_missing_is_named(text, line, command, tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    result = run(command, str(file))
    assert result.exit_code == (1 if command == "check" else 2)
    assert line in result.output


def test_a_named_policy_can_be_without_kind_and_version(tmp_path):
    file = tmp_path / "older.yaml"
    head = "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
    (tmp_path / "policy.json").write_bytes(Path(BARE_POLICY).read_bytes())
    file.write_text(f"{head}algorithmSource: {{policy: {{file: {{path: /etc/policy.json}}}}}}\n")
    result = run("convert", str(file))
    assert result.exit_code == 0, result.stderr
    note = "# /etc/policy.json was read as Policy v1: it has neither kind nor apiVersion, but predicates"
    assert result.stdout.count(note) == 1


PLUGINS = ARTICLES[2].plugin_options
TWO_SORTS = FOLDER / "two-queue-sorts.yaml"
MUST_BE_THE_SAME = "must be the same for all profiles"


@pytest.mark.parametrize("command", [("convert",), ("show",), ("diff",)])
def test_different_queue_sorts_are_refused_with_the_way_out(command):
    result = run(*command, str(TWO_SORTS), *PLUGINS)
    assert result.exit_code == 2
    upstream, advice, _ = result.stderr.split("\n", 2)
    assert upstream.endswith(MUST_BE_THE_SAME)
    assert advice.endswith(f"write this below plugins of every profile: {WAY_OUT}")


def test_check_finds_different_queue_sorts_of_an_old_version_at_their_line():
    result = run("check", str(TWO_SORTS), *PLUGINS)
    assert result.exit_code == 1
    line = TWO_SORTS.read_text().splitlines().index("    queueSort:") + 1
    (finding,) = [one for one in result.stdout.splitlines() if one.endswith("[queue-sort]")]
    assert finding.startswith(f"{TWO_SORTS}:{line}:5: error: profiles[1].plugins.queueSort: Invalid value:")
    assert WAY_OUT in result.stdout


def test_the_way_out_works_when_it_is_pasted(tmp_path):
    old = yaml.safe_load(TWO_SORTS.read_text())
    for profile in old["profiles"]:
        profile["plugins"].update(yaml.safe_load(WAY_OUT))
    file = tmp_path / "pasted.yaml"
    file.write_text(yaml.safe_dump(old))
    shown = run("show", str(file), *PLUGINS)
    assert shown.exit_code == 0, shown.stderr
    converted = run("convert", str(file), *PLUGINS)
    profiles = yaml.safe_load(converted.stdout)["profiles"]
    assert [one["plugins"]["queueSort"]["enabled"] for one in profiles] == [[{"name": "youngestFirst"}]] * 2


@pytest.mark.parametrize("command", ["check", "convert", "show"])
def test_slash_comments_are_named_with_their_line(command):
    result = run(command, str(FOLDER / "slash-comments.yaml"), *PLUGINS)
    assert result.exit_code == (1 if command == "check" else 2)
    assert "line 11: comments in YAML begin with #, not with //\n" in result.output


def test_check_says_what_keeps_an_old_file_from_being_converted(tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text("kind: Policy\napiVersion: v1\npredicates: [{name: PodFitsResource}]\n")
    result = run("check", str(file))
    assert result.exit_code == 1
    assert 'predicate type not found for "PodFitsResource" [not-convertible]' in result.stdout
    assert 'did you mean "PodFitsResources"?' in result.stdout


def test_check_finds_an_unknown_plugin_in_an_old_version(tmp_path):
    file = tmp_path / "old.yaml"
    file.write_text(TWO_SORTS.read_text().partition("\n\n- schedulerName: team-2")[0])
    result = run("check", str(file))
    assert f'{file}:12:15: error: PreFilterPlugin "skipMaintenance" does not exist [unknown-plugin]' in result.stdout
