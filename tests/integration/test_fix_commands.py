"""The commands that `-o patch` prints change a real API server as the fix says."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.clusters import run
from tests.integration.control_plane import ControlPlane

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

Document = dict[str, Any]
POD, HOST = "web-5d-x", "kubernetes.io/hostname"
REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
CONTAINER = {"name": "app", "image": "app", "resources": {"requests": {"cpu": "1"}}}
SIDECAR = {"name": "proxy", "image": "proxy", "ports": [{"containerPort": 80}]}
LABELS = {"app": "web"}


def node(name: str, taint: str = "", **labels: str) -> Document:
    allocatable = {"cpu": "2", "memory": "4Gi", "pods": "9"}
    labels = {HOST: name, "topology.kubernetes.io/zone": f"zone-{name}", **labels}
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else []
    status = {"allocatable": allocatable, "capacity": allocatable}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": status,
    }


class Kubectl:
    """kubectl for a control plane."""

    def __init__(self, cluster: ControlPlane, folder: Path) -> None:
        if shutil.which("kubectl") is None:
            pytest.skip("no kubectl")
        self._folder = folder
        self._client = cluster.client
        self._environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig(folder / "kubeconfig"))}

    def sh(self, script: str) -> str:
        """What a shell prints."""
        done = subprocess.run(
            ["bash", "-ec", script], text=True, capture_output=True, env=self._environment, timeout=120
        )
        assert done.returncode == 0, (script, done.stderr)
        return done.stdout

    def create(self, *documents: Document) -> None:
        self._client.create_all(documents)

    def get(self, kind: str, name: str) -> Document:
        return self._client.get(kind, name)

    def has(self, kind: str, name: str) -> bool:
        return name in {one["metadata"]["name"] for one in self._client.read_all(kind, "default")}

    def delete(self, kind: str, name: str) -> None:
        self._client.delete(kind, name)

    def explain(self) -> Document:
        """The explanation of the pod on the cluster as it is now."""
        kinds = "nodes,pods,deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs,pvc,pv,storageclasses"
        kinds = f"{kinds},deviceclasses,resourceslices,resourceclaims,resourceclaimtemplates,namespaces"
        (self._folder / "cluster.json").write_text(self.sh(f"kubectl get {kinds} -A -o json"))
        printed = run("explain", self._folder / "cluster.json", f"default/{POD}", "-o", "json", "--no-queue")
        assert printed.exit_code == 0, printed.output
        document: Document = json.loads(printed.stdout)
        return document

    def fix(self, kind: str, begin: str = "") -> Document:
        """Run the commands of a fix of the pod; those that are comments with this beginning, too.

        Returns: the object that they change first.
        """
        fixes = {fix["kind"]: fix for fix in reversed(self.explain()["fixes"])}
        assert kind in fixes, list(fixes)
        patches = fixes[kind]["patches"]
        lines = [line for patch in patches for line in patch["commands"]]
        self.sh("\n".join(line.removeprefix("# ") if begin and line.startswith(begin) else line for line in lines))
        target: Document = patches[0]["target"]
        return target


@pytest.fixture
def kubectl(cluster: ControlPlane, tmp_path: Path) -> Iterator[Kubectl]:
    yield Kubectl(cluster, tmp_path)
    for kind in ("DaemonSet", "CronJob"):  # which are not among the kinds that a scheduler reads
        cluster.client.delete_all(kind, "default")


def named(kind: str, name: str, spec: Document, group: str, **metadata: Any) -> Document:
    metadata = {"name": name, "namespace": "default", **metadata}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec}


def pod(spec: Document, **metadata: Any) -> Document:
    return named("Pod", POD, {"containers": [CONTAINER], **spec}, "v1", labels=LABELS, **metadata)


def workload(kind: str, spec: Document, name: str = "web", **more: Any) -> Document:
    template: Document = {"metadata": {"labels": LABELS}, "spec": {"containers": [SIDECAR, CONTAINER], **spec}}
    group = "batch/v1" if "Job" in kind else "v1" if kind == "ReplicationController" else "apps/v1"
    if "Job" in kind:
        template["spec"]["restartPolicy"] = "Never"
        whole: Document = {"template": template}
        if kind == "CronJob":
            whole = {"schedule": "0 0 * * *", "jobTemplate": {"spec": whole}}
    else:
        selector = LABELS if kind == "ReplicationController" else {"matchLabels": LABELS}
        whole = {"selector": selector, "template": template}
    return named(kind, name, whole | ({"serviceName": "web"} if kind == "StatefulSet" else {}), group, **more)


def template_of(document: Document) -> Document:
    spec = document["spec"]
    template: Document = spec["jobTemplate"]["spec"]["template"] if "jobTemplate" in spec else spec["template"]
    return template


SPREAD = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": LABELS}}
SELECTOR = {"labelSelector": {"matchLabels": LABELS}, "topologyKey": HOST}
CHANGES: dict[str, Document] = {
    "requests": {"containers": [SIDECAR, {**CONTAINER, "resources": {"requests": {"cpu": "3"}}}]},
    "toleration": {"tolerations": [{"key": "mine", "operator": "Exists"}], "nodeSelector": {"pool": "db"}},
    "nodeSelector": {"nodeSelector": {"pool": "wbe", HOST: "n1"}},
    "nodeAffinity": {
        "affinity": {
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["wbe"]}]}]
                }
            }
        }
    },
    "hostPort": {"containers": [{**SIDECAR, "ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81}]}]},
    "scheduleAnyway": {
        "topologySpreadConstraints": [{**SPREAD, "topologyKey": HOST}, {**SPREAD, "topologyKey": "pool", "maxSkew": 5}]
    },
    "topologyKey": {
        "topologySpreadConstraints": [{**SPREAD, "topologyKey": "topology.kubernetes.io/zome", "maxSkew": 5}]
    },
    "podAntiAffinity": {"affinity": {"podAntiAffinity": {REQUIRED: [SELECTOR]}}, "nodeSelector": {"pool": "web"}},
    "claimMissing": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "dtaa"}}]},
}


FIELDS = {
    "requests": ["containers[1].resources.requests.cpu"],
    "toleration": ["tolerations"],
    "nodeSelector": ["nodeSelector.pool"],
    "nodeAffinity": [f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values"],
    "hostPort": ["containers[0].ports[0].hostPort"],
    "scheduleAnyway": ["topologySpreadConstraints[0].whenUnsatisfiable"],
    "topologyKey": ["topologySpreadConstraints[0].topologyKey"],
    "podAntiAffinity": [f"affinity.podAntiAffinity.{name}" for name in (PREFERRED, REQUIRED)],
    "claimMissing": ["volumes[0].persistentVolumeClaim.claimName"],
}
"""What of a template the fix of each kind changes, and nothing else."""


def others() -> list[Document]:
    other = named(
        "Pod",
        "other",
        {"containers": [{**SIDECAR, "ports": [{"containerPort": 80, "hostPort": 80}]}], "nodeName": "n1"},
        "v1",
        labels=LABELS,
    )
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "late",
    }
    late = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "x.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    return [
        node("n1", pool="web"),
        node("n2", "db", pool="db"),
        other,
        late,
        named("PersistentVolumeClaim", "data", claim, "v1"),
    ]


def changed_fields(old: Any, new: Any, path: str = "") -> list[str]:
    """The fields that differ, down to the lists, whose entries with names are compared one by one."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            found
            for name in sorted({*old, *new})
            for found in changed_fields(old.get(name), new.get(name), f"{path}.{name}")
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new) and all(map(is_named, old)):
        return [
            found
            for i, pair in enumerate(zip(old, new, strict=True))
            for found in changed_fields(*pair, f"{path}[{i}]")
        ]
    return [] if old == new else [path.removeprefix(".")]


