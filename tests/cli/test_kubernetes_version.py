"""--kubernetes-version and --feature-gates: whose rules decide."""

import json

import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched.planning import fit
from kubesched.session import Simulator
from kubesched.snapshot import load_snapshot
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
