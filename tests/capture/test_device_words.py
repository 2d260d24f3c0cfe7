"""Names of devices are replaced, and what expressions and constraints compare stays, and only there."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.devices.saved import document_of, faults, saved
from campaigns.oracle.compare import read_case
from kubesched.capture import anonymize
from kubesched.capture.device_words import without_comments
from kubesched.snapshot import load_snapshot, only_read_fields
from tests.dra_objects import CLASS, DRA_OBJECTS, DRIVER
from tests.golden.test_device_cases import CASES
from tests.trials import one_in

SELECTOR = 'device.driver == "gpu.acme.com" && device.attributes["gpu.acme.com"].team.startsWith("payments")'


def thing(kind: str, name: str, version: str = "resource.k8s.io/v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **fields.pop("metadata", {})}, **fields}


def selecting(expression: str, name: str = "gpu") -> dict[str, Any]:
    return thing("DeviceClass", name, spec={"selectors": [{"cel": {"expression": expression}}]})


def piece(name: str, pool: str, *devices: dict[str, Any], driver: str = "gpu.acme.com", count: int = 1) -> dict:
    where = {"name": pool, "generation": 1, "resourceSliceCount": count}
    return thing("ResourceSlice", name, spec={"driver": driver, "allNodes": True, "pool": where, "devices": [*devices]})


def anonymous(*documents: dict[str, Any], salt: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    replaced, _, stays = anonymize(only_read_fields(load_snapshot(io.StringIO(text))), salt)
    items: list[dict[str, Any]] = document_of(replaced)["items"]
    return items, stays


@pytest.mark.parametrize("path", one_in(8, CASES), ids=lambda path: path.name.removesuffix(".json.gz"))
def test_the_file_of_a_case_is_decided_as_recorded_also_with_other_names(path: Path) -> None:
    """`python -m campaigns.devices.saved` decides all cases."""
    assert list(faults(read_case(path))) == []


@pytest.mark.parametrize("salt", ["", "s"])
def test_an_expression_stays_with_the_attributes_that_it_reads_and_the_others_are_replaced(salt: str) -> None:
    attributes = {
        "team": {"string": "payments-east"},
        "uuid": {"string": "GPU-acme-1"},
        "gpu.acme.com/pciBusID": {"string": "0000:0f:00.0"},
        "serial": {"version": "1.2.3-acme"},
    }
    team = thing("Namespace", "payments", "v1")
    (made, found, namespace), stays = anonymous(
        selecting(SELECTOR), piece("acme-1", "acme-pool", {"name": "acme-0", "attributes": attributes}), team, salt=salt
    )
    assert made["spec"]["selectors"][0]["cel"]["expression"] == SELECTOR
    (device,) = found["spec"]["devices"]
    assert device["attributes"]["team"] == {"string": "payments-east"}
    assert found["spec"]["driver"] == "gpu.acme.com"
    assert stays == ["gpu.acme.com", "payments", "payments-east", "team"]
    assert "payments" not in json.dumps(namespace), "it stays nowhere else"
    of_devices = json.dumps(device["attributes"]).replace("gpu.acme.com", "")
    assert not re.search("uuid|acme|0f|serial", of_devices)
    assert not re.search("acme", json.dumps([found["metadata"], found["spec"]["pool"], device["name"]]))


def test_what_a_constraint_compares_stays() -> None:
    spec = {"devices": {"constraints": [{"matchAttribute": "gpu.acme.com/rack"}]}}
    attributes = {"rack": {"string": "r-17"}, "shelf": {"string": "r-17"}}
    (claim, found), stays = anonymous(
        thing("ResourceClaim", "c", spec=spec), piece("s", "p", {"name": "d", "attributes": attributes})
    )
    assert claim["spec"] == spec
    kept, replaced = found["spec"]["devices"][0]["attributes"].items()
    assert kept == ("rack", {"string": "r-17"})
    assert "shelf" not in replaced
    assert replaced[1]["string"] != "r-17"
    assert stays == ["gpu.acme.com", "r-17", "rack"]


def test_all_attributes_stay_where_an_expression_reads_them_all() -> None:
    attributes = {"uuid": {"string": "GPU-1"}}
    (_, found), stays = anonymous(
        selecting('device.attributes["gpu.acme.com"].exists(name, name == "uuid")'),
        piece("s", "p", {"name": "d", "attributes": attributes}),
    )
    assert found["spec"]["devices"][0]["attributes"] == attributes
    assert "GPU-1" in stays


def test_an_expression_that_does_not_compile_stays() -> None:
    (made, found), _ = anonymous(selecting("device.drivr =="), piece("s", "p", {"name": "d"}))
    assert made["spec"]["selectors"][0]["cel"]["expression"] == "device.drivr =="
    assert found["spec"]["pool"]["name"] == "resourcepool-1"


def test_classes_slices_and_pools_keep_the_order_of_their_names() -> None:
    """Whatever else has their names, and whatever words they have."""
    names = ["default-a", "acme", "node-b", "gpu", "zebra", "acme-1", "kube-x"]
    classes = [selecting("true", name) for name in names]
    slices = [piece(name, name, {"name": "d"}) for name in names]
    nodes = [thing("Node", name, "v1") for name in names]
    items, _ = anonymous(*classes, *slices, *nodes)
    order = sorted(range(len(names)), key=names.__getitem__)
    new = [item["metadata"]["name"] for item in items]
    pools = [item["spec"]["pool"]["name"] for item in items[7:14]]
    for renamed in (new[:7], new[7:14], pools):
        assert sorted(range(len(names)), key=renamed.__getitem__) == order
    assert new[14:] == [f"node-{i}" for i in (3, 1, 6, 4, 7, 2, 5)], "nodes have names of their own"


@pytest.mark.parametrize("salt", ["", "s"])
def test_claims_and_devices_still_belong_together_under_other_names(salt: str) -> None:
    (device_class, found, claim, template, pod), stays = anonymous(*DRA_OBJECTS, salt=salt)
    written = json.dumps([device_class, found, claim, template, pod]).replace(DRIVER, "")
    for word in ("acme", "n1", "slots", "bandwidth", "big", "0f", "train-"):
        assert word not in written
    assert stays == ["40Gi", "AX100-80GB", DRIVER, "memory", "model", "numa", "x"]
    device = found["spec"]["devices"][0]
    results = claim["status"]["allocation"]["devices"]["results"]
    assert device_class["spec"]["selectors"] == CLASS["spec"]["selectors"]
    (request, others) = claim["spec"]["devices"]["requests"]
    assert request["exactly"]["capacity"]["requests"] == {"memory": "10Gi"} == results[0]["consumedCapacity"]
    assert "resource.kubernetes.io/pcieRoot" in device["attributes"]
    assert request["exactly"]["deviceClassName"] == device_class["metadata"]["name"]
    assert results[0]["request"] == f"{others['name']}/{others['firstAvailable'][0]['name']}"
    assert claim["spec"]["devices"]["constraints"][0]["requests"] == [request["name"]]
    assert (results[0]["pool"], results[0]["device"]) == (found["spec"]["pool"]["name"], device["name"])
    assert results[0]["bindingConditions"] == [claim["status"]["devices"][0]["conditions"][0]["type"]]
    assert claim["status"]["reservedFor"][0] == {
        "resource": "pods",
        "name": pod["metadata"]["name"],
        "uid": pod["metadata"]["uid"],
    }
    asked = pod["spec"]["containers"][0]["resources"]["requests"]
    mapping = pod["status"]["extendedResourceClaimStatus"]["requestMappings"][0]
    assert asked == {device_class["spec"]["extendedResourceName"]: "1"} == {mapping["resourceName"]: "1"}
    assert mapping["requestName"] == "container-0-request-0", "Kubernetes defines it"
    assert pod["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] == template["metadata"]["name"]
    assert pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"] == claim["metadata"]["name"]


def test_names_of_claims_say_what_they_name() -> None:
    uses = {"resourceClaims": [{"name": "a", "resourceClaimName": "cold"}, {"name": "b", "resourceClaimName": "gone"}]}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "train", "uid": "u", "controller": True}
    made = thing("ResourceClaim", "train-gpu-abcde", metadata={"ownerReferences": [owner]})
    template = thing("ResourceClaimTemplate", "tmpl")
    (pod, own, of_pod, tmpl), _ = anonymous(
        thing("Pod", "train", "v1", spec=uses), thing("ResourceClaim", "cold"), made, template
    )
    assert pod["metadata"]["name"] == "pod-1"
    assert [one["resourceClaimName"] for one in pod["spec"]["resourceClaims"]] == ["claim-1", "claim-2"]
    assert own["metadata"]["name"] == "claim-1"
    assert of_pod["metadata"]["name"].startswith("pod-1-")
    assert tmpl["metadata"]["name"] == "template-1"


# --- comments ---


def test_words_of_comments_are_replaced() -> None:
    text = 'device.driver != "http://acme" // acme, don\'t "filter" // acme\n&& true // acme'
    assert without_comments(text, lambda _: "x0") == (
        'device.driver != "http://acme" // x0, x0\'x0 "x0" // x0\n&& true // x0'
    )


@given(st.lists(st.sampled_from([*"\"'\\.?()[]{}/\n 7_r", "//", "acme", "driver", "device", "quantity(", '"""'])))
def test_no_text_is_changed_outside_of_comments(pieces: list[str]) -> None:
    text = "".join(pieces)
    replaced = without_comments(text, lambda _: "x0")
    assert re.sub(r"\w+", "", replaced) == re.sub(r"\w+", "", text)
    before_comments = text.partition("//")[0]
    assert replaced.startswith(before_comments)


