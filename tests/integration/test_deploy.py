"""helm and kustomize make of deploy/ what `kubesched scheduler manifests` prints."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.clusters import run
from tests.integration.control_plane import ControlPlane
from tests.integration.deploy_tools import render
from tests.integration.installed import apply_all, delete_all

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "kubesched"
IMAGE = ("--image", "kubesched:1")
PLUGIN = """
from kubesched import Plugin

class Odd(Plugin):
    def score(self, state, pod, node):
        return 1
"""


def printed(*options: str) -> dict[str, Any]:
    result = run("scheduler", "manifests", *IMAGE, *options)
    assert result.exit_code == 0, result.output
    return comparable(list(yaml.safe_load_all(result.stdout)))


def chart(helm: Path, *values: str, namespace: str = "kube-system") -> list[dict[str, Any]]:
    settings = [word for value in ("scheduler.image=kubesched:1", *values) for word in ("--set", value)]
    return render(helm, "template", "release", CHART, "--namespace", namespace, *settings)


def comparable(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Documents by kind, without the checksum of the ConfigMap's text, which may be written in several ways."""
    by_kind = {document["kind"]: document for document in documents}
    assert len(by_kind) == len(documents)
    files = by_kind["ConfigMap"]["data"]
    files["scheduler.yaml"] = yaml.safe_load(files["scheduler.yaml"])
    assert by_kind["Deployment"]["spec"]["template"]["metadata"]["annotations"].pop("checksum/config")
    return by_kind


@pytest.mark.parametrize(
    ("values", "options", "namespace"),
    [
        ((), (), "kube-system"),
        (("scheduler.replace=true",), ("--replace",), "kube-system"),
        (("scheduler.name=gpu", "scheduler.replicaCount=3"), ("--name", "gpu", "--replicas", "3"), "team"),
    ],
)
def test_the_chart_is_what_the_command_prints(
    helm: Path, values: tuple[str, ...], options: tuple[str, ...], namespace: str
) -> None:
    assert comparable(chart(helm, *values, namespace=namespace)) == printed(*options, "--namespace", namespace)


def test_plugins_of_the_chart_are_those_of_the_command(helm: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(PLUGIN)
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "delayCacheUntilActive": True,
        "leaderElection": {"leaderElect": False},
        "profiles": [
            {
                "schedulerName": "kubesched",
                "plugins": {"multiPoint": {"enabled": [{"name": "Odd"}], "disabled": [{"name": "ImageLocality"}]}},
                "pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["a.example/b"]}}],
            }
        ],
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    values = {
        "scheduler": {"image": "kubesched:1", "replicaCount": 1, "leaderElect": False},
        "plugins": {
            "load": ["odd.py:Odd"],
            "files": {"odd.py": PLUGIN},
            "enabled": ["Odd"],
            "disabled": ["ImageLocality"],
        },
        "pluginConfig": config["profiles"][0]["pluginConfig"],
        "configuration": {"delayCacheUntilActive": True},
    }
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(values))
    plugin = ("--plugin", str(tmp_path / "odd.py:Odd"), "--plugin-file", str(tmp_path / "odd.py"))
    command = printed(*plugin, "--config", str(tmp_path / "config.yaml"), "--replicas", "1")
    rendered = render(helm, "template", "r", CHART, "--namespace", "kube-system", "--values", tmp_path / "values.yaml")
    assert comparable(rendered) == command


def test_an_api_server_accepts_the_chart_with_all_values_set(helm: Path, cluster: ControlPlane) -> None:
    documents = chart(
        helm,
        "scheduler.replace=true",
        "scheduler.nodeSelector.disk=ssd",
        "scheduler.tolerations[0].operator=Exists",
        "scheduler.extraArgs={--tie-break=first,-v=4}",
        "plugins.load={package.module:Class}",
    )
    try:
        apply_all(cluster.client, documents)
    finally:
        delete_all(cluster.client, documents)
    (pod,) = [one["spec"]["template"]["spec"] for one in documents if one["kind"] == "Deployment"]
    assert (pod["nodeSelector"], pod["tolerations"]) == ({"disk": "ssd"}, [{"operator": "Exists"}])
    assert "--plugin=package.module:Class" in pod["containers"][0]["command"]
    assert pod["containers"][0]["command"][-2:] == ["--tie-break=first", "-v=4"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("scheduler.image=", "scheduler.image is empty; give an image with kubesched"),
        ("scheduler.replicas=2", "additional properties 'replicas' not allowed"),
        ("scheduler.leaderElect=false", "2 replicas would all schedule; set scheduler.replicaCount: 1"),
        ("scheduler.name=default-scheduler", "belongs to the cluster's own kube-scheduler"),
        ("configuration.leaderElection.resourceName=kube-scheduler", "this scheduler would wait for it"),
        ("configuration.profiles[0].schedulerName=default-scheduler", "set scheduler.replace: true"),
    ],
)
def test_values_that_cannot_work_are_refused(helm: Path, value: str, words: str) -> None:
    command = (helm, "template", "release", CHART, "--namespace", "kube-system", "--set", "scheduler.image=k:1")
    done = subprocess.run((*command, "--set", value), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert words in done.stderr


@pytest.mark.parametrize(("folder", "options"), [("base", ()), ("replace", ("--replace",))])
def test_kustomize_takes_an_image_and_a_configuration(
    kustomize: Path, cluster: ControlPlane, tmp_path: Path, folder: str, options: tuple[str, ...]
) -> None:
    (tmp_path / "scheduler.yaml").write_text("podMaxBackoffSeconds: 20\n")
    overlay = {
        "resources": ["../base"],
        "images": [{"name": "kubesched", "newTag": "1"}],
        "configMapGenerator": [
            {"name": "kubesched", "namespace": "kube-system", "behavior": "merge", "files": ["scheduler.yaml"]}
        ],
    }
    (tmp_path / "overlay").mkdir()
    (tmp_path / "scheduler.yaml").rename(tmp_path / "overlay" / "scheduler.yaml")
    (tmp_path / "overlay" / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
    (tmp_path / "base").symlink_to(ROOT / "deploy" / "kustomize" / folder)
    documents = render(kustomize, "build", tmp_path / "overlay")
    try:
        apply_all(cluster.client, documents)
    finally:
        delete_all(cluster.client, documents)
    expected = printed(*options)
    expected["ConfigMap"]["data"]["scheduler.yaml"] = {"podMaxBackoffSeconds": 20}
    assert comparable(documents) == expected
