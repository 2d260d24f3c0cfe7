"""--kubernetes-version and --feature-gates: whose rules decide."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched.explanation import explain
from kubesched.planning import check, drain, fit, simulate
from kubesched.session import Simulator
from kubesched.snapshot import ClusterObjects, load_snapshot, write_snapshot
from kubesched.testing import make_node, make_pod

POD = make_pod("p", spec={"resources": {"requests": {"cpu": "3"}}})  # more than the node has, since v1.34


ROOM = {"cpu": "2", "memory": "4Gi", "pods": "10"}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("version") / "cluster.json"
    node = make_node("n1", allocatable=ROOM)
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [node.document, POD.document]}))
    return str(path)


def run(*words: str):
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize(
    ("words", "is_placed"),
    [
        ((), False),
        (("--kubernetes-version", "v1.34.2"), False),
        (("--kubernetes-version", "1.33"), True),
        (("--feature-gates", "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false"), True),
    ],
)
def test_the_rules_of_the_version_decide(snapshot: str, words: tuple[str, ...], is_placed: bool) -> None:
    result = run("simulate", snapshot, "-o", "json", *words)
    (placed,) = json.loads(result.stdout)["pods"]
    assert (placed.get("node") == "n1") is is_placed


def test_a_note_names_what_the_version_does_not_read(snapshot: str) -> None:
    result = run("simulate", snapshot, "--kubernetes-version", "1.33")
    assert "note: v1.33 does not read spec.resources of 1 pod (feature gate PodLevelResources)" in result.stderr


@pytest.mark.parametrize(
    ("words", "n"),
    [
        (("explain", "-f"), "3 pods"),
        (("simulate", "-f"), "3 pods"),
        (("fit", "-f"), "3 pods"),
        (("fit", "--shapes", "-f"), "3 pods"),
        (("fit", "--shapes"), "1 pod"),
    ],
    ids=" ".join,
)
def test_the_note_counts_the_pods_of_manifests(snapshot: str, tmp_path: Path, words: tuple[str, ...], n: str) -> None:
    manifest = tmp_path / "new.json"
    pods = [{**make_pod(name, spec=POD.document["spec"]).document, "kind": "Pod", "apiVersion": "v1"} for name in "xy"]
    manifest.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": pods}))
    command, *rest = words
    files = (str(manifest),) if "-f" in words else ()
    stderr = run(command, snapshot, "--kubernetes-version", "1.33", *rest, *files).stderr
    assert stderr.count("v1.33 does not read") == 1
    assert f"v1.33 does not read spec.resources of {n} (feature gate PodLevelResources)" in stderr


def test_a_note_says_for_which_version_devices_are_not_exact(tmp_path) -> None:
    device_slice = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {"driver": "gpu.example.com", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n1"},
    }
    path = tmp_path / "cluster.json"
    items = [make_node("n1", allocatable=ROOM).document, device_slice, POD.document]
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    words = "v1.35 takes a random one of the devices that do, so claims may get others than here"
    versions = ("--kubernetes-version", "1.35", "--kubernetes-version", "1.36")
    assert words in run("compare", str(path), *versions).stderr
    for version, is_said in (("1.33", False), ("1.34", True), ("1.35", True), ("1.36", False), ("1.37", False)):
        stderr = run("simulate", str(path), "--kubernetes-version", version).stderr
        assert ("takes a random one of the devices" in stderr) is is_said


def test_the_next_command_has_the_same_version(snapshot: str) -> None:
    result = run("simulate", snapshot, "--kubernetes-version", "1.34")
    assert "--kubernetes-version 1.34" in result.stdout


def test_an_unknown_version_is_decided_as_the_nearest_one(snapshot: str) -> None:
    result = run("simulate", snapshot, "--kubernetes-version", "1.20")
    assert result.exit_code == 0
    assert "note: kubesched has the rules of v1.33 to v1.37; v1.20 is decided as v1.33" in result.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--kubernetes-version", "36"), "--kubernetes-version: found '36'; expected a version of Kubernetes"),
        (("--feature-gates", "GangScheduling=true"), "kubesched has no rules for GangScheduling=true"),
        (("--kubernetes-version", "1.34", "--feature-gates", "NodeDeclaredFeatures=true"), "it exists since v1.35"),
    ],
)
def test_what_is_not_valid_is_one_sentence(snapshot: str, words: tuple[str, ...], text: str) -> None:
    result = run("explain", snapshot, *words)
    assert result.exit_code == 2
    assert text in result.stderr


def test_compare_takes_two_versions(snapshot: str) -> None:
    words = ("--kubernetes-version", "1.33", "--kubernetes-version", "1.34", "--seeds", "5")
    result = run("compare", snapshot, *words, "-o", "json")
    document = json.loads(result.stdout)
    assert (document["a"], document["b"]) == ("v1.33", "v1.34")
    pending = next(one for one in document["figures"] if one["name"] == "pending")
    assert (pending["a"], pending["b"]) == (0, 1)


def test_the_settings_of_a_version_are_its_defaults(snapshot: str) -> None:
    words = ("--kubernetes-version", "1.33", "--kubernetes-version", "1.37", "--seeds", "5")
    assert "pluginConfig" not in run("compare", snapshot, *words, "-o", "wide").stdout


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same cluster, whose kubelets are v1.33."""
    path = tmp_path_factory.mktemp("older") / "cluster.json"
    node = make_node("n1", allocatable=ROOM, status={"nodeInfo": {"kubeletVersion": "v1.33.13"}})
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [node.document, POD.document]}))
    return str(path)


