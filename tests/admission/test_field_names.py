"""A manifest may have the fields of the cluster's version, and no others."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from kubesched.admission.known_fields import FIELDS, VERSIONS
from kubesched.errors import ObjectError
from kubesched.planning import fit
from kubesched.release import Release
from kubesched.snapshot import ClusterObjects, load_snapshot, read_pod
from kubesched.testing import make_node
from tests.cli.clusters import run

NAMED = "--kubernetes-version names another version"
NODE = make_node("n1", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10"})


def pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "x"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


NEW = pod(evictionResponders=[{"name": "r", "priority": 1}])
NAME = pod(hostnameOverride="h")


def loaded(document: dict[str, Any], minor: int) -> ClusterObjects:
    return load_snapshot(manifests=[io.StringIO(json.dumps(document))], release=Release(minor))


@pytest.mark.parametrize(
    ("document", "minor", "fault"),
    [
        (NAME, 33, "spec.hostnameOverride: unknown field in v1.33; Kubernetes has it since v1.34"),
        (NAME, 34, ""),
        (NEW, 36, "spec.evictionResponders: unknown field in v1.36; Kubernetes has it since v1.37"),
        (NEW, 37, ""),
        (pod(evictionResponders=[{"nam": "r"}]), 37, 'Responders[0].nam: unknown field; did you mean "name"?'),
        (pod(workloadRef={"name": "w"}), 34, "unknown field in v1.34; Kubernetes has it since v1.35"),
        (pod(workloadRef={"name": "w"}), 35, ""),
        (pod(workloadRef={"name": "w"}), 36, "unknown field in v1.36; Kubernetes has it until v1.35"),
        (pod(hostnameOverrides="h"), 33, 'unknown field; did you mean "hostnameOverride"?'),
    ],
)
def test_a_field_that_the_version_lacks_is_an_error_with_the_versions_that_have_it(
    document: dict[str, Any], minor: int, fault: str
) -> None:
    if not fault:
        assert [known.name for known in loaded(document, minor)] == ["p"]
        return
    with pytest.raises(ObjectError) as raised:
        loaded(document, minor)
    assert fault in str(raised.value)
    assert (NAMED in str(raised.value)) is (" in v1." in fault)


def test_the_version_of_the_cluster_counts_where_none_is_named(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(NEW))
    older, newer = (ClusterObjects((NODE,), server_version=version) for version in ("v1.36.3", "v1.37.2"))
    for ask in (read_pod, lambda file, cluster: fit(cluster, file)):
        with pytest.raises(ObjectError, match=r"unknown field in v1\.36"):
            ask(manifest, older)
    assert read_pod(manifest, newer)[0].name == "p"
    assert fit(newer, manifest, alone=True).n_fit == 1


@pytest.mark.parametrize(
    "words",
    [("simulate", "--manifest", "pod.json"), ("fit", "-f", "pod.json"), ("explain", "-f", "pod.json")],
    ids=["simulate", "fit", "explain"],
)
def test_commands_take_the_fields_of_the_version_that_is_named(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pod.json").write_text(json.dumps(NEW))
    Path("cluster.json").write_text(json.dumps(NODE.document | {"apiVersion": "v1", "kind": "Node"}))
    command, *others = words
    refused = run(command, "cluster.json", *others)
    assert (refused.exit_code, "unknown field in v1.36" in refused.stderr) == (2, True)
    accepted = run(command, "cluster.json", *others, "--kubernetes-version", "1.37")
    assert (accepted.exit_code, "unknown field" in accepted.stderr) == (0, False), accepted.stderr


def test_each_field_that_some_versions_have_is_one_of_its_type() -> None:
    assert VERSIONS
    assert {(name, field) for name, field in VERSIONS if field not in FIELDS[name]} == set()
