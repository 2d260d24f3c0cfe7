"""Pods that kube-scheduler places and that would not start: a volume cannot be made, or cannot be shared."""

from pathlib import Path

import pytest

from kubesched.api import KubeObject
from kubesched.planning import fit
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write

DRIVER = "disk.example.com"
HOST = "kubernetes.io/hostname"
LATE = {"provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}
SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: pg}
spec:
  replicas: 3
  serviceName: pg
  selector: {matchLabels: {app: pg}}
  template:
    metadata: {labels: {app: pg}}
    spec: {containers: [{name: pg, image: pg, resources: {requests: {cpu: "1"}}}]}
  volumeClaimTemplates:
  - metadata: {name: d}
    spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 50Gi}}}
"""
SHARED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      volumes: [{name: v, persistentVolumeClaim: {claimName: shared}}]
      containers: [{name: web, image: web, resources: {requests: {cpu: "3"}}}]
"""


def nodes(*names: str, drivers: tuple[str, ...] = (DRIVER,)) -> list[KubeObject]:
    entries = [{"name": name, "nodeID": "n", "topologyKeys": [HOST]} for name in drivers]
    made = [make_node(name, labels={HOST: name}, allocatable={"cpu": "4", "pods": "9"}) for name in names]
    return [*made, *(make_object("CSINode", name, spec={"drivers": entries}) for name in names)]


def fast() -> list[KubeObject]:
    return [
        make_object("StorageClass", "fast", **LATE),
        make_object("CSIDriver", DRIVER, spec={"storageCapacity": True}),
    ]


def published(name: str, capacity: str) -> KubeObject:
    place = {"matchLabels": {HOST: name}}
    return make_object("CSIStorageCapacity", name, storageClassName="fast", nodeTopology=place, capacity=capacity)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "new.yaml"
    path.write_text(SET)
    return path


def test_claims_that_ask_for_more_than_there_is_are_added_up(manifest: Path):
    """kube-scheduler holds each of them alone against what is published."""
    short = fit([*nodes("n1"), *fast(), published("n1", "100Gi")], manifest)
    assert short.n_fit == 3
    (note,) = short.caveats
    assert note == (
        "new claims of class fast on n1 ask for 150Gi of 100Gi: kube-scheduler counts each claim alone, "
        "and the rest would not be made"
    )
    assert fit([*nodes("n1"), *fast(), published("n1", "150Gi")], manifest).caveats == ()


def test_a_node_without_the_driver_is_told(manifest: Path):
    answer = fit([*nodes("n1", drivers=("other",)), make_object("StorageClass", "fast", **LATE)], manifest)
    (note,) = answer.caveats
    assert note == (
        f"CSI driver {DRIVER} is not on n1: kube-scheduler places pods there all the same, "
        "and their volumes would not be made or mounted"
    )


def test_a_claim_for_one_node_on_two_is_told(tmp_path: Path):
    path = tmp_path / "web.yaml"
    path.write_text(SHARED)
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "nfs", "volumeName": "pv"}
    done = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    cluster = [*nodes("n1", "n2"), make_object("PersistentVolumeClaim", "shared", spec=spec, **done)]
    cluster.append(make_object("PersistentVolume", "pv", spec={"csi": {"driver": DRIVER, "volumeHandle": "v"}}))
    words = "claim default/shared is ReadWriteOnce, and its 2 pods would be on 2 nodes"
    assert [note.partition(":")[0] for note in fit(cluster, path).caveats] == [words]
    asked = ("simulate", write(tmp_path, *cluster), "-f", path)
    assert f"C{words[1:]}" in " ".join(run(*asked).stdout.split())
    assert run(*asked).exit_code == 0
    assert run(*asked, "--fail-on-pending").exit_code == 1
    assert 'failures="1"' in run(*asked, "-o", "junit").stdout


@pytest.mark.parametrize(
    ("strategy", "is_shared"), [("{type: Recreate}", False), ("{rollingUpdate: {maxSurge: 1}}", True)]
)
def test_a_rollout_whose_old_pod_holds_the_disk_has_a_note(tmp_path: Path, strategy: str, is_shared: bool):
    path = tmp_path / "web.yaml"
    path.write_text(SHARED.replace("replicas: 2", f"replicas: 1\n  strategy: {strategy}"))
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "nfs", "volumeName": "pv"}
    done = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "o", "controller": True}
    old = make_pod(
        "web-1-a",
        node="n1",
        labels={"app": "web", "pod-template-hash": "1"},
        requests={"cpu": "2"},
        metadata={"ownerReferences": [owner]},
        spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "shared"}}]},
    )
    volume = make_object("PersistentVolume", "pv", spec={"csi": {"driver": DRIVER, "volumeHandle": "v"}})
    claim = make_object("PersistentVolumeClaim", "shared", spec=spec, **done)
    answer = fit([*nodes("n1", "n2"), claim, volume, old], path)
    assert answer.rollouts
    assert any("its 2 pods would be on 2 nodes" in note for note in answer.caveats) is is_shared
    assert all(note.endswith("with strategy type: Recreate the old pod makes way first") for note in answer.caveats)
    file = write(tmp_path, *nodes("n1", "n2"), claim, volume, old)
    assert run("fit", file, "-f", path, "--fail-on-pending").exit_code == int(is_shared)
    said = run("fit", file, "-f", path).stdout.replace("\n", " ")
    assert ("1 of 1 would fit, but not all would start: claim default/shared is ReadWriteOnce" in said) is is_shared
    assert ('failures="1"' in run("fit", file, "-f", path, "-o", "junit").stdout) is is_shared
