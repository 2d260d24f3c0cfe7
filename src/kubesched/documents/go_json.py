"""Decodes JSON into structs as Kubernetes does (null is absent), with errors that name the field."""

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from kubesched.documents.faults import describe_json_fault, null_field
from kubesched.documents.nesting import RawJson, decode_nested, without_depths
from kubesched.errors import ObjectError

T = TypeVar("T")

_MAX_NULLS: Final = 100
_OUT_OF_RANGE: Final = "Integer value out of range"
_LONG_INTEGER: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{401,}(?![\d.eE])')


def decode_forgiving(decode: Callable[[RawJson], T], raw: RawJson) -> tuple[T, RawJson]:
    """Decode JSON, and take fields that are null where a value is due as absent, as Go's decoder does. What is too
    deep to be read is null, too. Where an integer has too many digits, those of more than 400 become text, as where
    YAML is read: each may be a quantity.

    Returns: the value, and the JSON without such fields.
    Raises:
        ObjectError: the message begins with the field.
    """
    for _ in range(_MAX_NULLS):
        try:
            return decode(raw), raw
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            quoted = _LONG_INTEGER.sub(_quoted, bytes(raw)) if _OUT_OF_RANGE in str(error) else b""
            raw = quoted if quoted and quoted != bytes(raw) else _without_null(raw, error)
        except RecursionError:
            raw = without_depths(raw)
    raise ObjectError(f"more than {_MAX_NULLS} fields are null")


def _quoted(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else b'"%b"' % found[0]


def _without_null(raw: RawJson, error: msgspec.DecodeError | UnicodeDecodeError) -> bytes:
    """The JSON without the null field that a decoder refused.

    Raises:
        ObjectError: the decoder refused something else.
    """
    path = null_field(error)
    if not path:
        raise ObjectError(str(describe_json_fault(error, bytes(raw)))) from error
    try:
        document: Any = decode_nested(msgspec.json.decode, raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as worse:  # where the first decoder did not look
        raise ObjectError(str(describe_json_fault(worse, bytes(raw)))) from worse
    *steps, last = path.replace("[", ".").replace("]", "").split(".")
    holder: Any = document
    try:
        for step in steps:
            holder = holder[int(step)] if isinstance(holder, list) else holder[step]
        if isinstance(holder, list):
            raise ObjectError(f"{path}: expected a value, found null") from error
        del holder[last]
    except (LookupError, TypeError):  # under a key that comes again, with another value
        raise ObjectError(str(describe_json_fault(error, bytes(raw)))) from error
    return msgspec.json.encode(document)
