"""Which objects change when pods are placed again."""

from kubesched.api import KubeObject, Pod, ResourceClaim, VolumeAttachment
from kubesched.comparison.placed_again import parse_pod_choice, placed_again
from kubesched.testing import make_node, make_object, make_pod
from tests.comparison.small_clusters import owned
from tests.device_cluster import device_cluster


def claim(name: str) -> KubeObject:
    return make_object("PersistentVolumeClaim", name, spec={"volumeName": f"pv-{name}"}, status={"phase": "Bound"})


def attached(name: str, node: str) -> KubeObject:
    source = {"persistentVolumeName": f"pv-{name}"}
    return make_object(
        "VolumeAttachment", f"{name}-{node}", spec={"attacher": "ebs", "nodeName": node, "source": source}
    )


def using(pod: str, *claims: str, **said) -> Pod:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return make_pod(pod, spec={"volumes": volumes}, **said)


def after(*objects: KubeObject) -> list[KubeObject]:
    return placed_again(objects, parse_pod_choice("all"), ["default-scheduler"])


def attachments(objects: list[KubeObject]) -> set[str]:
    return {one.name for one in objects if isinstance(one, VolumeAttachment)}


def test_the_volumes_of_a_pod_that_leaves_its_node_are_detached():
    job = {"metadata": owned("Job", "j")}
    objects = after(
        make_node("n0"),
        make_node("n1"),
        using("db", "data", node="n0", **job),
        using("bare", "kept", node="n0"),
        *(claim(name) for name in ("data", "kept", "other")),
        *(attached(name, "n0") for name in ("data", "kept", "other")),
        attached("data", "n1"),
    )
    assert attachments(objects) == {"kept-n0", "other-n0", "data-n1"}


def test_the_volume_of_an_unknown_claim_does_not_detach_inline_volumes():
    inline = make_object("VolumeAttachment", "inline", spec={"attacher": "ebs", "nodeName": "n0", "source": {}})
    db = using("db", "unknown", node="n0", metadata=owned("Job", "j"))
    assert attachments(after(make_node("n0"), db, inline)) == {"inline"}


def test_a_volume_that_a_pod_on_the_node_still_uses_stays_attached():
    job = {"metadata": owned("Job", "j")}
    shared = [using("goes", "data", node="n0", **job), using("stays", "data", node="n0")]
    assert attachments(after(make_node("n0"), *shared, claim("data"), attached("data", "n0"))) == {"data-n0"}


def test_the_claim_of_an_ephemeral_volume_has_the_names_of_pod_and_volume():
    pod = make_pod("db", node="n0", spec={"volumes": [{"name": "tmp", "ephemeral": {}}]}, metadata=owned("Job", "j"))
    assert attachments(after(make_node("n0"), pod, claim("db-tmp"), attached("db-tmp", "n0"))) == set()


def test_pending_changes_nothing():
    objects = [make_node("n0"), using("db", "data", node="n0", metadata=owned("Job", "j")), attached("data", "n0")]
    assert placed_again(objects, parse_pod_choice("pending"), ["default-scheduler"]) == objects


def test_pods_with_claims_give_their_devices_back():
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "w", "controller": True}
    plain = make_pod("plain", node="dra-1", metadata={"ownerReferences": [owner]})
    objects = [*device_cluster(), plain]
    again = placed_again(objects, parse_pod_choice("all"), ["default-scheduler"], staying=("default/on-dra-1",))
    pending = {one.name for one in again if isinstance(one, Pod) and not one.node_name}
    assert pending == {"plain", "on-plugin", "on-dra-2", "on-dra-3"}
    assert [one.name for one in again if isinstance(one, ResourceClaim)] == ["on-dra-1-extended-resources-abcde"]
