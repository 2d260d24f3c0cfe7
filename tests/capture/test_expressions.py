"""Names in CEL expressions are replaced; the words of CEL stay there, and nowhere else."""

import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.capture import anonymize
from kubesched.capture.expressions import replaced_expression
from kubesched.capture.public_words import is_plain
from kubesched.snapshot import load_snapshot, only_read_fields, write_snapshot

ALL_CEL_WORDS = [
    *("device", "driver", "attributes", "capacity", "allowMultipleAllocations", "in", "has", "cel", "bind", "dyn"),
    *("type", "size", "orValue", "hasValue", "optMap", "int", "uint", "double", "bool", "string"),
    *("bytes", "list", "map", "duration", "timestamp", "all", "exists", "filter", "matches", "contains"),
    *("startsWith", "endsWith", "split", "join", "replace", "substring", "trim", "charAt", "indexOf", "format"),
    *(
        "lowerAscii",
        "upperAscii",
        "quantity",
        "isQuantity",
        "isInteger",
        "asInteger",
        "asApproximateFloat",
        "sign",
        "add",
        "sub",
    ),
    *("compareTo", "isGreaterThan", "isLessThan", "semver", "isSemver", "major", "minor", "patch", "sum", "min"),
    *("max", "find", "findAll", "sets", "intersects", "equivalent", "includes", "resource", "io", "pciBusID"),
    *("pcieRoot"),
]
SELECTOR = 'device.driver == "driver.patch.list" && device.attributes["driver.patch.list"].type == "sets-filter"'


def _object(version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def _class(expression: str) -> dict[str, Any]:
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return _object("resource.k8s.io/v1", "DeviceClass", "driver.patch.list", spec=spec)


def _anonymous(*documents: dict[str, Any], salt: str = "") -> list[dict[str, Any]]:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    replaced, _ = anonymize(only_read_fields(load_snapshot(io.StringIO(text))), salt)
    stream = io.BytesIO()
    write_snapshot(replaced, stream)
    items: list[dict[str, Any]] = json.loads(stream.getvalue())["items"]
    return items


def _expression(expression: str, *documents: dict[str, Any]) -> str:
    selected = _anonymous(_class(expression), *documents)[0]["spec"]["selectors"][0]
    text: str = selected["cel"]["expression"]
    return text


@pytest.mark.parametrize("salt", ["", "s"])
def test_words_of_cel_are_replaced_in_every_name(salt: str) -> None:
    nodes = [
        _object("v1", "Node", f"{word}-1", metadata={"labels": {f"{word}-x": word, f"{word}.com/{word}": word}})
        for word in ALL_CEL_WORDS
    ]
    pods = [_object("v1", "Pod", word, metadata={"namespace": word}) for word in ALL_CEL_WORDS]
    documents = _anonymous(_class(SELECTOR), *nodes, *pods, salt=salt)[1:]
    texts = [[one["metadata"][name] for name in ("name", "namespace") if name in one["metadata"]] for one in documents]
    labels = [list(one["metadata"].get("labels", {}).items()) for one in documents]
    left = set(re.findall(r"[A-Za-z]\w*", json.dumps([texts, labels])))
    assert not {word for word in ALL_CEL_WORDS if not is_plain(word)} & left
    assert not set(ALL_CEL_WORDS) & set(re.findall(r"[A-Za-z]\w*", json.dumps(texts)))


def test_a_name_in_an_expression_has_the_replacement_that_it_has_elsewhere() -> None:
    attributes = {"type": {"string": "sets-filter"}, "driver": {"string": "list"}, "driver.patch.list/size": {"int": 1}}
    spec = {
        "driver": "driver.patch.list",
        "nodeName": "n1",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "device-0", "attributes": attributes, "capacity": {"quantity": {"value": "80Gi"}}}],
    }
    expression = (
        'device.driver == "driver.patch.list" && device.attributes["driver.patch.list"].type == "sets-filter"'
        " && device.attributes['driver.patch.list'].driver.startsWith(\"list\")"
        ' && device.attributes["driver.patch.list"].?size.orValue(1) == 1'
        ' && device.capacity["driver.patch.list"].quantity.compareTo(quantity("40Gi")) >= 0'
    )
    made, piece = _anonymous(_class(expression), _object("resource.k8s.io/v1", "ResourceSlice", "s", spec=spec))
    name = piece["spec"]["driver"]
    (device,) = piece["spec"]["devices"]
    type_, driver, size = device["attributes"]
    (quantity,) = device["capacity"]
    assert made["metadata"]["name"] == name != "driver.patch.list"
    assert not {"type", "driver", "quantity", "device-0"} & {type_, driver, quantity, device["name"]}
    assert size.startswith(f"{name}/")
    assert made["spec"]["selectors"][0]["cel"]["expression"] == (
        f'device.driver == "{name}" && device.attributes["{name}"].{type_} == "{device["attributes"][type_]["string"]}"'
        f" && device.attributes['{name}'].{driver}.startsWith(\"{device['attributes'][driver]['string']}\")"
        f' && device.attributes["{name}"].?{size.removeprefix(name + "/")}.orValue(1) == 1'
        f' && device.capacity["{name}"].{quantity}.compareTo(quantity("40Gi")) >= 0'
    )