# --- nothing private is left ---


def private_names(document: dict[str, Any]) -> Iterator[str]:
    """What somebody chose for the objects of a case, apart from what expressions compare."""
    for item in document["items"]:
        yield item["metadata"]["name"]
        yield item["metadata"].get("uid", "")
        spec = item.get("spec") or {}
        yield (spec.get("pool") or {}).get("name", "")
        for device in (spec.get("devices") if item["kind"] == "ResourceSlice" else None) or ():
            yield device["name"]
            yield from (one.get("string", "") for one in (device.get("attributes") or {}).values())
            yield from (one["counterSet"] for one in device.get("consumesCounters") or ())
        yield from (one.get("name", "") for one in spec.get("resourceClaims") or ())


@pytest.mark.parametrize("path", one_in(6, CASES), ids=lambda path: path.name.removesuffix(".json.gz"))
@pytest.mark.parametrize("salt", ["", "s"])
def test_no_name_of_a_case_is_left(path: Path, salt: str) -> None:
    case = read_case(path)
    replaced, table, stays = anonymize(saved(case), salt)
    texts = set(all_texts(document_of(replaced)))
    kept = {*stays, "", "default", "gpu"}  # a namespace, and a plain word of an extended resource
    names = set(private_names(case["snapshot"])) - kept - table.keys()
    assert len(names) > 50
    assert names & texts == set()


def all_texts(value: Any) -> Iterator[str]:
    """Every text and key, and the parts between slashes."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from (key, *key.split("/"))
            yield from all_texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from all_texts(one)
    elif isinstance(value, str):
        yield from (value, *value.split("/"))