def is_named(one: object) -> bool:
    return isinstance(one, dict)


def create_owned(kubectl: Kubectl, kind: str, change: Document) -> None:
    """The workload, and the pod as its controllers make it."""
    owners = {"Deployment": ["ReplicaSet"], "CronJob": ["Job"]}.get(kind, [])
    above: Document = {}
    for one in (kind, *owners):
        made = workload(one, change, **({"name": "web-5d"} if one in owners else {}), **above)
        kubectl.create(made)
        known = kubectl.get(one, made["metadata"]["name"])
        above = {
            "ownerReferences": [
                {
                    **{name: known[name] for name in ("apiVersion", "kind")},
                    "name": known["metadata"]["name"],
                    "uid": known["metadata"]["uid"],
                    "controller": True,
                }
            ]
        }
    kubectl.create(pod(template_of(known)["spec"], **above))


@pytest.mark.parametrize("kind", CHANGES)
def test_a_deployment_that_is_patched_makes_a_pod_that_fits(kubectl: Kubectl, kind: str) -> None:
    kubectl.create(*others())
    create_owned(kubectl, "Deployment", CHANGES[kind])
    old = template_of(kubectl.get("Deployment", "web"))
    assert kubectl.fix(kind)["kind"] == "Deployment"
    new = template_of(kubectl.get("Deployment", "web"))
    assert changed_fields(old["spec"], new["spec"]) == FIELDS[kind]
    kubectl.delete("Pod", POD)
    kubectl.create(pod(new["spec"]))
    assert kubectl.explain()["feasible"]


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "CronJob"])
def test_the_template_of_each_workload_changes(kubectl: Kubectl, kind: str) -> None:
    kubectl.create(*others())
    create_owned(kubectl, kind, CHANGES["toleration"])
    target = kubectl.fix("toleration")
    assert (target["kind"], target["name"]) == (kind, "web")
    tolerations = template_of(kubectl.get(kind, "web"))["spec"]["tolerations"]
    assert [one["key"] for one in tolerations] == ["mine", "db"]
    assert kubectl.has("Pod", POD) == (kind in ("DaemonSet", "CronJob"))  # it replaces the pod itself, or its Job does


