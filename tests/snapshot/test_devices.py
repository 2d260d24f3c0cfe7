"""A snapshot keeps of claims and devices what decides about an allocation, and no parameters of drivers."""

import copy
import io
import json
from typing import Any

import pytest

from kubesched.api import decode_object
from kubesched.snapshot import ClusterObjects, load_snapshot, only_read_fields, write_snapshot
from tests.dra_objects import DRA_OBJECTS, SECRET

NEVER_KEPT = ("config", "data", "networkData", "note")


def kept(document: dict[str, Any]) -> dict[str, Any]:
    known = decode_object(document["kind"], json.dumps(document).encode())
    stream = io.BytesIO()
    write_snapshot(only_read_fields(ClusterObjects((known,))), stream, strip=True)
    (item,) = json.loads(stream.getvalue())["items"]
    return item


def without(value: Any) -> Any:
    """A document without parameters of drivers."""
    if isinstance(value, dict):
        return {key: without(one) for key, one in value.items() if key not in NEVER_KEPT}
    return [without(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("document", DRA_OBJECTS, ids=lambda document: document["kind"])
def test_everything_but_the_parameters_of_drivers_is_written_and_read_back(document: dict[str, Any]) -> None:
    written = kept(document)
    assert written == without(document)
    assert SECRET not in json.dumps(written)
    assert kept(written) == written


@pytest.mark.parametrize("document", DRA_OBJECTS, ids=lambda document: document["kind"])
def test_unknown_fields_and_nulls_are_no_faults(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    changed["spec"] |= {"newField": {"a": [1]}, "selectors": None, "devices": changed["spec"].get("devices")}
    (known,) = load_snapshot(io.StringIO(json.dumps(changed))).objects
    assert known.name == document["metadata"]["name"]