def test_packing_is_compared_with_the_plugins_of_the_version(older: str) -> None:
    result = run("compare", older, "--pack", "--seeds", "5")
    assert (result.exit_code, "MostAllocated" in result.stdout) == (0, True)


def test_a_configuration_is_read_as_the_version_that_is_named_reads_it(older: str, tmp_path) -> None:
    args = [{"name": "VolumeBinding", "args": {"shape": [{"utilization": 0, "score": 10}]}}]
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config = tmp_path / "shape.json"
    config.write_text(json.dumps({**head, "profiles": [{"pluginConfig": args}]}))
    words = ("--config", str(config), "--kubernetes-version", "1.37")
    assert run("simulate", older, *words).exit_code == 0
    compared = run("compare", older, *words, "--seeds", "5", "-o", "json")  # v1.33 does not know the argument
    assert "unexpected field `shape`" in json.loads(compared.stdout)["upgrade"]["rejected"]["a"]
    assert "unexpected field `shape`" in run("simulate", older, "--config", str(config)).stderr


def test_python_decides_as_the_version_of_the_cluster(older: str) -> None:
    cluster = load_snapshot(older)
    assert Simulator(cluster).run().placements[0].node == "n1"
    new = make_pod("new", spec=POD.document["spec"])
    assert fit(cluster, [new], alone=True).n_fit == 1


def test_one_thing_is_compared_at_a_time(snapshot: str) -> None:
    result = run("compare", snapshot, "--kubernetes-version", "1.33", "--pack")
    assert "--kubernetes-version and --pack are mutually exclusive" in result.stderr


SENTENCE = "Decided as kube-scheduler v1.33, the highest kubelet version of the nodes."


@pytest.mark.parametrize(
    "words",
    [
        ("simulate",),
        ("explain",),
        ("explain", "default/p"),
        ("fit", "--resource", "cpu=1"),
        ("drain", "n1"),
        ("drain", "--each"),
        ("drain", "--most"),
        ("check",),
        ("compare", "--seeds", "5", "--pack"),
    ],
    ids=" ".join,
)
def test_every_report_says_which_version_decided(older: str, words: tuple[str, ...]) -> None:
    command, *rest = words
    text = run(command, older, *rest)
    assert SENTENCE in text.stdout
    assert "note: decided" not in text.stderr
    document = json.loads(run(command, older, *rest, "-o", "json").stdout)
    expected = {"a": "v1.33", "b": "v1.33"} if command == "compare" else "v1.33"
    assert document["kubernetesVersion"] == expected
    lines = run(command, older, *rest, "-o", "jsonl").stdout.splitlines()
    assert all(json.loads(line)["kubernetesVersion"] == expected for line in lines)
    assert document["clusterVersion"] == {"source": "kubelets", "version": "v1.33.13"}
    assert all(json.loads(line)["clusterVersion"] == document["clusterVersion"] for line in lines)