def test_a_job_is_created_again(kubectl: Kubectl) -> None:
    kubectl.create(*others())
    create_owned(kubectl, "Job", CHANGES["toleration"])
    old = kubectl.get("Job", "web")
    kubectl.fix("toleration")
    new = kubectl.get("Job", "web")
    assert new["metadata"]["uid"] != old["metadata"]["uid"]
    assert [one["key"] for one in template_of(new)["spec"]["tolerations"]] == ["mine", "db"]


@pytest.mark.parametrize("kind", [kind for kind in CHANGES if kind != "podAntiAffinity"])
def test_a_pod_alone_is_patched_or_created_again(kubectl: Kubectl, kind: str) -> None:
    kubectl.create(*others(), pod(CHANGES[kind]))
    assert kubectl.fix(kind)["kind"] == "Pod"
    assert kubectl.explain()["feasible"]


def test_a_gate_is_removed(kubectl: Kubectl) -> None:
    kubectl.create(*others(), pod({"schedulingGates": [{"name": "example.com/wait"}]}))
    kubectl.fix("schedulingGate")  # the command is a comment, which only a person takes away
    assert "heldBack" in kubectl.explain()
    kubectl.fix("schedulingGate", begin="# kubectl")
    assert "heldBack" not in kubectl.explain()


@pytest.mark.parametrize("kind", ["uncordon", "taint", "label"])
def test_a_node_is_opened(kubectl: Kubectl, kind: str) -> None:
    cordoned = {**node("n3", pool="cordoned"), "spec": {"unschedulable": True}}
    selector = {"uncordon": {"pool": "cordoned"}, "taint": {"pool": "db"}, "label": {"team": "red"}}[kind]
    kubectl.create(*others(), cordoned, pod({"nodeSelector": selector}))
    assert kubectl.fix(kind)["kind"] == "Node"
    assert kubectl.explain()["feasible"]


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("storageClass", {"storageClassName": "lat"}),
        ("selectedNode", {}),
    ],
)
def test_a_claim_is_patched_or_created_again(kubectl: Kubectl, kind: str, more: Document) -> None:
    *rest, claim = others()
    claim["spec"] |= more
    if kind == "selectedNode":
        claim["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "gone"}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    kubectl.create(*rest, claim, pod({"volumes": volumes}))
    assert kubectl.fix(kind)["kind"] == "PersistentVolumeClaim"
    assert kubectl.explain()["feasible"]
