"""One object from its JSON, with the forgiveness of Kubernetes (null is absent) and errors that name the field."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from kubesched.api import KubeObject, decode_object
from kubesched.errors import ObjectError
from kubesched.snapshot.documents import RawJson
from kubesched.snapshot.faults import describe_fault, first_null

__all__ = ["decode_forgiving", "decode_known", "name_in"]

T = TypeVar("T")

_MAX_NULLS: Final = 100


def decode_known(kind: str, raw: RawJson) -> KubeObject:
    """Decode an object of a kind in KINDS.

    Raises:
        ObjectError: the message begins with the field.
    """
    return decode_forgiving(lambda json: decode_object(kind, json), raw)[0]


def decode_forgiving(decode: Callable[[RawJson], T], raw: RawJson) -> tuple[T, RawJson]:
    """Decode JSON, and take fields that are null where a value is due as absent, as Go's decoder does.

    Returns: the value, and the JSON without such fields.
    Raises:
        ObjectError: the message begins with the field.
    """
    for _ in range(_MAX_NULLS):
        try:
            return decode(raw), raw
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raw = _without_null(raw, error)
        except ObjectError as error:
            if error.__cause__ is None:
                raise ObjectError(str(error).partition(": ")[2]) from None
            raw = _without_null(raw, error.__cause__)
    raise ObjectError(f"more than {_MAX_NULLS} fields are null")


def _without_null(raw: RawJson, error: BaseException) -> bytes:
    """The JSON without the null field that a decoder refused.

    Raises:
        ObjectError: the decoder refused something else.
    """
    path = first_null(error)
    if not path:
        raise ObjectError(describe_fault(error, bytes(raw))) from error
    try:
        document = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as worse:  # where the first decoder did not look
        raise ObjectError(describe_fault(worse, bytes(raw))) from worse
    *steps, last = path.replace("[", ".").replace("]", "").split(".")
    holder: Any = document
    try:
        for step in steps:
            holder = holder[int(step)] if isinstance(holder, list) else holder[step]
        if isinstance(holder, list):
            raise ObjectError(f"{path}: found null; allowed is a value") from error
        del holder[last]
    except (LookupError, TypeError):  # under a key that comes again, with another value
        raise ObjectError(describe_fault(error, bytes(raw))) from error
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