@pytest.mark.parametrize(
    "expression",
    [
        "// the driver of the patch list of acme, don't filter\ntrue",
        'device.driver in ["driver", "patch", "acme", "list"]',
        "device.driver == r'driver\\d patch'",
        'device.driver == """driver\npatch "list" acme"""',
        'device.driver == "driver \\" patch acme',
        "device.attributes['x'].patch && acme.list && device.attributes[\"x\"] . driver",
        'device.attributes["x"]["driver"] == "patch"',
    ],
)
def test_only_the_grammar_of_an_expression_stays(expression: str) -> None:
    left = re.findall(r"[^\W_]+", _expression(expression))
    kept = re.findall("true|device|attributes|driver(?= (?:in|==))|in(?= )|r(?=')", expression)
    assert [word for word in left if not re.fullmatch(r"x\d+", word)] == kept


@pytest.mark.parametrize(
    "expression",
    [
        'device.attributes["resource.kubernetes.io"].pcieRoot == "x0"',
        "[1, 2].exists_one(x0, x0 > 1.5)",
        'cel.bind(x0, device.driver, x0.matches("x0")) && has(device.attributes)',
        'semver("1.2.3").compareTo(semver("1.0.0")) > 0 && sets.contains([1], [2]) && type(1) == int',
    ],
)
def test_what_kubernetes_and_cel_define_stays_in_an_expression(expression: str) -> None:
    assert re.sub(r"\bx\d+", "x0", _expression(expression)) == expression


def test_numbers_stay_where_they_are_amounts_and_not_where_they_are_names() -> None:
    attributes = {"serial": {"string": "1234567"}, "version": {"version": "1.20.3"}}
    spec = {
        "driver": "disk-2.acme.com",
        "nodeName": "n1",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "d", "attributes": attributes}],
    }
    expression = (
        'device.driver == "disk-2.acme.com" && device.attributes["disk-2.acme.com"].serial != "1234567"'
        ' && device.attributes["disk-2.acme.com"].version.isGreaterThan(semver("1.9.0"))'
    )
    made, piece = _anonymous(_class(expression), _object("resource.k8s.io/v1", "ResourceSlice", "s", spec=spec))
    driver, found = piece["spec"]["driver"], piece["spec"]["devices"][0]["attributes"]
    (serial, number), (version, _) = found.items()
    assert "1234567" not in json.dumps([made, piece])
    assert found[version] == {"version": "1.20.3"}
    assert made["spec"]["selectors"][0]["cel"]["expression"] == (
        f'device.driver == "{driver}" && device.attributes["{driver}"].{serial} != "{number["string"]}"'
        f' && device.attributes["{driver}"].{version}.isGreaterThan(semver("1.9.0"))'
    )


@given(
    st.lists(st.sampled_from([*"\"'\\.?()[]{}/\n 7_r", "acme", "driver", "device", "quantity(", "attributes", '"""']))
)
def test_no_text_makes_a_name_stay(pieces: list[str]) -> None:
    replaced = replaced_expression("".join(pieces), lambda text: re.sub(r"[^\W_]+", "x0", text))
    assert "acme" not in replaced
    assert re.sub(r"\w+", "", replaced) == re.sub(r"\w+", "", "".join(pieces))
