import csv
import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import TEAM_ZONE, ZONED_CONFIG, run, write

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
OF_JOB = {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "etl", "uid": "j", "controller": True}]}


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    nodes = [make_node(f"n{i}", zone="ab"[i % 2], labels={"node.kubernetes.io/instance-type": "x"}) for i in range(4)]
    pods = [make_pod(f"etl-{i}", requests={"cpu": "500m"}, metadata=OF_JOB) for i in range(4)]
    return write(tmp_path, *nodes, *pods, make_pod("huge", requests={"cpu": "64"}))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "plain.yaml"
    path.write_text(HEADER)
    return path


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    path = tmp_path / "team_zone.py"
    path.write_text(TEAM_ZONE)
    return f"{path}:TeamZone"


def document(*arguments: object) -> dict:
    result = run("compare", *arguments, "--seeds", 5, "-o", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def sides(*arguments: object) -> tuple[str, str]:
    said = document(*arguments)
    return said["a"], said["b"]


def test_the_verdict_comes_first_and_the_settings_last(cluster):
    lines = run("compare", cluster, "--pack", "--seeds", 5).stdout.splitlines()
    assert lines[0].startswith("MostAllocated instead of LeastAllocated: nodes in use 4 -> 1 (-75%), empty nodes")
    assert "        type: MostAllocated" in lines
    assert any(line.split() == ["nodes", "in", "use", "4", "1", "-3", "real", "4", "1"] for line in lines)


def test_the_document_has_its_schema_and_every_figure(cluster):
    said = document(cluster, "--pack")
    assert said["schema"] == "kubesched/compare/v1"
    assert said["pods"] == {"mode": "pending", "selector": "", "count": 5}
    figures = {one["name"]: one for one in said["figures"]}
    assert figures["nodesInUse"] == {
        "name": "nodesInUse",
        "unit": "count",
        "a": 4,
        "b": 1,
        "rangeA": [4, 4],
        "rangeB": [1, 1],
        "finding": True,
    }
    assert {move["plugin"] for move in said["moves"]} == {"NodeResourcesFit"}


def test_two_configurations_are_compared_under_their_names(cluster, config):
    assert sides(cluster, "--config", config, "--config", config) == (str(config), str(config))


def test_one_configuration_is_compared_with_the_defaults(cluster, config):
    assert sides(cluster, "--config", config) == ("defaults", str(config))


def test_a_plugin_is_left_out_on_the_first_side(cluster, config, plugin):
    assert sides(cluster, "--plugin", plugin) == ("defaults", "defaults with TeamZone")
    said = document(cluster, "--config", config, "--plugin", plugin)
    assert (said["a"], said["b"]) == (str(config), f"{config} with TeamZone")
    assert "TeamZone" in said["settings"]["configuration"]


def test_packing_applies_to_the_second_side_of_a_configuration(cluster, config):
    said = document(cluster, "--config", config, "--pack")
    assert (said["a"], said["b"]) == (str(config), f"{config} with MostAllocated")
    assert "MostAllocated" in said["settings"]["configuration"]


def test_a_plugin_that_the_configuration_names_needs_a_second_configuration(cluster, tmp_path, plugin):
    path = tmp_path / "zoned.yaml"
    path.write_text(ZONED_CONFIG)
    result = run("compare", cluster, "--config", path, "--plugin", plugin)
    assert result.exit_code == 2
    assert "names TeamZone itself; give a second --config without it" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is nothing to compare; give --config twice, or --config, --plugin, --pack or --kubernetes-version"),
        (("--config", "a", "--config", "b", "--config", "c"), "--config is given 3 times"),
        (("--config", "a", "--config", "b", "--pack"), "--pack and a second --config are mutually exclusive"),
        (("--pack", "--seeds", "1"), "1 is not in the range x>=5"),
        (("--pack", "--fail-on", "pendng>0"), 'did you mean "pending"?'),
        (("--pack", "--pods", "everything"), "expected pending, all, or rollout=SELECTOR"),
        (("--pack", "--prices", "nowhere.yaml"), "open nowhere.yaml: no such file or directory"),
    ],
)
def test_wrong_arguments_end_with_one_sentence(cluster, arguments, words):
    result = run("compare", cluster, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_condition_that_holds_exits_with_1_after_the_report(cluster):
    result = run("compare", cluster, "--pack", "--seeds", 5, "--fail-on", "pending>0,skew>5")
    assert result.exit_code == 1
    assert "Failed: pending>0; pods pending: 1" in result.stdout
    assert "nodes in use" in result.stdout
    assert run("compare", cluster, "--pack", "--seeds", 5, "--fail-on", "skew>5").exit_code == 0


def test_checks_are_in_the_document(cluster):
    said = json.loads(run("compare", cluster, "--pack", "--seeds", 5, "--fail-on", "victims>0", "-o", "json").stdout)
    assert said["checks"] == [{"condition": "victims>0", "failed": False, "message": ""}]


def test_prices_are_for_the_nodes_in_use(cluster, tmp_path):
    (tmp_path / "prices.yaml").write_text("x: 0.5\n")
    figures = {one["name"]: one for one in document(cluster, "--pack", "--prices", tmp_path / "prices.yaml")["figures"]}
    assert (figures["pricePerHour"]["a"], figures["pricePerHour"]["b"]) == (2.0, 0.5)


def test_the_same_input_gives_the_same_bytes(cluster):
    for output in ("wide", "jsonl"):
        said = [run("compare", cluster, "--pack", "--seeds", 5, "-o", output).stdout for _ in range(2)]
        assert said[0] == said[1] != ""


def test_settings_in_markdown_can_be_copied(cluster):
    said = run("compare", cluster, "--pack", "--seeds", 5, "-o", "markdown").stdout
    assert "```yaml\napiVersion: kubescheduler.config.k8s.io/v1\n" in said
    assert "      kind: NodeResourcesFitArgs\n" in said


def test_forms_of_other_providers_are_only_in_wide_output(cluster):
    assert "Amazon EKS" not in run("compare", cluster, "--pack", "--seeds", 5).stdout
    assert (
        "Amazon EKS: KubeSchedulerConfig of the cluster"
        in run("compare", cluster, "--pack", "--seeds", 5, "-o", "wide").stdout
    )


def test_the_form_of_the_provider_is_shown(tmp_path):
    cluster = write(tmp_path, make_node("n", labels={"eks.amazonaws.com/nodegroup": "a"}), make_pod("web"))
    assert '"type": "MostAllocated"' in run("compare", cluster, "--pack", "--seeds", 5).stdout


def test_extenders_that_are_not_called_are_named(cluster, config):
    config.write_text(HEADER + "extenders: [{urlPrefix: 'http://127.0.0.1:1/', filterVerb: filter}]\n")
    said = run("compare", cluster, "--config", config, "--seeds", 5).stdout
    assert "Extenders are not called: http://127.0.0.1:1/." in said


def test_the_columns_that_a_narrow_terminal_hides_are_the_ranges(cluster):
    wide, narrow = (
        CliRunner().invoke(main, ["compare", str(cluster), "--pack", "--seeds", "5"], env={"COLUMNS": columns}).stdout
        for columns in ("80", "55")
    )
    assert "RUNS OF B" in wide
    assert "-o wide shows them" not in wide
    assert "DIFFERENCE" in narrow
    assert "RUNS OF B (-o wide shows them)" in " ".join(narrow.split())


def test_pods_that_one_side_leaves_pending_are_grouped_by_workload(tmp_path):
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2"}) for i in range(2)]
    small = [make_pod(f"s{i}", requests={"cpu": "1"}) for i in range(2)]
    large = [make_pod(f"etl-{i}", requests={"cpu": "2"}, metadata=OF_JOB) for i in range(2)]
    cluster = write(tmp_path, *nodes, *small, *large)
    said = run("compare", cluster, "--pack", "--seeds", 5).stdout
    assert "Pending with A, not with B" in said
    rows = [" ".join(line.split()) for line in said.splitlines()]
    (row,) = (row for row in rows if row.startswith("1 Job default/etl 5 of 5 0 of 5 etl-0"))
    assert row.removeprefix("1 Job default/etl 5 of 5 0 of 5 etl-0 ").startswith("all nodes: cpu is short by 1")
    assert any(line.startswith("fix: ") for line in rows)


def test_the_workload_with_the_largest_skew_is_named(cluster):
    assert "The largest skew of B is that of Job default/etl." in run("compare", cluster, "--pack", "--seeds", 5).stdout


def test_the_next_command_about_two_configurations_loads_the_plugins_that_they_name(cluster, tmp_path, plugin):
    (path := tmp_path / "zoned.yaml").write_text(ZONED_CONFIG)
    (args := tmp_path / "args.yaml").write_text("{}\n")
    loaded = ("--plugin", plugin, "--plugin-args", f"TeamZone={args}")
    result = run("compare", cluster, "--config", path, "--config", path, *loaded, "--seeds", 5)
    words = shlex.split(result.stdout.splitlines()[-1].removeprefix("Next: "))
    assert words[:3] == ["kubesched", "config", "diff"]
    assert run(*words[1:]).exit_code == 0


def test_csv_has_the_numbers_of_the_document_in_the_unit_of_the_figure(cluster):
    rows = {
        row["name"]: row
        for row in csv.DictReader(run("compare", cluster, "--pack", "--seeds", 5, "-o", "csv").stdout.splitlines())
    }
    figures = {one["name"]: one for one in document(cluster, "--pack")["figures"]}
    assert list(rows) == list(figures)
    for name, one in figures.items():
        ranges = dict(zip(("minA", "maxA", "minB", "maxB"), (*one["rangeA"], *one["rangeB"]), strict=True))
        numbers = {"a": one["a"], "b": one["b"], **ranges}
        assert {key: rows[name][key] for key in numbers} == {key: str(value) for key, value in numbers.items()}
        assert rows[name]["unit"] == one["unit"]
    assert (rows["nodesInUse"]["change"], rows["nodesInUse"]["chance"]) == ("-3", "beyond")


def test_csv_rounds_changes(tmp_path):
    pods = [make_pod(f"etl-{i}", requests={"cpu": "756m"}, metadata=OF_JOB) for i in range(3)]
    cluster = write(tmp_path, *(make_node(f"n{i}", allocatable={"cpu": "10"}) for i in range(3)), *pods)
    rows = csv.DictReader(run("compare", cluster, "--pack", "--seeds", 5, "-o", "csv").stdout.splitlines())
    assert all(len(row["change"].lstrip("-")) < 8 for row in rows)


def test_pods_that_the_api_server_refuses_are_named_and_count_as_pending(tmp_path):
    quota = make_object("ResourceQuota", "q", spec={"hard": {"pods": "1"}})
    cluster = write(tmp_path, make_node("n1"), quota)
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c", "image": "i"}]}}
    manifest = tmp_path / "pods.json"
    items = [{**pod, "metadata": {"name": name}} for name in "abc"]
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    result = run("compare", cluster, "--manifest", manifest, "--pack", "--seeds", 5)
    fault = "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1; counted as pending"
    assert f"the API server would not create 2 pods (default/b, default/c): {fault}" in result.stderr
    (pending,) = [line.split() for line in result.stdout.splitlines() if line.startswith(" pods pending")]
    assert pending[2:4] == ["2", "2"]


def test_packing_that_spreading_outvotes_is_noted_for_its_side(cluster, tmp_path):
    text = " ".join(run("compare", cluster, "--pack", "--seeds", 5).stdout.split())
    sentence = (
        "MostAllocated packs pods with weight 1, and PodTopologySpread spreads those of a workload with weight 2; to "
        "pack, give NodeResourcesFit a weight of at least 8, or PodTopologySpread defaultingType: List without "
        "defaultConstraints"
    )
    assert f"B: {sentence}." in text
    document = json.loads(run("compare", cluster, "--pack", "--seeds", 5, "-o", "json").stdout)
    assert document["outvoted"] == {"a": "", "b": sentence}
    config = tmp_path / "heavy.yaml"
    weighed = "score: {disabled: [{name: NodeResourcesFit}], enabled: [{name: NodeResourcesFit, weight: 9}]}"
    config.write_text(f"{HEADER}profiles: [{{plugins: {{{weighed}}}}}]\n")
    assert "packs pods" not in run("compare", cluster, "--config", config, "--pack", "--seeds", 5).stdout
