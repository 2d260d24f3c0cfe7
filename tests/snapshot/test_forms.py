"""The forms in which people have clusters: arrays, watch streams, exports, warnings before the text, no objects."""

import io
import json

import pytest

from kubesched.api import Node, Pod
from kubesched.errors import InputError
from kubesched.snapshot import load_snapshot
from tests.snapshot.builders import listed, node, other, pod


def loaded(text: str):
    return load_snapshot(io.StringIO(text))


def names(text: str):
    return [known.name for known in loaded(text)]


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        loaded(text)
    return str(caught.value)


def event(type: str, name: str, version: int, **spec):
    changed = node(name, **spec)
    changed["metadata"]["resourceVersion"] = str(version)
    return {"type": type, "object": changed}


def test_an_array_is_a_list():
    assert names(json.dumps([node("a"), pod("b")])) == ["a", "b"]
    assert names(json.dumps([node("a")]) + "\n" + json.dumps(node("b")) + json.dumps([node("c")])) == ["a", "b", "c"]
    assert names(f"- {json.dumps(node('a'))}\n- {json.dumps(node('b'))}\n") == ["a", "b"]
    assert refusal("[1]") == "<stream>, item 1: expected an object, found 1"


def test_lists_in_lists_are_read():
    nodes = {"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}
    inner = listed(node("b"), listed(pod("c")))
    assert names(json.dumps([nodes, inner, [node("d")], node("e")])) == ["a", "b", "c", "d", "e"]
    assert names(json.dumps(listed(nodes, inner))) == ["a", "b", "c"]
    assert names(json.dumps({"items": [node("a"), pod("b")]})) == ["a", "b"]
    manifest = io.StringIO(json.dumps(listed(listed(pod("new")))))
    assert [known.name for known in load_snapshot(manifests=[manifest])] == ["new"]


def test_a_bad_object_in_a_list_in_a_list_is_named_with_its_place():
    assert refusal(json.dumps([listed(node(5))])) == (
        "<stream>, item 1, item 1 (Node): metadata.name: expected a string, found 5; put it in quotes"
    )
    deep = json.dumps(listed(listed(listed(listed(listed(listed(listed(node("a")))))))))
    assert "lists are nested more than 5 deep" in refusal(deep)


TWICE = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels:
    app: one
    app: two
spec: {containers: [{name: c}]}
"""


@pytest.mark.parametrize("read", [lambda text: load_snapshot(text), lambda text: load_snapshot(manifests=[text])])
def test_of_a_key_twice_in_a_map_the_last_one_counts_as_for_kubectl(read):
    found = read(io.StringIO(TWICE))
    assert found.of(Pod)[0].labels == {"app": "two"}
    assert '<stream>: line 7, column 5: key "app" already set in map; the last value counts' in found.notes


PATCHES = {
    "directive": ("volumeMounts: [{$patch: delete, mountPath: /sys}]", "volumeMounts[0].$patch: unknown field; it is"),
    "another directive": ("$retainKeys: [name]", "$retainKeys: unknown field; it is a patch; `kustomize build FOLDER`"),
}


@pytest.mark.parametrize(("field", "words"), PATCHES.values(), ids=PATCHES)
def test_a_patch_of_kustomize_is_named_as_such(field, words):
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, {field}}}]}}\n"
    with pytest.raises(InputError) as caught:
        load_snapshot(manifests=[io.StringIO(text)])
    assert words in str(caught.value)
    assert "did you mean" not in str(caught.value)


def test_what_kustomize_completes_is_named(tmp_path):
    base, kustomization = tmp_path / "web.yaml", tmp_path / "kustomization.yaml"
    base.write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n")

    def said(path) -> str:
        with pytest.raises(InputError) as caught:
            load_snapshot(manifests=[path])
        return str(caught.value)

    assert said(base).endswith("; if it is a patch, `kustomize build FOLDER` prints the patched objects")
    base.write_text(base.read_text().replace("spec:", "spec: {selector: {matchLabels: {app: web}}}\n#"))
    assert "kustomize build" not in said(base)
    kustomization.write_text("resources: [web.yaml]\n")
    assert said(base).endswith("its folder has a kustomization, and `kustomize build FOLDER` prints the whole objects")
    assert said(kustomization).endswith("it is a Kustomization; `kustomize build FOLDER` prints its objects")


def test_a_key_of_a_merge_may_be_there_again():
    merged = TWICE.replace("    app: one\n    app: two", "    app: one\n    <<: {app: two}")
    assert not [note for note in loaded(merged).notes if "already set" in note]


@pytest.mark.parametrize("is_map", [False, True])
def test_a_list_without_kind_has_the_kind_that_its_file_is_named_after(tmp_path, is_map):
    bare = {"metadata": {"name": "a"}, "spec": {}}
    files = {
        "cluster/Nodes.json": [bare],
        "ns/shop/Pods.json": [{"metadata": {"name": "p", "namespace": "shop"}, "spec": {"containers": []}}],
        "cluster/StorageClasses.json": [{"metadata": {"name": "fast"}, "provisioner": "x"}],
        "ns/shop/Secrets.json": [bare],
        "ns/shop/events.json": [{"metadata": {"name": "x"}}],
        "pods.json": [{"name": "not an object of Kubernetes"}],
    }
    for name, items in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"items": items} if is_map else items))
    read = load_snapshot(tmp_path)
    assert read.kinds == {"Node": 1, "Pod": 1, "StorageClass": 1}
    assert load_snapshot(tmp_path / "cluster/Nodes.json").kinds == {"Node": 1}


def test_a_budget_without_status_is_named_because_it_allows_nothing():
    written = other("policy/v1", "PodDisruptionBudget", "web", spec={"minAvailable": 1})
    status = {"disruptionsAllowed": 0, "expectedPods": 1}
    served = other("policy/v1", "PodDisruptionBudget", "db", spec={}, status=status)
    notes = loaded(json.dumps(listed(node("a"), written, served))).notes
    assert [note for note in notes if "status" in note] == [
        "without a status, as in a manifest: 1 PodDisruptionBudget (default/web), which counts as allowing no eviction"
    ]


def test_a_watch_stream_is_read_to_its_end():
    bookmark = {"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "Node", "metadata": {}}}
    events = [event("ADDED", "a", 1), event("ADDED", "b", 2), event("MODIFIED", "a", 3, unschedulable=True), bookmark]
    status = {"kind": "Status", "apiVersion": "v1", "message": "too old resource version", "code": 410}
    expired = {"type": "ERROR", "object": status}
    read = loaded("\n".join(map(json.dumps, [*events, event("DELETED", "b", 4), expired])))
    assert [(found.name, found.unschedulable) for found in read.of(Node)] == [("a", True)]
    assert '<stream>: the watch broke off with "too old resource version"; later changes are missing' in read.notes


def test_an_export_of_kube_scheduler_simulator_is_read_with_its_configuration():
    configuration = {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"}
    claim = other("v1", "PersistentVolumeClaim", "c", metadata={"namespace": "shop"})
    high = {"metadata": {"name": "high"}, "value": 7}
    export = {
        "pods": [pod("p", priorityClassName="high")],
        "nodes": [{"metadata": {"name": "n"}}],
        "pvs": [],
        "pvcs": [claim],
        "storageClasses": [{"metadata": {"name": "fast"}, "provisioner": "x"}],
        "priorityClasses": [high],
        "namespaces": None,
        "schedulerConfig": configuration,
    }
    read = loaded(json.dumps(export))
    assert read.kinds == {"Node": 1, "Pod": 1, "PersistentVolumeClaim": 1, "StorageClass": 1, "PriorityClass": 1}
    assert read.of(Pod)[0].priority == 7
    assert json.loads(read.scheduler_config) == configuration
    export["nodes"] = [{"metadata": {}}]
    assert refusal(json.dumps(export)) == "<stream>: nodes, item 1 (Node): metadata.name is missing"


@pytest.mark.parametrize(
    "warning",
    [
        "Warning: v1 ComponentStatus is deprecated in v1.19+\n",
        "W1123 09:14:45.123456   1 loader.go:1] config not found\n",
    ],
)
def test_warnings_before_the_text_are_skipped(warning):
    assert names(warning * 2 + json.dumps(listed(node("a")))) == ["a"]
    assert names(f"{warning}apiVersion: v1\nkind: Node\nmetadata: {{name: a}}\n") == ["a"]
    assert "line 2, column 14: not valid JSON" in refusal(f'{warning}{{"kind": nope}}')


DESCRIBED = (
    "Name:               n1\nRoles:              <none>\nLabels:             a=b\nCreationTimestamp:  Mon, 23 Nov\n"
)
TABLE = "NAMESPACE   NAME    READY   STATUS    NODE\nshop        web-1   1/1     Running   n1\n"
NODES = "NAME   STATUS   ROLES    AGE   VERSION   INTERNAL-IP\nn1     Ready    <none>   1d    v1.36.2   10.0.0.1\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            DESCRIBED,
            "<stream>: found what `kubectl describe` prints; expected JSON or YAML, for example from `kubesched",
        ),
        (
            TABLE,
            "<stream>: found a table of `kubectl get`; expected JSON or YAML, for example from `kubesched",
        ),
        (NODES, "<stream>: found a table of `kubectl get`"),
        ("No resources found in shop namespace.\n", 'found a message of kubectl: "No resources found in shop'),
        (
            json.dumps({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": []}),
            "<stream>: found a Table, which has no objects; expected a file such as `kubesched snapshot -o",
        ),
        (
            json.dumps(other("template.openshift.io/v1", "Template", objects=[])),
            "found a Template; expected its objects, which `oc process -f FILE -o json` prints",
        ),
        (
            json.dumps({"kind": "Status", "apiVersion": "v1", "message": "nodes is forbidden", "code": 403}),
            'found an answer of the API server without objects: "nodes is forbidden"; expected a file such as',
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}-web\n",
            "it looks like a template; print its objects with `helm template CHART`",
        ),
        (
            "apiVersion: template.openshift.io/v1\nkind: Template\nobjects: [{spec: {replicas: ${{N}}}}]\n",
            "it looks like a Template; print its objects with `oc process -f FILE -o json`",
        ),
        (
            "NAME   CPU(cores)   CPU%\nn1     123m         3%\n",
            "found what `kubectl top` prints; expected JSON or YAML",
        ),
        ("LAST SEEN   TYPE      REASON\n10s         Warning   Failed\n", "found a table of `kubectl get`"),
        ("web-1   1/1     Running   0          3d\n", "found a table of `kubectl get`"),
        ("shop   web-1   1/1     Running   0     3d\n", "found a table of `kubectl get`"),
        ("n1   Ready,SchedulingDisabled   <none>   3d   v1.36.0\n", "found a table of `kubectl get`"),
        ("pod/web-1\npod/web-2\n", "found the names that `kubectl get -o name` prints"),
        ("# ours\n[server]\nport = 80\n", "found TOML; expected JSON or YAML"),
        ('name = "x"\n\n[[pools]]\n', "found TOML; expected JSON or YAML"),
        ("- op: replace\n  path: /spec/replicas\n  value: 3\n", "it is a JSON patch; if it belongs to a kustomization"),
        ("n1 n2", 'found "n1 n2"; it has no Kubernetes objects; expected JSON or YAML, for example from `kubesched'),
        (
            "<!DOCTYPE html><html><body>Sign in</body></html>",
            "found an HTML page, perhaps that of a login; expected JSON",
        ),
        ("apiVersion: v1\nkind: Config\nclusters: []\n", "found a kubeconfig; expected a file such as"),
        ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", "`--config FILE` takes"),
        ("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n", "found a Component; expected its objects"),
        ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", "which `kustomize build FOLDER` prints"),
        (json.dumps({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}), "found only the metadata"),
        ("apiVersion: v2\nname: web\nversion: 1.0.0\n", "`helm template CHART` prints the objects"),
        ("replicaCount: 2\n", "kind is missing; every object has apiVersion and kind; if it belongs to a Helm chart"),
        ("services:\n  web: {image: x}\n", "if it is a Compose file, `kompose convert` writes the objects"),
        ("NAME: argo\nLAST DEPLOYED: Mon\nMANIFEST:\n---\nkind: Pod\n", "expected the objects, which `helm template`"),
        (
            f"Error from server (Forbidden): x\n{json.dumps(node('n'))}",
            "add `2>/dev/null` to the command, if what it names",
        ),
        (
            f"{json.dumps(node('n'))}\nError from server (Forbidden): x\n",
            'found a message of kubectl: "Error from server',
        ),
    ],
)
def test_text_without_objects_is_one_sentence_with_the_right_command(text, words):
    sentence = refusal(text)
    assert words in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "text", [DESCRIBED, TABLE, "n1 n2", json.dumps({"kind": "Table", "apiVersion": "meta.k8s.io/v1"})]
)
def test_a_manifest_without_objects_is_answered_with_what_prints_manifests(text):
    with pytest.raises(InputError) as caught:
        load_snapshot(manifests=[io.StringIO(text)])
    assert "expected manifests, such as `helm template CHART` or `kubectl get deploy NAME -o yaml` prints" in str(
        caught.value
    )


@pytest.mark.parametrize(
    "line",
    [
        "coalesce.go:286: warning: cannot overwrite table with non table for x (map[])",
        "walk.go:74: found symbolic link in path: /x resolves to /y",
        "Pulled: ghcr.io/argo-cd:7.0.0\nDigest: sha256:abc",
    ],
)
def test_lines_of_helm_before_the_objects_are_skipped(line):
    assert names(f"{line}\n---\n{json.dumps(node('n'))}\n") == ["n"]


def test_warnings_after_the_objects_are_skipped():
    assert names(f"{json.dumps(node('n'), indent=1)}\nWarning: v1 ComponentStatus is deprecated\nWarning: x\n\n") == [
        "n"
    ]


def test_the_templates_of_a_chart_in_a_folder_are_left_out_of_a_snapshot_only(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps(node("n")))
    (tmp_path / "web.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}-web\n")
    read = load_snapshot(tmp_path)
    assert [found.name for found in read] == ["n"]
    assert (
        f"left out 1 file with templates: {tmp_path}/web.yaml; `helm template CHART` prints the objects of a chart"
        in read.notes
    )
    with pytest.raises(InputError, match=r"web\.yaml: .* it looks like a template"):
        load_snapshot(manifests=[tmp_path])


def test_a_file_of_objects_that_does_not_parse_is_an_error_in_a_folder_too(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps(node("n")))
    (tmp_path / "web.yaml").write_text("kind: Pod\nmetadata: {name: [}\n\n\ndata: '{{ x }}'\n")
    with pytest.raises(InputError, match=r"web\.yaml: line 2"):
        load_snapshot(tmp_path)


def test_a_folder_may_have_other_files(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps(node("n")))
    (tmp_path / "package.json").write_text('{"name": "app", "scripts": {}}')
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: web\n")
    (tmp_path / "broken.yaml").write_text("a: [\n")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "analysis.json").write_text('[{"name": "x", "insight": {"kind": "y"}}, "kind: z"]')
    (tmp_path / "image.json").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    read = load_snapshot(tmp_path)
    assert [known.name for known in read] == ["n"]
    shown = ", ".join(str(tmp_path / name) for name in ("Chart.yaml", "analysis.json", "broken.yaml"))
    assert read.notes == (f"left out 7 files without Kubernetes objects: {shown} and 4 more",)


def test_a_cut_snapshot_in_a_folder_is_not_left_out(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps(listed(node("n")))[:-4])
    with pytest.raises(InputError, match="ends in the middle"):
        load_snapshot(tmp_path)


def test_a_file_that_the_user_names_is_not_left_out(tmp_path):
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    with pytest.raises(InputError, match="kind is missing"):
        load_snapshot(tmp_path / "values.yaml")
