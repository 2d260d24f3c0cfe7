"""Reads JSON as Go does: keys without regard to case, and the later one of two that are equal so."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

import msgspec

from kubesched.errors import ExtenderError
from kubesched.wire.protocol_values import Body, MetaPod, MetaVictims, Raw, Victims

T = TypeVar("T")

_LOW: Final = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPES: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}" + _LOW + rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.")
"""Escapes of JSON strings; the group is half of a pair of surrogates, for which Go takes U+FFFD."""

ANY: Final = msgspec.json.Decoder(Raw)
_VALUES: Final = json.JSONDecoder(parse_int=str)
NULL: Final = b"null"
OBJECT: Final = msgspec.json.Decoder(dict[str, Raw])
RAWS: Final = msgspec.json.Decoder(list[Raw] | None)
NAMES: Final = msgspec.json.Decoder(list[str])
TEXT: Final = msgspec.json.Decoder(str | None)
INT64: Final = msgspec.json.Decoder(Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | None)
_PAIRS: Final = json.JSONDecoder(object_pairs_hook=list, parse_int=str)  # keys count; int() refuses 5,000 digits
_ALIASES: Final = {"nodetovictims": "nodenametovictims"}  # the tagged type of v1.11 to v1.16 called it so


def fields_of(body: Body | Raw, what: str) -> dict[str, Raw]:
    """The values of an object by lower-case key; of keys that differ in case only, the last one counts, as in Go.

    Raises:
        ExtenderError: it is not a JSON object.
    """
    fields = decoded(OBJECT.decode, body, what, "a JSON object")
    values = {folded(key): value for key, value in fields.items()}
    if len(values) < len(fields):
        for key, _ in decoded(lambda raw: _PAIRS.decode(bytes(raw).decode()), body, what, "a JSON object"):
            values[folded(key)] = fields[key]
    return values


def first_value(body: Body) -> Body:
    """The first JSON value of a body: Go does not look at what follows.

    Raises:
        ExtenderError: there is none.
    """
    text = bytes(body).strip(b" \t\r\n")
    if not text:
        raise ExtenderError("EOF")
    try:
        text.decode()
    except UnicodeDecodeError:  # Go replaces what is not UTF-8
        text = text.decode("utf-8", "replace").encode()
    text = _ESCAPES.sub(_without_half_surrogate, text)
    try:
        ANY.decode(text)
    except (msgspec.DecodeError, RecursionError):
        characters = text.decode()
        try:
            _, end = _VALUES.raw_decode(characters)
        except (ValueError, RecursionError):
            return text  # who decodes it says what is wrong
        return characters[:end].encode()
    return text


def _without_half_surrogate(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape[1] else escape[0]


def folded(key: str) -> str:
    """A key without regard to case."""
    key = key.casefold()
    return _ALIASES.get(key, key)


def decoded(decode: Callable[[Any], T], raw: Any, what: str, allowed: str) -> T:
    """Decode a part of a body.

    Raises:
        ExtenderError: it is something else than what is allowed; `what` names it.
    """
    try:
        return decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, or json's own
        raise ExtenderError(f"{what}: {error}; expected {allowed}") from error


def victims_of(raw: Raw, where: str) -> Victims:
    """Read the victims of a node as whole pods.

    Raises:
        ExtenderError: it is something else.
    """
    if bytes(raw) == NULL:
        return Victims()
    fields = fields_of(raw, where)
    pods = decoded(RAWS.decode, fields.get("pods", Raw(NULL)), f"{where}.Pods", "a list of pods") or []
    return Victims(tuple(pods), _n_violations(fields, where))


def meta_victims_of(raw: Raw, where: str) -> MetaVictims:
    """Read the victims of a node by uid.

    Raises:
        ExtenderError: it is something else.
    """
    pods = []
    victims = victims_of(raw, where)
    for i, pod in enumerate(victims.pods):
        uid = fields_of(pod, f"{where}.Pods[{i}]").get("uid", Raw(NULL))
        pods.append(MetaPod(decoded(TEXT.decode, uid, f"{where}.Pods[{i}].UID", "a string") or ""))
    return MetaVictims(tuple(pods), victims.n_pdb_violations)


def _n_violations(fields: Mapping[str, Raw], where: str) -> int:
    raw = fields.get("numpdbviolations", Raw(NULL))
    return decoded(INT64.decode, raw, f"{where}.NumPDBViolations", "an int64") or 0