@pytest.mark.parametrize(
    ("server", "kubelet", "expected"),
    [
        ("v1.35.4-eks-1a2b3c", "v1.34.2", {"source": "server", "version": "v1.35.4-eks-1a2b3c"}),
        ("main", "v1.34.2", {"source": "kubelets", "version": "v1.34.2"}),
        ("main", "", {"source": "server", "version": "main"}),
        ("", "", {"source": "default"}),
    ],
)
def test_documents_have_the_version_of_the_cluster_and_its_source(
    tmp_path: Path, server: str, kubelet: str, expected: dict[str, str]
) -> None:
    """Whichever version decides."""
    node = make_node("n1", allocatable=ROOM, status={"nodeInfo": {"kubeletVersion": kubelet}})
    path = tmp_path / "cluster.json"
    write_snapshot(ClusterObjects((node, make_pod("p")), server_version=server), path)
    for words in ((), ("--kubernetes-version", "1.37")):
        assert json.loads(run("simulate", str(path), *words, "-o", "json").stdout)["clusterVersion"] == expected


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("markdown", SENTENCE),
        ("html", SENTENCE),
        ("patch", f"# {SENTENCE}"),
        ("junit", '<property name="kubernetesVersion" value="v1.33"/>'),
    ],
)
def test_the_version_is_in_every_format(older: str, output: str, text: str) -> None:
    assert text in run("simulate", older, "-o", output).stdout


@pytest.mark.parametrize("output", ["csv", "summary"])
def test_formats_without_room_for_it_have_a_note(older: str, output: str) -> None:
    assert f"note: {SENTENCE[0].lower()}{SENTENCE[1:-1]}" in run("simulate", older, "-o", output).stderr


def test_each_line_of_single_attempts_has_the_version(older: str) -> None:
    (line,) = run("simulate", older, "--no-preemption-effects", "-o", "jsonl").stdout.splitlines()
    assert json.loads(line)["kubernetesVersion"] == "v1.33"


def test_gates_and_both_sides_are_in_the_report(older: str) -> None:
    gates = ("--feature-gates", "PodLevelResources=true")
    document = json.loads(run("simulate", older, *gates, "-o", "json").stdout)
    assert (document["kubernetesVersion"], document["featureGates"]) == ("v1.33", {"PodLevelResources": True})
    words = ("--kubernetes-version", "1.37", "--seeds", "5")
    text = " ".join(run("compare", older, *words).stdout.split())
    assert "A is decided as kube-scheduler v1.33, the highest kubelet version of the nodes." in text
    assert "B is decided as kube-scheduler v1.37; the highest kubelet version of the nodes is v1.33.13." in text
    sides = json.loads(run("compare", older, *words, "-o", "json").stdout)["kubernetesVersion"]
    assert sides == {"a": "v1.33", "b": "v1.37"}


def test_answers_in_python_carry_the_version_of_the_api_server(older: str) -> None:
    cluster = msgspec.structs.replace(load_snapshot(older), server_version="v1.34.2")
    words = "decided as kube-scheduler v1.34, the version of the API server"
    assert simulate(cluster).version.words == words
    assert explain(cluster, "default/p").version.words == words
    assert fit(cluster, {"cpu": "1"}, alone=True).version.words == words
    assert check(cluster).version.words == words
    assert drain(cluster, ["n1"]).version.words == words


def test_with_the_gate_tolerations_compare_numbers(tmp_path: Path) -> None:
    gate = ("--kubernetes-version", "1.36", "--feature-gates", "TaintTolerationComparisonOperators=true")
    path, manifest = tmp_path / "cluster.json", tmp_path / "pod.json"
    tainted = make_node("n1", allocatable=ROOM, taints=["sla=950:NoSchedule"])
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [tainted.document]}))
    spec = {"tolerations": [{"key": "sla", "operator": "Lt", "value": "960"}]}
    manifest.write_text(json.dumps(make_pod("p", spec=spec).document))
    words = ("simulate", str(path), "-f", str(manifest), "-o", "json")
    assert 'spec.tolerations[0].operator: Unsupported value: "Lt"' in run(*words).stderr
    (placed,) = json.loads(run(*words, *gate).stdout)["pods"]
    assert placed["node"] == "n1"


LATER = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    placementScore: {}
  pluginConfig:
  - name: DynamicResources
    args: {bindingTimeout: 5s}
