"""What a session changes of an object keeps the fields that kubesched does not decode."""

import msgspec

from kubesched.api import KubeObject, PersistentVolume, PersistentVolumeClaim, Pod, decode_object
from kubesched.session import Session
from kubesched.setup import set_up
from kubesched.testing import make_node, make_object

CLASS = make_object(
    "StorageClass", "slow", provisioner="csi.example.com", volumeBindingMode="WaitForFirstConsumer", parameters={}
)


def read(kind: str, **document: object) -> KubeObject:
    return decode_object(kind, msgspec.json.encode(document))


def test_a_claim_that_is_bound_and_a_pod_that_is_placed_keep_their_other_fields():
    claim = read(
        "PersistentVolumeClaim",
        metadata={"name": "data", "namespace": "default", "uid": "c", "finalizers": ["kubernetes.io/pvc-protection"]},
        spec={
            "storageClassName": "slow",
            "volumeAttributesClassName": "gold",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        status={"phase": "Pending"},
    )
    pod = read(
        "Pod",
        metadata={"name": "db", "namespace": "default", "uid": "p"},
        spec={
            "dnsPolicy": "ClusterFirst",
            "containers": [{"name": "c", "image": "i", "command": ["run"]}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        },
    )
    session = Session([make_node("n1"), CLASS, claim, pod], set_up())
    session.schedule()
    after = {type(known): known for known in session.objects()}
    session.close()
    placed, bound = after[Pod].document, after[PersistentVolumeClaim]
    assert (placed["spec"]["nodeName"], placed["spec"]["containers"][0]["command"]) == ("n1", ["run"])
    assert after[PersistentVolume].spec.volume_attributes_class_name == "gold"
    assert bound.document["spec"]["volumeName"].startswith("pvc-")
    assert bound.document["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
