import ast
import io
import json
import re
from pathlib import Path

import pytest

import kubesched
from kubesched.api import HOSTNAME, KINDS, Pod, decode_object
from kubesched.snapshot import READ_ANNOTATIONS, ClusterObjects, load_snapshot, only_read_fields, write_snapshot

SOURCES = Path(kubesched.__file__).parent
NOT_READ = {
    "kubectl.kubernetes.io/last-applied-configuration",  # is never written
    "volume.kubernetes.io/storage-provisioner",  # is removed from the claims of new replicas
    "volume.beta.kubernetes.io/storage-provisioner",
    "kubernetes.io/job-controller",  # is the value of a field
    "kubernetes.io/no-provisioner",
    "resource.kubernetes.io/admin-access",  # is a label of namespaces
}
ANNOTATION = re.compile(r"(?:[a-z0-9-]+\.)*kubernetes\.io/[A-Za-z0-9.-]+")
LABELS = re.compile(
    r"kubernetes\.io/(?:hostname|arch|os)|(?:topology|failure-domain\.beta|beta|(?:beta\.)?node|statefulset|apps|batch)\.kubernetes\.io/.*"
)

WRITES_ANNOTATIONS = {"manifests", "capture"}  # those of objects that are installed; words that may stay in a snapshot

SECRET = "hunter2"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "u1",
        "labels": {"app": "web"},
        "annotations": {"note": SECRET, "kubernetes.io/config.mirror": "m"},
        "managedFields": [{"manager": SECRET}],
    },
    "spec": {
        "nodeName": "n1",
        "serviceAccountName": SECRET,
        "imagePullSecrets": [{"name": SECRET}],
        "containers": [
            {
                "name": "c",
                "image": "web:1",
                "command": [SECRET],
                "args": [SECRET],
                "env": [{"name": SECRET, "value": SECRET}],
                "resources": {"requests": {"cpu": "1"}},
                "livenessProbe": {"httpGet": {"path": SECRET}},
            }
        ],
        "volumes": [{"name": "v", "configMap": {"name": SECRET}}, {"name": "s", "secret": {"secretName": SECRET}}],
    },
}
LAST_APPLIED = {"kubectl.kubernetes.io/last-applied-configuration": SECRET}


def pod(**annotations: str) -> ClusterObjects:
    document = json.loads(json.dumps(POD))
    document["metadata"]["annotations"] |= annotations
    return ClusterObjects((decode_object("Pod", json.dumps(document).encode()),))


def written(cluster: ClusterObjects) -> bytes:
    stream = io.BytesIO()
    write_snapshot(cluster, stream, strip=True)
    return stream.getvalue()


def test_what_no_rule_reads_is_not_written() -> None:
    text = written(only_read_fields(pod(**LAST_APPLIED)))
    assert SECRET.encode() not in text
    assert json.loads(text)["items"] == [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "web",
                "namespace": "shop",
                "uid": "u1",
                "labels": {"app": "web"},
                "annotations": {"kubernetes.io/config.mirror": "m"},
            },
            "spec": {
                "nodeName": "n1",
                "containers": [{"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "1"}}}],
                "volumes": [{"name": "v"}, {"name": "s"}],
            },
        }
    ]


def test_annotations_are_kept_on_request_but_never_the_manifest_of_kubectl() -> None:
    (kept,) = only_read_fields(pod(**LAST_APPLIED), keep_annotations=True)
    assert kept.annotations == {"note": SECRET, "kubernetes.io/config.mirror": "m"}


def test_whole_kinds_keep_their_json_without_values_of_the_environment() -> None:
    text = written(only_read_fields(pod(**LAST_APPLIED), whole=["Pod"]))
    (item,) = json.loads(text)["items"]
    assert item["spec"]["serviceAccountName"] == SECRET
    assert item["spec"]["containers"][0]["env"] == [{"name": SECRET}]
    assert item["metadata"]["annotations"] == {"note": SECRET, "kubernetes.io/config.mirror": "m"}


def test_an_object_reads_back_as_the_fields_that_were_kept() -> None:
    reduced = only_read_fields(pod(), keep_annotations=True)
    again = load_snapshot(io.BytesIO(written(reduced)))
    assert again.objects == reduced.objects == pod().objects


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_written_with_its_name_and_version(kind: str) -> None:
    known = decode_object(kind, b'{"metadata": {"name": "x"}}')
    (item,) = json.loads(written(only_read_fields(ClusterObjects((known,)))))["items"]
    assert (item["apiVersion"], item["kind"]) == (KINDS[kind].api_version, KINDS[kind].name)


def test_an_empty_list_that_means_something_stays() -> None:
    spec = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    reduced = only_read_fields(ClusterObjects((decode_object("Pod", json.dumps(document).encode()),)))
    (again,) = load_snapshot(io.BytesIO(written(reduced))).of(Pod)
    assert again.spec.affinity is not None
    assert again.spec.affinity.node_affinity is not None
    assert again.spec.affinity.node_affinity.required is not None


def strings_of(source: str) -> set[str]:
    constants = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return {text for text in constants if isinstance(text, str)}


def test_the_annotations_that_rules_read_are_all_in_the_list() -> None:
    """Constants of files that look into annotations, in any room, labels apart."""
    constants = set()
    for path in SOURCES.rglob("*.py"):
        source = path.read_text()
        if "annotations" in source and path.parent.name not in WRITES_ANNOTATIONS:
            constants |= {text for text in strings_of(source) if ANNOTATION.fullmatch(text)}
    read = {text for text in constants if not LABELS.fullmatch(text)} - NOT_READ
    assert read <= READ_ANNOTATIONS
    assert len(read) > 4


def test_an_annotation_that_rules_read_is_spelt_in_one_file() -> None:
    """A key with a slip is an annotation that no object has; all other files take it from kubesched.api."""
    files: dict[str, list[str]] = {}
    for path in SOURCES.rglob("*.py"):
        for text in strings_of(path.read_text()) & {*READ_ANNOTATIONS, HOSTNAME}:
            files.setdefault(text, []).append(path.name)
    assert {text: names for text, names in files.items() if len(names) > 1} == {}