"""


@pytest.fixture
def later(tmp_path: Path) -> str:
    path = tmp_path / "scheduler.yaml"
    path.write_text(LATER)
    return str(path)


def test_config_check_reads_as_the_version(later: str) -> None:
    assert run("config", "check", later).exit_code == 0
    refused = run("config", "check", later, "--kubernetes-version", "1.34")
    assert refused.exit_code == 1
    assert 'unknown field "profiles[0].plugins.placementScore"' in refused.stdout
    assert "it exists since v1.36" in refused.stdout
    assert 'unknown field "bindingTimeout"' in refused.stdout
    words = ("config", "check", later, "--kubernetes-version", "v1.37.1", "--feature-gates", "CSIVolumeHealth=true")
    assert f"{later}: accepted by the rules of v1.37 with CSIVolumeHealth=true" in run(*words).stdout
    document = json.loads(run(*words, "-o", "json").stdout)
    assert (document["kubernetesVersion"], document["featureGates"]) == ("v1.37", {"CSIVolumeHealth": True})
    with_gates = run("config", "check", later, "--feature-gates", "DRADeviceBindingConditions=false")
    assert "Forbidden: DRADeviceBindingConditions" in with_gates.stdout


def test_formats_of_findings_have_the_version(later: str) -> None:
    words = ("config", "check", later, "--kubernetes-version", "1.37", "-o")
    (of_sarif,) = json.loads(run(*words, "sarif").stdout)["runs"]
    assert of_sarif["properties"] == {"kubernetesVersion": "v1.37"}
    note = "note: read as kube-scheduler v1.37"
    assert note in run(*words, "github").stderr
    assert note in run("config", "diff", later, "--kubernetes-version", "1.37").stderr


def test_config_show_has_the_defaults_of_the_version(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(LATER.partition("profiles")[0])

    def shown(version: str) -> str:
        return run("config", "show", str(path), "--kubernetes-version", version).stdout

    assert "DynamicResources" not in shown("1.33")
    assert "filterTimeout: 10s" in shown("1.34")
    assert "bindingTimeout" not in shown("1.35")
    assert "podGroupPostFilter" not in shown("1.36")
    assert "podGroupPostFilter" in shown("1.37")


def test_config_diff_compares_with_the_defaults_of_the_version(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    disabled = "profiles:\n- plugins: {multiPoint: {disabled: [{name: DynamicResources}]}}\n"
    path.write_text(LATER.partition("profiles")[0] + disabled)
    assert run("config", "diff", str(path), "--kubernetes-version", "1.33").stdout == ""
    assert "score: DynamicResources" not in run("config", "diff", str(path), "--kubernetes-version", "1.34").stdout
    assert "DynamicResources" in run("config", "diff", str(path), "--kubernetes-version", "1.34").stdout


def test_the_version_is_for_the_extender_of_manifests_too() -> None:
    words = ("--image", "r/k:1", "--plugin", "kubesched.usage:NodeUsage", "--kubernetes-version", "1.34")
    assert "--kubernetes-version=1.34" in run("extender", "manifests", *words).stdout


SHAPE = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: VolumeBinding
    args: {shape: [{utilization: 0, score: 10}, {utilization: 100, score: 0}]}
"""


@pytest.mark.parametrize("server", ["v1.33.13", "v1.36.3", "v1.37.2"])
def test_a_configuration_is_read_as_the_version_of_the_cluster(tmp_path: Path, server: str) -> None:
    """Also one that only a later version than the default accepts, in the words of the version."""
    path, config = tmp_path / "cluster.json", tmp_path / "scheduler.yaml"
    write_snapshot(ClusterObjects((make_node("n1"), make_pod("p")), server_version=server), path)
    config.write_text(SHAPE)
    for words in (("simulate",), ("explain",), ("compare", "--pack", "--seeds", "5")):
        result = run(*words, str(path), "--config", str(config))
        assert (result.exit_code == 0) is (server == "v1.37.2")
        assert ("unexpected field `shape`" in result.stderr) is (server != "v1.37.2")
        assert ("config.UtilizationShapePoint{" in result.stderr) is (server == "v1.33.13")


def test_a_conversion_is_logged_once_with_the_version_that_decides(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, config = tmp_path / "cluster.json", tmp_path / "scheduler.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n")
    for server, version in (("v1.34.4", "v1.34"), ("", "v1.36")):
        caplog.clear()
        write_snapshot(ClusterObjects((make_node("n1"), make_pod("p")), server_version=server), path)
        run("simulate", str(path), "--config", str(config))
        (message,) = caplog.messages
        assert f"converted from kubescheduler.config.k8s.io/v1beta3; its plugins decide as in {version}. See" in message
