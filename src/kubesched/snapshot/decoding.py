"""One object from its JSON, with the forgiveness of Kubernetes (null is absent) and errors that name the field."""

from typing import Any, Final

import msgspec

from kubesched.api import KubeObject, decode_object
from kubesched.errors import ObjectError
from kubesched.snapshot.documents import RawJson
from kubesched.snapshot.faults import describe_fault, first_null

__all__ = ["decode_known", "name_in"]

_MAX_NULLS: Final = 100


def decode_known(kind: str, raw: RawJson) -> KubeObject:
    """Decode an object of a kind in KINDS.

    Raises:
        ObjectError: the message begins with the field.
    """
    for _ in range(_MAX_NULLS):
        try:
            return decode_object(kind, raw)
        except UnicodeDecodeError as error:
            raise ObjectError(describe_fault(error, b"")) from error
        except ObjectError as error:
            cause = error.__cause__
            if cause is None:
                raise ObjectError(str(error).removeprefix(f"{kind}: ")) from None
            path = first_null(cause)
            if not path:
                raise ObjectError(describe_fault(cause, bytes(raw))) from cause
            raw = _without(bytes(raw), path)
    raise ObjectError(f"more than {_MAX_NULLS} fields are null")


def _without(raw: bytes, path: str) -> bytes:
    """The JSON without the null field at a path; Go's decoder takes such a field as absent."""
    document = msgspec.json.decode(raw)
    *steps, last = path.replace("[", ".").replace("]", "").split(".")
    holder: Any = document
    for step in steps:
        holder = holder[int(step)] if isinstance(holder, list) else holder[step]
    if isinstance(holder, list):
        raise ObjectError(f"{path}: found null; allowed is a value")
    del holder[last]
    return msgspec.json.encode(document)


class _Named(msgspec.Struct):
    metadata: Any = None


def name_in(raw: RawJson) -> str:
    """`namespace/name` as far as broken JSON lets it be known, else empty."""
    try:
        metadata = msgspec.json.decode(raw, type=_Named).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    if not isinstance(metadata, dict):
        return ""
    parts = (metadata.get("namespace"), metadata.get("name"))
    return "/".join(part for part in parts if isinstance(part, str) and part)
