import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.snapshot import ClusterObjects, load_snapshot, write_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, shop, write
from tests.cli.live_server import api_server, kubeconfig_of
from tests.clusters import realistic
from tests.dra_objects import DRA_OBJECTS, SECRET

SHOP = Path(__file__).parents[2] / "examples" / "shop" / "cluster.json.gz"

RAW_PLUGIN = """
from kubesched import Plugin

class Raw(Plugin):
    wants_raw = True

    def score(self, state, pod, node):
        return 1
"""
SECRETIVE = make_pod(
    "secretive", spec={"containers": [{"name": "c", "image": "x", "args": ["hunter2"]}]}, annotations={"note": "kept"}
)


def test_the_live_cluster_is_saved_and_decided_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json.gz"
    with api_server([*shop(), SECRETIVE]) as (url, _):
        kubeconfig = kubeconfig_of(url, tmp_path)
        saved = run("snapshot", "--kubeconfig", kubeconfig, "-o", path)
        live = run("simulate", "--kubeconfig", kubeconfig, "-o", "json")
    assert saved.stdout == ""
    assert f"wrote 2 nodes, 8 pods and 2 other objects to {path}" in saved.stderr
    assert run("simulate", path, "-o", "json").stdout == live.stdout


def test_the_time_is_in_the_file_and_its_age_in_a_note(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    with api_server(shop()) as (url, _):
        run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", path)
    taken_at = load_snapshot(path).taken_at
    assert taken_at is not None
    assert abs(datetime.now(UTC) - taken_at) < timedelta(minutes=1)
    assert run("simulate", path).stderr == (
        f"kubesched: note: the snapshot was taken less than 2 minutes ago, at {taken_at:%Y-%m-%d %H:%M} UTC\n"
    )


@pytest.mark.parametrize(("hours", "words"), [(1.5, "90 minutes ago"), (30, "30 hours ago"), (72, "3 days ago")])
def test_the_age_is_told_in_a_fitting_unit(hours: float, words: str, tmp_path: Path) -> None:
    old = ClusterObjects((make_node("n1"),), taken_at=datetime.now(UTC) - timedelta(hours=hours, seconds=5))
    write_snapshot(old, tmp_path / "old.json")
    assert words in run("simulate", tmp_path / "old.json").stderr


def test_a_file_is_reduced_to_what_a_scheduler_reads(tmp_path: Path) -> None:
    result = run("snapshot", write(tmp_path, make_node("n1"), SECRETIVE))
    document = json.loads(result.stdout)
    assert document["kind"] == "List"
    assert "hunter2" not in result.stdout
    assert "kept" not in result.stdout


def test_annotations_are_kept_on_request(tmp_path: Path) -> None:
    result = run("snapshot", write(tmp_path, SECRETIVE, make_node("n1")), "--keep-annotations")
    assert json.loads(result.stdout)["items"][0]["metadata"]["annotations"] == {"note": "kept"}


def test_pods_are_whole_for_a_plugin_that_wants_them_so(tmp_path: Path) -> None:
    (tmp_path / "raw.py").write_text(RAW_PLUGIN)
    result = run("snapshot", write(tmp_path, SECRETIVE, make_node("n1")), "--plugin", f"{tmp_path}/raw.py:Raw")
    assert json.loads(result.stdout)["items"][0]["spec"]["containers"][0]["args"] == ["hunter2"]


QUOTA_PLUGIN = """
from kubesched import Plugin, Status

class QuotaCheck(Plugin):
    reads = ("example.com/v1/Quota",)

    def filter(self, state, pod, node):
        quota = self.handle.get("example.com/v1/Quota", pod.namespace, "gpus")
        full = quota is None or node.name not in quota.document["spec"]["nodes"]
        return Status.unschedulable("node(s) had no quota") if full else Status.SUCCESS
"""
QUOTA = make_object("example.com/v1/Quota", "gpus", namespace="default", spec={"nodes": ["n2"]})
USAGE = make_object("metrics.k8s.io/v1beta1/NodeMetrics", "n1", usage={"cpu": "1", "memory": "1Gi"})


def test_further_kinds_are_kept_whole_on_request_and_for_a_plugin(tmp_path: Path) -> None:
    (tmp_path / "quota.py").write_text(QUOTA_PLUGIN)
    plugin = ("--plugin", f"{tmp_path}/quota.py:QuotaCheck")
    objects = [make_node("n1"), make_node("n2"), make_pod("p"), QUOTA, USAGE]
    paths = {name: tmp_path / f"{name}.json" for name in ("plain", "keep", "plugin", "usage")}
    with api_server(objects) as (url, _):
        live = ("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path))
        run(*live, "-o", paths["plain"])
        run(*live, "-o", paths["keep"], "--keep", "example.com/v1/Quota")
        run(*live, "-o", paths["plugin"], *plugin)
        run(*live, "-o", paths["usage"], "--usage")
        asked = run("explain", "--kubeconfig", kubeconfig_of(url, tmp_path), *plugin, "default/p")
    kinds = {name: load_snapshot(path).kinds for name, path in paths.items()}
    assert kinds["keep"] == kinds["plugin"] == {**kinds["plain"], "example.com/v1/quotas": 1}
    assert kinds["usage"] == {**kinds["plain"], "metrics.k8s.io/v1beta1/nodes": 1}
    assert "fits on 1 of 2 nodes and would go to n2" in asked.stdout
    offline = run("explain", paths["keep"], *plugin, "default/p")
    assert "fits on 1 of 2 nodes and would go to n2" in offline.stdout
    without = run("simulate", paths["plain"], *plugin)
    assert "a plugin reads quotas.example.com, and the snapshot has none; `kubesched snapshot --keep" in without.stderr


def test_a_further_kind_that_the_server_lacks_is_noted(tmp_path: Path) -> None:
    with api_server([make_node("n1")]) as (url, _):
        live = ("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path))
        result = run(*live, "--keep", "example.com/v1/Quota", "-o", tmp_path / "c.json")
    assert result.exit_code == 0
    assert "quotas.example.com cannot be listed (404 NotFound)" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--keep", "Quota"], '"Quota" is not a kind that kubesched reads'),
        (["--keep", "v1/Secret"], "plugins do not read Secrets"),
        (["--keep", "v1/SecreT"], "plugins do not read Secrets"),
        (["--keep", "apps/v1/ReplicaSet"], "ReplicaSet is in every snapshot; leave the option out"),
        (["--usage", "--anonymize"], "--anonymize and --keep or --usage are mutually exclusive"),
    ],
)
def test_what_cannot_be_kept_is_refused(options: list[str], words: str, tmp_path: Path) -> None:
    result = run("snapshot", write(tmp_path, make_node("n1")), *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_what_cannot_be_renamed_is_left_out_of_an_anonymous_snapshot(tmp_path: Path) -> None:
    first = tmp_path / "first.json"
    write_snapshot(ClusterObjects((make_node("n1"), QUOTA), listed_kinds=frozenset(["example.com/v1/quotas"])), first)
    result = run("snapshot", first, "--anonymize")
    assert "--anonymize leaves out 1 object that only plugins read" in result.stderr
    assert "quota" not in result.stdout.lower()


def test_kinds_that_may_not_be_listed_are_missing_in_the_file_too(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    pod = make_pod("p", spec={"priorityClassName": "high", "priority": None})
    with api_server([make_node("n1"), pod], ["PriorityClass"]) as (url, _):
        saved = run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", path)
    assert "priorityclasses cannot be listed (403 Forbidden)" in saved.stderr
    assert "the snapshot has no PriorityClass" in run("simulate", path).stderr


@pytest.mark.parametrize(
    ("output", "words"), [("c.yaml", "expected a name that ends with"), ("no/c.json", "No such file or directory")]
)
def test_a_wrong_output_is_refused_before_the_cluster_is_read(output: str, words: str, tmp_path: Path) -> None:
    with api_server(shop()) as (url, asked):
        result = run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", tmp_path / output)
    assert result.exit_code == 2
    assert words in result.stderr
    assert asked == []


def test_a_refusal_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text("old")
    with api_server(shop(), ["Pod"]) as (url, _):
        result = run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", path)
    assert result.exit_code == 2
    assert path.read_text() == "old"


def test_a_cluster_without_nodes_and_pods_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text("old")
    with api_server([]) as (url, _):
        result = run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", path)
    assert result.exit_code == 2
    assert f"the cluster has no node and no pod, as {url} lists it" in result.stderr
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    "options", [["-o"], ["--anonymize", "-o"], ["-o", "new.json", "--anonymize", "--table"]], ids=" ".join
)
@pytest.mark.parametrize("link", [False, True])
def test_an_input_is_never_replaced(options: list[str], link: bool, tmp_path: Path) -> None:
    path = write(tmp_path, *shop())
    before, other = path.read_bytes(), tmp_path / "linked.json"
    other.symlink_to(path)
    result = run("snapshot", path, *options, other if link else path)
    assert result.exit_code == 2
    assert f"{options[-1]} {other if link else path} would replace an input; name another file" in result.stderr
    assert path.read_bytes() == before


def test_a_file_of_a_folder_that_is_read_is_never_replaced(tmp_path: Path) -> None:
    path = write(tmp_path, *shop())
    result = run("snapshot", tmp_path, "-o", path)
    assert (result.exit_code, f"-o {path} would replace an input" in result.stderr) == (2, True)


# --- for others: without names, or only what one pod needs ---

CROWDED = (
    *(make_node(f"acme-{i}", allocatable={"cpu": "1", "pods": "9"}, labels={"team": "payments"}) for i in range(6)),
    make_pod("web-1", namespace="payments", requests={"cpu": "4"}, node_selector={"team": "payments"}),
    make_pod("other", node="acme-0"),
)


def test_names_are_replaced_and_a_private_table_has_them(tmp_path: Path) -> None:
    table = tmp_path / "names.json"
    result = run("snapshot", write(tmp_path, *CROWDED), "--anonymize", "--table", table)
    assert result.exit_code == 0
    assert "acme" not in result.stdout
    assert "payments" not in result.stdout
    assert {"acme-0", "payments", "web-1", "other"} <= set(json.loads(table.read_text()).values())
    assert table.stat().st_mode & 0o777 == 0o600


def test_a_salt_gives_a_name_the_same_replacement_in_every_snapshot(tmp_path: Path) -> None:
    def name_of_node(*objects: KubeObject) -> str:
        result = run("snapshot", write(tmp_path, *objects), "--anonymize", "--salt", "s3cret")
        return str(json.loads(result.stdout)["items"][0]["metadata"]["name"])

    assert name_of_node(make_node("n1")) == name_of_node(make_node("n1"), make_node("a1"), make_node("z1"))


def test_words_of_the_configuration_stay(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- pluginConfig:\n"
        "  - name: NodeAffinity\n    args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {"
        "nodeSelectorTerms: [{matchExpressions: [{key: team, operator: In, values: [payments]}]}]}}}\n"
    )
    result = run("snapshot", write(tmp_path, *CROWDED), "--anonymize", "--config", config)
    assert json.loads(result.stdout)["items"][0]["metadata"]["labels"]["team"] == "payments"
    assert "acme" not in result.stdout


def test_whole_objects_for_a_plugin_are_not_written_with_other_names(tmp_path: Path) -> None:
    (tmp_path / "raw.py").write_text(RAW_PLUGIN)
    path = write(tmp_path, SECRETIVE, make_node("n1"))
    result = run("snapshot", path, "--plugin", f"{tmp_path}/raw.py:Raw", "--anonymize")
    assert "hunter2" not in result.stdout
    assert "--anonymize leaves out fields that only plugins or extenders read" in result.stderr


def test_the_smallest_part_with_the_same_verdict_is_written(tmp_path: Path) -> None:
    path = tmp_path / "bug.json"
    result = run("snapshot", write(tmp_path, *CROWDED), "--around", "payments/web-1", "-o", path)
    assert "2 of 8 objects are enough for the same verdict on payments/web-1" in result.stderr
    assert "wrote 1 node, 1 pod and 0 other objects" in result.stderr
    assert "Insufficient cpu" in run("explain", path, "--pod", "payments/web-1").stdout


def test_the_smallest_part_is_found_for_a_pod_of_a_workload(tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
    pods = [make_pod(f"db-{i}", requests={"cpu": "99"}, metadata={"ownerReferences": [owner]}) for i in range(2)]
    path = tmp_path / "bug.json"
    result = run("snapshot", write(tmp_path, make_node("n1"), *pods), "--around", "sts/db", "-o", path)
    assert "sts/db has 2 pods; default/db-0 is the first of them" in result.stderr
    assert "2 of 3 objects are enough for the same verdict on default/db-0" in result.stderr


@pytest.mark.parametrize("name", ["prod/nosuch", "nosuch", "deploy/nosuch"])
def test_a_pod_that_is_not_there_is_answered_with_a_command_that_helps(name: str, tmp_path: Path) -> None:
    result = run("snapshot", write(tmp_path, *CROWDED), "--around", name)
    assert result.exit_code == 2
    assert "kubesched explain lists the pending pods" in result.stderr
    assert "--manifest" not in result.stderr


def test_the_new_name_of_the_pod_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "bug.json"
    result = run("snapshot", write(tmp_path, *CROWDED), "--around", "web-1", "--anonymize", "-o", path)
    (pod,) = load_snapshot(path).of(Pod)
    assert f"payments/web-1 has the name {pod.key} in the new snapshot" in result.stderr
    assert "Insufficient cpu" in run("explain", path, "--pod", pod.key).stdout


def test_a_live_cluster_is_shrunk_and_renamed_too(tmp_path: Path) -> None:
    path = tmp_path / "bug.json"
    with api_server(CROWDED) as (url, _):
        kubeconfig = kubeconfig_of(url, tmp_path)
        run("snapshot", "--kubeconfig", kubeconfig, "--around", "payments/web-1", "--anonymize", "-o", path)
    assert len(load_snapshot(path)) == 2
    assert "payments" not in path.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--salt", "s"], "--salt needs --anonymize"),
        (["--table", "t.json"], "--table needs --anonymize"),
        (["--anonymize", "--salt", ""], "found an empty text"),
        (["--anonymize", "--keep-annotations"], "--anonymize and --keep-annotations are mutually exclusive"),
        (["--anonymize", "--table", "no/names.json"], "no/names.json: cannot be written: No such file or directory"),
        (["--anonymize", "--table", "c.json", "-o", "c.json"], "--table and -o name the same file"),
        (["--around", "web-2"], 'no pod has the name "web-2"'),
    ],
)
def test_wrong_options_are_refused(options: list[str], words: str, tmp_path: Path) -> None:
    result = run("snapshot", write(tmp_path, *CROWDED), *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def translated(text: str, table: dict[str, str]) -> str:
    """A text with the words of the original."""
    return re.sub(r"[a-z]+-[0-9]+|[0-9a-z]+", lambda word: table.get(word[0], word[0]), text)


def reasons(message: str) -> list[str]:
    """The reasons of a message, in the order of the original names: a message sorts them by their text."""
    return sorted(re.split(r", |: ", message.rstrip(".")))


@pytest.mark.parametrize(("cluster", "salt"), [("shop", ()), ("bare-metal", ("--salt", "s3cret"))])
def test_every_pod_gets_the_same_verdict_under_its_new_name(
    cluster: str, salt: tuple[str, ...], tmp_path: Path
) -> None:
    original, renamed, names = SHOP, tmp_path / "renamed.json", tmp_path / "names.json"
    if cluster != "shop":
        original = tmp_path / "original.json"
        original.write_bytes(realistic(cluster, 40))
    run("snapshot", original, "--anonymize", *salt, "--table", names, "-o", renamed)
    table = json.loads(names.read_text())

    def verdicts(path: Path, table: dict[str, str]) -> list[dict]:
        lines = run("simulate", path, "-o", "jsonl").stdout.splitlines()
        pods = [json.loads(translated(line, table)) for line in lines]
        # A fix may correct a name that is misspelt, and other names are not nearly the same any more.
        return [
            pod | {"message": reasons(pod.get("message", "")), "fix": "", "diagnosis": "", "patches": []}
            for pod in pods
        ]

    wanted = verdicts(original, {})
    assert len(wanted) > 30
    assert verdicts(renamed, table) == wanted


def of_devices(tmp_path: Path) -> Path:
    source = tmp_path / "devices.json"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": DRA_OBJECTS}))
    return source


@pytest.mark.parametrize("options", [(), ("--keep-annotations",), ("--around", "acme/train-0"), ("--anonymize",)])
def test_parameters_of_drivers_are_never_written(options: tuple[str, ...], tmp_path: Path) -> None:
    done = run("snapshot", of_devices(tmp_path), *options)
    assert done.exit_code == 0, done.stderr
    assert "ResourceClaimTemplate" in done.stdout
    assert "parameters" not in done.stdout
    assert (SECRET in done.stdout) == (options == ("--keep-annotations",)), "an annotation has it, too"


def test_a_note_lists_the_words_of_devices_that_stay(tmp_path: Path) -> None:
    done = run("snapshot", of_devices(tmp_path), "--anonymize")
    assert (
        "note: --anonymize keeps drivers of devices, and what CEL expressions and constraints of claims compare: "
        "40Gi, AX100-80GB, gpu.acme.com, memory, model, numa, x" in " ".join(done.stderr.split())
    )
