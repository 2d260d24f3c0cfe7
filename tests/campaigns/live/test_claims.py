"""What the campaign `live` judges claims by: a difference has to show, and what only looks different has not."""

from typing import Any

from campaigns.live.claims import are_missing, facts
from campaigns.live.device_play import written

UID = {"uid": "1"}
Document = dict[str, Any]


def claim(device: str = "gpu-0", owner: str = "1", **metadata: Any) -> Document:
    result = {"request": "r", "driver": "d", "pool": "n1", "device": device, "shareID": f"random {device}"}
    allocation = {"devices": {"results": [result]}, "allocationTimestamp": "2026-01-01T00:00:00Z"}
    owners = [{"name": "a", "uid": owner}]
    status = {"allocation": allocation, "reservedFor": [{"name": "a", "uid": owner}]}
    return {"metadata": {"ownerReferences": owners, **metadata}, "spec": {"devices": {}}, "status": status}


def pod(*statuses: Document, template: str = "one") -> Document:
    entry = {"name": "t", "resourceClaimTemplateName": template}
    return {
        "metadata": {"name": "a", **UID},
        "spec": {"resourceClaims": [entry]},
        "status": {"resourceClaimStatuses": list(statuses)},
    }


def test_another_device_is_another_fact_and_another_random_name_is_not() -> None:
    ours = facts({"a-extended-resources-x8k2z": claim()}, [])
    assert ours == facts({"a-extended-resources-99999": claim(owner="2")}, [])
    assert ours != facts({"a-extended-resources-99999": claim("gpu-1")}, [])
    assert ours != facts({}, [])


def test_a_pod_is_not_waited_for_while_a_claim_of_it_is_missing() -> None:
    made = {"name": "t", "resourceClaimName": "a-t"}
    assert are_missing(pod(), {"a-t": claim()})
    assert are_missing(pod(made), {})
    assert are_missing(pod(made), {"a-t": claim(owner="2")})
    assert are_missing(pod(made), {"a-t": claim(deletionTimestamp="2026-01-01T00:00:00Z")})
    assert not are_missing(pod(made), {"a-t": claim()})


def entry(verb: str, part: str, body: Document, name: str = "c", code: int = 200) -> Document:
    target = {"resource": "resourceclaims", "name": name, "subresource": part}
    return {"verb": verb, "objectRef": target, "requestObject": body, "responseStatus": {"code": code}}


def test_writes_are_told_apart_by_what_they_say_and_what_came_of_them() -> None:
    freed = entry("update", "status", {"status": {}})
    reserved = entry("update", "status", {"status": {"allocation": {"devices": {}}, "reservedFor": [{"name": "a"}]}})
    assert written([reserved, freed], {"c": {"a"}}) != written([freed, reserved], {"c": {"a"}})
    assert written([freed], {"c": {"a"}}) != written(
        [entry("update", "status", {"status": {}}, code=409)], {"c": {"a"}}
    )
    assert written([freed, reserved, entry("update", "", {}, "other")], {"c": {"a"}}).keys() == {"a", "other"}
