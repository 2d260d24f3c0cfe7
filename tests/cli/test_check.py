"""`kubesched check` as a user runs it."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kubesched.config import CLUSTER_RULES
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.cli.live_server import api_server, kubeconfig_of
from tests.planning.drain_clusters import owned_by

ROOM = {"cpu": "2", "memory": "4Gi", "pods": "10"}
RELABELLED = "re-created, it would stay pending: all nodes: "


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A pod whose node lost the label that it selects, two pods on one node, a pod of nobody in another namespace."""
    ssd = {"nodeSelector": {"disk": "ssd"}}
    return write(
        tmp_path,
        make_node("n1", allocatable=ROOM),
        make_node("n2", allocatable=ROOM),
        make_object("Namespace", "dev"),
        make_pod("db-0", node="n1", metadata=owned_by("StatefulSet", "db"), spec=ssd),
        make_pod("web-1", node="n2", labels={"app": "web"}, metadata=owned_by("ReplicaSet", "web")),
        make_pod("web-2", node="n2", labels={"app": "web"}, metadata=owned_by("ReplicaSet", "web")),
        make_pod("shell", namespace="dev", node="n2"),
    )


def rules(snapshot: Path, *options: str) -> list[str]:
    return [json.loads(line)["rule"] for line in run("check", snapshot, "-o", "jsonl", *options).stdout.splitlines()]


def test_the_most_harmful_comes_first_with_what_helps(snapshot: Path) -> None:
    result = run("check", snapshot)
    assert result.exit_code == 1
    assert result.stdout.startswith("4 running pods of 3 workloads: 1 error, 2 warnings, 1 note.")
    assert result.stdout.index("cannot-come-back") < result.stdout.index("not-created-again")
    assert result.stdout.rstrip().endswith(f"Next: kubesched explain {snapshot} -n default statefulset/db")
    assert rules(snapshot) == ["cannot-come-back", "one-node", "not-created-again", "single-replica"]


def test_the_exit_code_is_that_of_errors_and_with_strict_of_warnings(snapshot: Path) -> None:
    assert run("check", snapshot, "-l", "app=web").exit_code == 0
    assert run("check", snapshot, "-l", "app=web", "--strict").exit_code == 1
    assert run("check", snapshot, "-l", "app=none").exit_code == 2
    assert run("check", snapshot, "-n", "default", "-A").exit_code == 2


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["-n", "dev"], ["not-created-again"]),
        (["-l", "app"], ["one-node"]),
        (["-n", "dev", "-l", "!app"], ["not-created-again"]),
    ],
)
def test_only_some_pods_are_looked_at(snapshot: Path, options: list[str], found: list[str]) -> None:
    assert rules(snapshot, *options) == found


def test_the_document_has_every_fact(snapshot: Path) -> None:
    document = json.loads(run("check", snapshot, "-o", "json").stdout)
    assert document["schema"] == "kubesched/check/v1"
    assert document["counts"] == {"error": 1, "note": 1, "warning": 2}
    first = document["findings"][0]
    assert first["objects"] == ["StatefulSet default/db"]
    assert (first["pods"], first["tried"]) == (1, True)
    assert first["message"].startswith(RELABELLED)
    assert "disk" in first["help"]


def test_each_format_has_the_findings(snapshot: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("check", snapshot, "-o", "csv").stdout)))
    assert [row["rule"] for row in rows] == rules(snapshot)
    assert rows[0]["message"].startswith(RELABELLED)
    for output in ("wide", "markdown", "html"):
        assert "cannot-come-back" in run("check", snapshot, "-o", output).stdout
    suite = ElementTree.fromstring(run("check", snapshot, "-o", "junit").stdout)
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert failed == ["cannot-come-back"]


def test_an_annotation_of_a_deployment_silences_and_its_strategy_counts(tmp_path: Path) -> None:
    """Other commands do not read Deployments."""
    room = {"cpu": "1", "memory": "4Gi", "pods": "10"}
    hashed = {"pod-template-hash": "1"}

    def cluster(strategy: dict[str, object], **annotations: str) -> Path:
        spec = {"replicas": 1, "strategy": strategy}
        return write(
            tmp_path,
            make_node("n1", allocatable=room),
            make_object("Deployment", "web", namespace="default", annotations=annotations, spec=spec),
            make_pod(
                "web-1-a", node="n1", requests={"cpu": "1"}, labels=hashed, metadata=owned_by("ReplicaSet", "web-1")
            ),
        )

    assert rules(cluster({"rollingUpdate": {"maxUnavailable": 0}})) == ["rollout-hangs", "single-replica"]
    quiet = cluster({"type": "Recreate"}, **{"kubesched/ignore": "single-replica"})
    assert rules(quiet) == []
    assert "no findings; 1 silenced" in run("check", quiet).stdout


