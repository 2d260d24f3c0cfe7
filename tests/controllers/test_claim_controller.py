from kubesched.api import EventType, Pod, ResourceClaim, WatchEvent, Workload
from kubesched.controllers import further_pods, left_claims, replacement_of
from kubesched.session import Session
from kubesched.testing import make_node, make_object, make_pod

DEVICES = {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}
RESULT = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}
ALLOCATION = {"devices": {"results": [RESULT]}}


def user(name):
    return {"resource": "pods", "name": name, "uid": f"uid-{name}"}


def claim(name, *users, owner=""):
    reference = {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": f"uid-{owner}", "controller": True}
    status = {"allocation": ALLOCATION, "reservedFor": [user(one) for one in users]} if users else {}
    metadata = {"ownerReferences": [reference]} if owner else {}
    return make_object("ResourceClaim", name, metadata=metadata, spec={"devices": DEVICES}, status=status)


def pod(name="train", *, shared="", made=True, node="n1", extended=""):
    entries = [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]
    entries += [{"name": "shared", "resourceClaimName": shared}] if shared else []
    statuses = [{"name": "gpu", "resourceClaimName": f"{name}-gpu-abcde"} if made else {"name": "gpu"}]
    status = {"resourceClaimStatuses": statuses}
    if extended:
        status["extendedResourceClaimStatus"] = {"resourceClaimName": extended}
    metadata = {"uid": f"uid-{name}"}
    return make_pod(name, node=node, metadata=metadata, spec={"resourceClaims": entries}, status=status)


def finding(*objects):
    return lambda kind, key: next((one for one in objects if (type(one).__name__, one.key) == (kind, key)), None)


def test_the_claim_of_a_template_goes_with_its_pod():
    own = claim("train-gpu-abcde", "train", owner="train")
    assert list(left_claims(pod(), finding(own))) == [WatchEvent(EventType.DELETED, "ResourceClaim", own)]


def test_a_shared_claim_keeps_its_devices_until_the_last_pod_has_gone():
    shared = claim("pool", "train", "other")
    (event,) = left_claims(pod(shared="pool"), finding(shared))
    after = event.object
    assert event.type is EventType.MODIFIED
    assert [one.name for one in after.status.reserved_for] == ["other"]
    assert after.status.allocation == shared.status.allocation
    (event,) = left_claims(pod("other", shared="pool"), finding(after))
    last = event.object
    assert last.status.allocation is None
    assert not last.status.reserved_for
    assert "allocation" not in last.document.get("status", {})


def test_a_claim_that_the_pod_never_reserved_stays_as_it_is():
    assert not list(left_claims(pod(shared="pool"), finding(claim("pool", "other"), claim("train-gpu-abcde"))))
    assert not list(left_claims(pod(made=False), finding()))


def test_the_claim_of_extended_resources_goes_with_its_pod():
    special = claim("train-extended-resources-x", "train", owner="train")
    found = pod(extended="train-extended-resources-x")
    assert [event.object for event in left_claims(found, finding(special))] == [special]


def test_the_pod_that_comes_instead_has_a_claim_of_its_own_without_devices():
    own = claim("train-gpu-abcde", "train", owner="train")
    made, gone = replacement_of(pod(), finding(own))
    fresh, new = made
    assert isinstance(fresh, ResourceClaim)
    assert isinstance(new, Pod)
    assert (fresh.name, fresh.status.allocation, fresh.spec) == (own.name, None, own.spec)
    assert fresh.metadata.controller.uid == new.uid
    assert new.status.resource_claim_statuses[0].resource_claim_name == fresh.name
    assert new.status.extended_resource_claim_status is None
    assert [one.name for one in gone] == ["train"]


def test_each_further_replica_has_a_claim_of_its_own():
    own = claim("train-gpu-abcde", "train", owner="train")
    added = further_pods(Workload("Deployment", "default", "train"), [pod()], [pod(), own])
    claims, pods = zip(*[(next(added), next(added)) for _ in range(2)], strict=True)
    assert len({one.name for one in claims}) == 2
    for one, owner in zip(claims, pods, strict=True):
        assert one.metadata.controller.uid == owner.uid
        assert owner.status.resource_claim_statuses[0].resource_claim_name == one.name


def test_a_session_takes_the_devices_of_pods_that_go_back_and_forgets_that_with_the_fork():
    own, shared = claim("train-gpu-abcde", "train", owner="train"), claim("pool", "train")
    running = pod(shared="pool")
    with Session([make_node("n1"), running, own, shared]) as session:
        with session.fork():
            session.change(gone=[running])
            assert session.get("ResourceClaim", own.key) is None
            assert session.get("ResourceClaim", shared.key).status.allocation is None
        assert session.get("ResourceClaim", own.key) == own
        assert session.get("ResourceClaim", shared.key).status.allocation is not None
