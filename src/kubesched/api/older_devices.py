"""ResourceSlices and claims of resource.k8s.io/v1beta1, where some fields are elsewhere.

They become those of v1, as an API server converts them.

Rule: Kubernetes v1.32 and later, resource.k8s.io/v1beta1: a device has its fields in `basic`, and a request that has no
`firstAvailable` has those of `exactly` itself.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from kubesched.documents import RawJson, decode_nested

_VERSION: Final = "resource.k8s.io/v1beta1"
_EXACTLY: Final = frozenset(
    ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
)
_JSON: Final[Callable[[RawJson], Any]] = msgspec.json.Decoder().decode
_Document = dict[str, Any]


def as_v1(kind: str, api_version: str, raw: RawJson) -> RawJson:
    """The JSON of an object with the fields of v1; that of other kinds and versions, and what is broken, as it is.

    Example:
        raw = b'{"spec": {"devices": [{"name": "gpu-0", "basic": {"allNodes": true}}]}}'
        converted = as_v1("ResourceSlice", "resource.k8s.io/v1beta1", raw)
        assert b'"devices":[{"name":"gpu-0","allNodes":true}]' in converted
    """
    move = _MOVES.get(kind)
    if move is None or api_version != _VERSION:
        return raw
    try:
        document = decode_nested(_JSON, raw)
    except msgspec.DecodeError:
        return raw  # decode_object says what is wrong
    if not isinstance(document, dict):
        return raw
    move(_inner(document, "spec"))
    return msgspec.json.encode(document | {"apiVersion": "resource.k8s.io/v1"})


def _slice(spec: _Document) -> None:
    for device in _objects(spec.get("devices")):
        if isinstance(device.get("basic"), dict):
            device.update(device.pop("basic"))


def _claim(spec: _Document) -> None:
    for request in _objects(_inner(spec, "devices").get("requests")):
        if not request.get("firstAvailable") and "exactly" not in request:
            request["exactly"] = {name: request.pop(name) for name in sorted(_EXACTLY & request.keys())}


def _template(spec: _Document) -> None:
    _claim(_inner(spec, "spec"))


_MOVES: Final = {"ResourceSlice": _slice, "ResourceClaim": _claim, "ResourceClaimTemplate": _template}


def _inner(document: _Document, name: str) -> _Document:
    inner = document.get(name)
    return inner if isinstance(inner, dict) else {}


def _objects(entries: object) -> list[_Document]:
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
