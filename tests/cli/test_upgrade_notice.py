"""`compare` with two versions of Kubernetes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubesched.snapshot import ClusterObjects, write_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.architecture.sources import ROOT
from tests.cli.clusters import run, write

CLUSTER = str(ROOT / "examples/clusters/upgrade.yaml")
UPGRADES = [("1.33", "1.34"), ("1.36", "1.37"), ("1.33", "1.37")]
SHAPE = {
    "name": "VolumeBinding",
    "args": {"shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]},
}


def compare(*words: object, versions: tuple[str, ...], output: str = "json"):
    named = (word for version in versions for word in ("--kubernetes-version", version))
    return run("compare", *words, *named, "--seeds", 5, "-o", output)


@pytest.fixture(scope="module")
def notices() -> dict[tuple[str, str], dict]:
    return {versions: json.loads(compare(CLUSTER, versions=versions).stdout) for versions in UPGRADES}


@pytest.fixture(scope="module")
def simulated() -> dict[str, dict]:
    """What each version alone makes of the pods."""
    found = {}
    for version in ("1.33", "1.34", "1.36", "1.37"):
        result = run("simulate", CLUSTER, "--kubernetes-version", version, "-o", "json", "--quiet")
        found[version] = {one["pod"]: one for one in json.loads(result.stdout)["pods"]}
    return found


def test_versions_that_flip_pods_name_them(notices):
    flips = {
        versions: {one["pod"]: (one["nA"], one["nB"]) for one in notice["pending"]}
        for versions, notice in notices.items()
    }
    assert flips["1.33", "1.34"] == {"batch/report-0": (0, 5), "batch/indexer-0": (0, 5)}
    assert flips["1.36", "1.37"] == {"batch/indexer-0": (5, 0), "batch/loader-0": (0, 5)}
    assert flips["1.33", "1.37"] == {"batch/report-0": (0, 5), "batch/loader-0": (0, 5)}


@pytest.mark.parametrize("versions", UPGRADES)
def test_every_pod_that_the_notice_names_does_what_it_says(versions, notices, simulated):
    notice, (a, b) = notices[versions], (simulated[version] for version in versions)
    for one in notice["pending"]:
        assert [not some[one["pod"]].get("node") for some in (a, b)] == [one["nA"] == 5, one["nB"] == 5]
    for one in notice["upgrade"]["messages"]:
        assert {(a[pod]["message"], b[pod]["message"]) for pod in one["pods"]} == {(one["a"], one["b"])}
        assert all(text in one["a"] and text not in one["b"] for text in one["onlyA"])
        assert all(text in one["b"] and text not in one["a"] for text in one["onlyB"])


@pytest.mark.parametrize("versions", UPGRADES[:2])
def test_every_verdict_of_the_notice_is_that_of_explain(versions, notices):
    changes = notices[versions]["upgrade"]["verdicts"]
    assert changes
    for change in changes:
        for version, side in zip(versions, "ab", strict=True):
            for pod in change["pods"]:
                words = ("--kubernetes-version", version, "-o", "json", "--quiet")
                verdicts = json.loads(run("explain", CLUSTER, pod, *words).stdout)["filter"]
                expected = change[side] if change[side]["plugin"] else None
                for node in change["nodes"]:
                    shown = verdicts.get(node)
                    assert (shown and {"plugin": shown["plugin"], "code": shown["code"]}) == expected


def test_two_versions_in_one_process_decide_as_each_alone(notices, simulated):
    for (a, b), notice in notices.items():
        nodes = {pod: (simulated[a][pod].get("node"), simulated[b][pod].get("node")) for pod in simulated[a]}
        moved = {pod: both for pod, both in nodes.items() if all(both) and both[0] != both[1]}
        assert {move["pod"]: (move["a"], move["b"]) for move in notice["moves"]} == moved


def test_a_field_that_a_version_does_not_read_is_counted_with_its_proposal(notices):
    differences = notices["1.33", "1.37"]["upgrade"]["differences"]
    assert differences[0] == {
        "kind": "field",
        "subject": "Pod spec.resources",
        "a": "does not read it",
        "b": "reads it",
        "source": "KEP-2837",
        "objectKind": "Pod",
        "nObjects": 1,
    }


def test_what_concerns_the_cluster_comes_first_and_the_rest_is_counted(notices):
    numbers = [one["nObjects"] for one in notices["1.33", "1.37"]["upgrade"]["differences"]]
    n_concerning = sum(map(bool, numbers))
    assert all(numbers[:n_concerning])
    words = " ".join(compare(CLUSTER, versions=("1.33", "1.37"), output="table").stdout.split())
    assert "spec.resources 1 pod does not read it reads it" in words
    assert f"{len(numbers) - n_concerning} others concern no object here: DynamicResources (11), " in words
    assert "distinctAttribute" not in words


def rows_of(notice: dict, kind: str) -> Iterator[tuple[str, str, str, str]]:
    for one in notice["upgrade"]["differences"]:
        if one["kind"] == kind:
            yield one["subject"], one["a"], one["b"], one["source"]


def test_default_plugins_that_differ_are_listed(notices):
    assert list(rows_of(notices["1.33", "1.37"], "plugin")) == [
        ("DynamicResources", "not a default plugin", "default plugin, weight 2", "KEP-4381"),
        ("NodeDeclaredFeatures", "not a default plugin", "default plugin", "KEP-5328"),
        ("NodeName", "after NodeUnschedulable", "before NodeUnschedulable", ""),
    ]


def test_a_rule_that_came_and_went_is_listed_between_the_versions_that_differ(notices):
    subjects = {versions: [row[0] for row in rows_of(notice, "rule")] for versions, notice in notices.items()}
    assert "InterPodAffinity" in subjects["1.33", "1.34"]
    assert "InterPodAffinity" in subjects["1.36", "1.37"]
    assert "InterPodAffinity" not in subjects["1.33", "1.37"]


def test_the_report_names_pods_and_texts_and_no_node_of_a_pod():
    result = compare(CLUSTER, versions=("1.36", "1.37"), output="table")
    words = " ".join(result.stdout.split())
    first = "v1.37 instead of v1.36: 1 pod becomes pending: batch/loader-0; 1 pending pod gets a node: batch/indexer-0."
    assert words.startswith(first)
    assert "Pending with v1.37, not with v1.36" in words
    assert "1 Job batch/loader 2 fits NodeVolumeLimits: Unschedulable" in words
    assert "2 v1.36 no new claims to deallocate" in words
    assert "general-1 general-2" not in words
    assert "spec.resources" not in result.stderr


def test_the_first_sentence_is_about_the_versions_of_one_configuration(tmp_path: Path):
    (config := tmp_path / "plain.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    )
    result = compare(CLUSTER, "--config", config, versions=("1.36", "1.37"), output="table")
    assert result.stdout.startswith("v1.37 instead of v1.36: 1 pod becomes pending")
    assert f"A: {config} on v1.36. B: {config} on v1.37." in " ".join(result.stdout.split())


def test_the_text_of_a_preemption_is_without_its_node(tmp_path: Path):
    low, high = make_pod("low", node="n1", requests={"cpu": "3"}), make_pod("high", requests={"cpu": "3"}, priority=9)
    cluster = write(tmp_path, make_node("n1", allocatable={"cpu": "4"}), low, high)
    text = " ".join(compare(cluster, versions=("1.36", "1.37"), output="table").stdout.split())
    assert "Both place the 1 pod that waits, 5 times each" in text
    notice = json.loads(compare(cluster, versions=("1.36", "1.37")).stdout)["upgrade"]
    (message,) = notice["messages"]
    assert message["onlyB"] == ["preemption: found a potential placement for pod on node"]
    assert message["onlyA"] == []


def test_a_claim_that_a_version_does_not_read_holds_the_pod_back_in_the_other(tmp_path: Path):
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "none"}]}
    cluster = write(tmp_path, make_node("n1"), make_pod("train", spec=claims))
    notice = json.loads(compare(cluster, versions=("1.33", "1.37")).stdout)
    assert [(one["pod"], one["nA"], one["nB"]) for one in notice["pending"]] == [("default/train", 0, 5)]
    assert notice["pending"][0]["cause"].startswith("gated by plugin DynamicResources: ")
    (change,) = notice["upgrade"]["verdicts"]
    assert change["b"] == {"plugin": "DynamicResources", "code": "UnschedulableAndUnresolvable"}
    assert ("Pod spec.resourceClaims", "does not read it", "reads it", "KEP-4381") in rows_of(notice, "field")


def test_an_error_that_a_version_reports_is_a_verdict_and_not_a_failing_plugin(tmp_path: Path):
    storage = make_object("StorageClass", "s", provisioner="d", volumeBindingMode="WaitForFirstConsumer")
    request = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    spec = {**request, "storageClassName": "s", "volumeAttributesClassName": "gold"}
    claim = make_object("PersistentVolumeClaim", "c", namespace="default", spec=spec)
    pod = make_pod("web", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]})
    cluster = write(tmp_path, make_node("n1"), storage, claim, pod)
    result = compare(cluster, versions=("1.33", "1.37"))
    notice = json.loads(result.stdout)
    assert (result.exit_code, notice["faults"]) == (0, {"a": "", "b": ""})
    assert "unsupported volumeAttributesClassName" in notice["pending"][0]["cause"]
    assert [change["a"] for change in notice["upgrade"]["verdicts"]] == [{"plugin": "VolumeBinding", "code": "Error"}]


def test_each_line_of_jsonl_has_its_type():
    lines = [
        json.loads(line) for line in compare(CLUSTER, versions=("1.36", "1.37"), output="jsonl").stdout.splitlines()
    ]
    assert {line["type"] for line in lines} == {"figure", "pending", "verdict", "message", "difference"}


@pytest.mark.parametrize("output", ["markdown", "html", "csv"])
def test_every_format_has_the_notice(output: str):
    result = compare(CLUSTER, versions=("1.36", "1.37"), output=output)
    assert result.exit_code == 0
    assert output == "csv" or "no new claims to deallocate" in result.stdout


def test_conditions_are_checked_for_the_second_version():
    result = compare(CLUSTER, "--fail-on", "pending>1", versions=("1.33", "1.34"), output="table")
    assert (result.exit_code, "Failed: pending>1; pods pending: 3" in result.stdout) == (1, True)


# --- configurations that a version rejects ---


@pytest.fixture
def shaped(tmp_path: Path) -> Path:
    path = tmp_path / "shaped.json"
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    path.write_text(json.dumps({**head, "profiles": [{"pluginConfig": [SHAPE]}]}))
    return path


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--config", "shaped.json"), "unexpected field `shape`"),
        (("--config", "named.json"), 'FilterPlugin "NodeDeclaredFeatures" does not exist'),
        (("--feature-gates", "NodeDeclaredFeatures=true"), "unrecognized feature gate: NodeDeclaredFeatures"),
    ],
)
def test_a_configuration_that_one_version_rejects_is_in_the_notice(
    words: tuple[str, ...], text: str, shaped: Path, monkeypatch: pytest.MonkeyPatch
):
    named = {"filter": {"enabled": [{"name": "NodeDeclaredFeatures"}]}}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    (shaped.parent / "named.json").write_text(json.dumps({**head, "profiles": [{"plugins": named}]}))
    monkeypatch.chdir(shaped.parent)
    result = compare(CLUSTER, *words, versions=("1.37", "1.33"))
    notice = json.loads(result.stdout)
    assert text in notice["upgrade"]["rejected"]["b"]
    assert notice["upgrade"]["rejected"]["a"] == ""
    assert (result.exit_code, notice["runs"], notice["figures"]) == (0, 0, [])
    assert notice["upgrade"]["differences"]


def test_the_report_begins_with_the_rejection_and_a_check_fails(shaped: Path):
    words = (CLUSTER, "--config", shaped, "--fail-on", "pending>0")
    result = compare(*words, versions=("1.33", "1.37"), output="table")
    assert result.stdout.startswith("kube-scheduler v1.33 does not start with this configuration: ")
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("output", "stdout"),
    [
        ("jsonl", '"side": "a", "type": "rejected"'),
        ("junit", '<testsuites name="compare" tests="1" failures="1"'),
        ("csv", ""),
    ],
)
def test_formats_without_sentences_have_the_rejection(shaped: Path, output: str, stdout: str):
    for words in (("--config", shaped), ("--feature-gates", "NodeDeclaredFeatures=true")):
        result = compare(CLUSTER, *words, versions=("1.33", "1.37"), output=output)
        assert (result.exit_code, stdout in result.stdout) == (0, True)
        assert "note: kube-scheduler v1.33 does not start with this configuration: " in result.stderr


def test_a_gate_without_rules_that_the_other_version_lacks_is_in_the_notice():
    gates = ("--feature-gates", "GenericWorkload=true,GangScheduling=true")
    notice = json.loads(compare(CLUSTER, *gates, versions=("1.36", "1.37")).stdout)["upgrade"]
    assert "unrecognized feature gate: GangScheduling" in notice["rejected"]["b"]
    assert notice["rejected"]["a"] == ""


def test_a_gate_without_rules_that_both_versions_take_is_an_error():
    gates = ("--feature-gates", "ClearingNominatedNodeNameAfterBinding=true")
    result = compare(CLUSTER, *gates, versions=("1.34", "1.35"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "kubesched has no rules for ClearingNominatedNodeNameAfterBinding=true" in result.stderr
    assert "does not start" not in result.stderr


def test_a_configuration_that_both_versions_reject_is_an_error():
    result = compare(CLUSTER, "--feature-gates", "Bogus=true", versions=("1.33", "1.37"))
    assert result.exit_code == 2
    assert "unrecognized feature gate: Bogus" in result.stderr


# --- versions ---


def test_a_text_that_is_not_a_version_is_refused_in_one_sentence():
    result = compare(CLUSTER, versions=("1.33", " "))
    expected = "--kubernetes-version: found ' '; expected a version of Kubernetes, v1.33 to v1.37, such as 1.36"
    assert (result.exit_code, result.stdout) == (2, "")
    assert expected in result.stderr


def test_a_version_without_rules_is_decided_as_the_nearest_with_a_note():
    result = compare(CLUSTER, versions=("v1.36.3-eks-1a2b3c", "1.40"))
    notice = json.loads(result.stdout)
    assert (notice["a"], notice["b"]) == ("v1.36", "v1.37")
    assert "note: kubesched has the rules of v1.33 to v1.37; v1.40 is decided as v1.37" in result.stderr


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        (("1.33", "1.34", "1.35"), "--kubernetes-version is given 3 times; compare two versions at a time"),
        (("1.36", "v1.36.3"), "1.36 and v1.36.3 are both v1.36; there is nothing to compare"),
        (("1.37", "1.40"), "1.37 and 1.40 are both v1.37; there is nothing to compare"),
        (("1.36",), "the version of the cluster is not known; 1.36 is the default; give two versions; there is"),
    ],
)
def test_versions_that_cannot_be_compared_are_one_sentence(versions: tuple[str, ...], text: str):
    result = compare(CLUSTER, versions=versions)
    assert result.exit_code == 2
    assert text in result.stderr


@pytest.mark.parametrize(
    ("server", "text"),
    [("v1.99.0", "the cluster is v1.99.0, decided as v1.37, and 1.37 is, too"), ("v1.37.2", "and so is the cluster")],
)
def test_a_cluster_that_is_decided_as_another_version_is_named(tmp_path: Path, server: str, text: str):
    with (path := tmp_path / "cluster.json").open("wb") as stream:
        write_snapshot(ClusterObjects((make_node("n1"),), server_version=server), stream)
    result = compare(path, versions=("1.37",))
    assert (result.exit_code, text in result.stderr) == (2, True)


def test_empty_feature_gates_change_nothing(notices):
    result = compare(CLUSTER, "--feature-gates", "", versions=("1.36", "1.37"))
    assert json.loads(result.stdout)["upgrade"] == notices["1.36", "1.37"]["upgrade"]


def test_the_newest_of_two_snapshots_is_the_version_of_the_cluster(tmp_path: Path):
    files = []
    for version in ("v1.33.13", "v1.35.4"):
        files.append(tmp_path / f"{version}.json")
        with files[-1].open("wb") as stream:
            write_snapshot(ClusterObjects((make_node(version),), server_version=version), stream)
    result = compare(*files, versions=("1.37",))
    assert json.loads(result.stdout)["a"] == "v1.35"
    assert "note: the files are of clusters with v1.33 and v1.35; the newest one decides" in result.stderr