@pytest.mark.parametrize("refused", [(), ("Deployment",)])
def test_a_live_cluster_has_the_strategies_if_this_user_may_list_them(tmp_path: Path, refused: tuple[str, ...]) -> None:
    hashed = {"labels": {"pod-template-hash": "1"}, "metadata": owned_by("ReplicaSet", "web-1")}
    spec = {"replicas": 1, "strategy": {"type": "Recreate"}}
    objects = [
        make_node("n1", allocatable={"cpu": "1", "memory": "4Gi", "pods": "10"}),
        make_object("Deployment", "web", namespace="default", spec=spec),
        make_pod("web-1-a", node="n1", requests={"cpu": "1"}, **hashed),
    ]
    with api_server(objects, refused) as (url, _):
        result = run("check", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", "jsonl")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["rule"] for one in found] == [*(["rollout-hangs"] if refused else []), "single-replica"]
    assert bool(refused) == ("with the default strategy" in found[0]["message"])


def test_formats_for_programs_have_every_object_and_what_is_beside(tmp_path: Path) -> None:
    """The table names the first of many; -o wide has all of them, too."""
    single = [make_pod(f"app{i}-1", node="n1", metadata=owned_by("ReplicaSet", f"app{i}")) for i in range(6)]
    snapshot = write(tmp_path, make_node("n1", allocatable=ROOM), *single, make_pod("waits", requests={"cpu": "9"}))
    names = [f"ReplicaSet default/app{i}" for i in range(6)]
    assert "and 3 more" in run("check", snapshot, "-o", "markdown").stdout
    for output in ("csv", "wide"):
        result = run("check", snapshot, "-o", output)
        assert ", ".join(names) in " ".join(result.stdout.split())
    for output in ("csv", "jsonl", "junit"):
        result = run("check", snapshot, "-o", output)
        assert "note: 1 pod waits for a node already; run kubesched explain" in result.stderr
    assert json.loads(run("check", snapshot, "-o", "json").stdout)["unexplained"] == 0


def test_a_rule_of_annotations_has_the_page_and_the_words_of_the_cluster() -> None:
    for name in ("unknown-rule", "unused-silence"):
        rule = CLUSTER_RULES[name]
        assert rule.summary.startswith("an annotation ")
        assert rule.help_uri.endswith(f"cluster-rules.md#{name}")


def test_a_snapshot_without_the_strategies_of_its_deployments_is_noted(tmp_path):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "o", "controller": True}
    labels = {"pod-template-hash": "1"}
    pod = make_pod("web-1-a", node="n0", labels=labels, metadata={"ownerReferences": [owner]})
    deployment = make_object("Deployment", "web", spec={"replicas": 1})
    said = [run("check", write(tmp_path, make_node("n0"), pod, *more)).stderr for more in ((), (deployment,))]
    assert ["the strategies of 1 Deployment are not in the snapshot" in one for one in said] == [True, False]


def test_a_saved_snapshot_is_checked_as_the_cluster_is(tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "o", "controller": True}
    labels = {"pod-template-hash": "1"}
    more = {"labels": labels, "requests": {"cpu": "2"}, "metadata": {"ownerReferences": [owner]}}
    strategy = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
    cluster = write(
        tmp_path,
        make_node("n1", allocatable=ROOM),
        make_pod("web-1-a", node="n1", **more),
        make_object("Deployment", "web", namespace="default", spec=strategy),
    )
    saved = tmp_path / "saved.json"
    assert run("snapshot", cluster, "-o", saved).exit_code == 0
    assert rules(saved) == rules(cluster) == ["rollout-hangs", "single-replica"]
    assert run("check", saved).stdout == run("check", cluster).stdout.replace(str(cluster), str(saved))


def test_manifests_are_added_before_the_check(snapshot: Path, tmp_path: Path):
    """The pods of a new workload run where they fit; a new budget has the status that its controller gives it."""
    template = {"metadata": {"labels": {"app": "new"}}, "spec": {"containers": [{"name": "app", "image": "x"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "new"}}, "template": template}
    new = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "new", "namespace": "dev"}, "spec": spec}
    file = tmp_path / "new.json"
    file.write_text(json.dumps(new))
    lines = [json.loads(line) for line in run("check", snapshot, "-f", file, "-o", "jsonl").stdout.splitlines()]
    assert "Deployment dev/new" in [name for line in lines for name in line["objects"]]
    for most, blocks in ((0, True), (1, False)):
        spec = {"maxUnavailable": most, "selector": {"matchLabels": {"app": "web"}}}
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}
        file.write_text(json.dumps(budget))
        assert ("budget-allows-nothing" in rules(snapshot, "-f", str(file))) is blocks
    assert f"--manifest {file}" in run("check", snapshot, "-f", file).stdout.splitlines()[-1]
