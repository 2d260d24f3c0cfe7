"""Writes and reads the answers of the extender protocol.

Rule for reading: kube-scheduler v1.36 HTTPExtender. Only the first JSON value counts, unknown keys are ignored, and
null is the empty answer. An answer that is not valid is an error in the words of Go's JSON decoder.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Final, TypeVar

import msgspec

from kubesched.errors import ExtenderError
from kubesched.wire.go_types import (
    BINDING_RESULT,
    FILTER_RESULT,
    HOST_PRIORITIES,
    NODE,
    PREEMPTION_RESULT,
    GoType,
    go_error,
)
from kubesched.wire.protocol_values import Body, FilterAnswer, HostPriority, MetaVictims, Raw
from kubesched.wire.reading import (
    INT64,
    NAMES,
    NULL,
    OBJECT,
    RAWS,
    TEXT,
    fields_of,
    first_value,
    meta_victims_of,
)

T = TypeVar("T")

_ENCODER: Final = msgspec.json.Encoder()
_NAMES_OR_NULLS: Final = msgspec.json.Decoder(list[str | None])
_TEXTS: Final = msgspec.json.Decoder(dict[str, str] | None)
_TEXTS_OR_NULLS: Final = msgspec.json.Decoder(dict[str, str | None])


class _FilterTail(msgspec.Struct, frozen=True):
    FailedNodes: Mapping[str, str]
    FailedAndUnresolvableNodes: Mapping[str, str]
    Error: str = ""


class _FilterNames(msgspec.Struct, frozen=True):
    Nodes: None
    NodeNames: Sequence[str] | Raw | None
    FailedNodes: Mapping[str, str]
    FailedAndUnresolvableNodes: Mapping[str, str]
    Error: str = ""


class _GoPriority(HostPriority, frozen=True, gc=False, forbid_unknown_fields=True):
    """Exactly what Go's type is encoded as: the quick way; anything else is read key by key."""

    score: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


_GO_PRIORITIES: Final = msgspec.json.Decoder(list[_GoPriority])
_NO_NODES: Final[Mapping[str, str]] = {}


def utf8_text(text: str) -> str:
    """A text as an answer can carry it: half surrogate pairs, as Python reads odd file names, become escapes."""
    return text.encode(errors="backslashreplace").decode()


def filter_answer_names(
    names: Sequence[str] | Raw, failed: Mapping[str, str], unresolvable: Mapping[str, str]
) -> bytes:
    """The answer to a filter request with names.

    Args:
        names: the survivors, or their JSON.
        failed, unresolvable: node name -> why; preemption may help with the first and not with the others.
    """
    return _ENCODER.encode(_FilterNames(None, names, failed, unresolvable))


def filter_answer_nodes(
    nodes: Sequence[Raw | bytes], failed: Mapping[str, str], unresolvable: Mapping[str, str]
) -> list[Raw | bytes]:
    """The answer to a filter request with whole nodes, as pieces that follow each other; none of them is a copy.

    Args:
        nodes: the survivors, as they were in the request.
    """
    tail = _ENCODER.encode(_FilterTail(failed, unresolvable))
    items: list[Raw | bytes] = [b","] * max(2 * len(nodes) - 1, 0)
    items[::2] = nodes
    return [b'{"Nodes":{"metadata":{},"items":[', *items, b']},"NodeNames":null,', tail[1:]]


def filter_answer_error(error: str) -> bytes:
    """The answer that ends the pod's attempt, or leaves this extender out where it is ignorable."""
    return _ENCODER.encode(_FilterNames(None, None, _NO_NODES, _NO_NODES, error))


def host_priority(host: str, score: int) -> bytes:
    """One entry of the answer to prioritize: a node and its score of 0..10."""
    return _ENCODER.encode(HostPriority(host, score))


def prioritize_answer(entries: Iterable[bytes]) -> bytes:
    """The HostPriorityList: an entry for each node."""
    return b"[%b]" % b",".join(entries)


def preemption_answer(victims: Mapping[str, MetaVictims]) -> bytes:
    """The nodes that stay candidates with their victims; always by uid, whatever form the request had."""
    return _ENCODER.encode({"NodeNameToMetaVictims": victims})


def binding_answer(error: str = "") -> bytes:
    """The outcome of bind; empty for success."""
    return _ENCODER.encode({"Error": error})


# --- reading them ---


def _read_as(expected: GoType) -> Callable[[Callable[[Body], T]], Callable[[Body], T]]:
    """Has a function read the first value of a body, and words its errors as Go's decoder does.

    Most bodies are one value, so a body is read as a whole first.
    """

    def decorate(read: Callable[[Body], T]) -> Callable[[Body], T]:
        @wraps(read)
        def read_first(body: Body) -> T:
            try:
                return read(body)
            except (ExtenderError, msgspec.DecodeError, ValueError, RecursionError):
                value = first_value(body)
            try:
                return read(b"{}" if bytes(value) == NULL and expected.kind == "object" else value)
            except (ExtenderError, msgspec.DecodeError, ValueError, RecursionError) as error:
                raise ExtenderError(go_error(body, value, expected) or str(error)) from error

        return read_first

    return decorate


@_read_as(FILTER_RESULT)
def parse_filter_answer(body: Body) -> FilterAnswer:
    """Read ExtenderFilterResult.

    Raises:
        ExtenderError: it is not one; the message names the field.
    """
    fields = fields_of(body, "ExtenderFilterResult")
    nodes = fields.get("nodes", Raw(NULL))
    names = fields.get("nodenames", Raw(NULL))
    return FilterAnswer(
        names=None if bytes(names) == NULL else _names(names),
        nodes=None if bytes(nodes) == NULL else RAWS.decode(fields_of(nodes, "Nodes").get("items", Raw(NULL))) or [],
        failed=_texts(fields, "failednodes"),
        unresolvable=_texts(fields, "failedandunresolvablenodes"),
        error=_text(fields, "error"),
    )


def name_of(node: Raw) -> str:
    """The name of a node of an answer.

    Raises:
        ExtenderError: it is not an object with a name.
    """
    try:
        metadata = _fields(node, "Nodes.items").get("metadata", Raw(NULL))
        name = _text(_fields(metadata, "Nodes.items.metadata"), "name")
    except (ExtenderError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ExtenderError(go_error(b"{}", node, NODE, "NodeList.Nodes.items") or str(error)) from error
    if not name:
        raise ExtenderError("Nodes.items: found a node without a name")
    return name


@_read_as(HOST_PRIORITIES)
def parse_priorities(body: Body) -> Sequence[HostPriority]:
    """Read HostPriorityList: node names and scores as they are, in the order of the answer.

    Raises:
        ExtenderError: it is not one, for example because a score is not an integer of 64 bits.
    """
    try:
        return _GO_PRIORITIES.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    priorities = []
    for entry in RAWS.decode(body) or []:
        fields = _fields(entry, "HostPriorityList")
        priorities.append(HostPriority(_text(fields, "host"), INT64.decode(fields.get("score", Raw(NULL))) or 0))
    return priorities


@_read_as(PREEMPTION_RESULT)
def parse_preemption_answer(body: Body) -> dict[str, MetaVictims]:
    """Read ExtenderPreemptionResult: the nodes that stay candidates, with their victims by uid.

    Raises:
        ExtenderError: it is not one, or a node has null for its victims, on which kube-scheduler v1.36 ends.
    """
    raw = fields_of(body, "ExtenderPreemptionResult").get("nodenametometavictims", Raw(NULL))
    if bytes(raw) == NULL:
        return {}
    entries = OBJECT.decode(raw)
    what = "NodeNameToMetaVictims"
    if empty := [name for name, victims in entries.items() if bytes(victims) == NULL]:
        raise ExtenderError(f"{what}[{empty[0]!r}]: found null; expected the victims, or no entry")
    return {name: meta_victims_of(victims, f"{what}[{name!r}]") for name, victims in entries.items()}


@_read_as(BINDING_RESULT)
def binding_error(body: Body) -> str:
    """Read ExtenderBindingResult: why the pod is not bound; empty for success.

    Raises:
        ExtenderError: it is not one.
    """
    return _text(fields_of(body, "ExtenderBindingResult"), "error")


def _names(raw: Raw) -> list[str]:
    try:
        return NAMES.decode(raw)
    except msgspec.ValidationError:
        return [name or "" for name in _NAMES_OR_NULLS.decode(raw)]


def _fields(raw: Raw, what: str) -> dict[str, Raw]:
    return {} if bytes(raw) == NULL else fields_of(raw, what)


def _text(fields: Mapping[str, Raw], key: str) -> str:
    return TEXT.decode(fields.get(key, Raw(NULL))) or ""


def _texts(fields: Mapping[str, Raw], key: str) -> dict[str, str]:
    raw = fields.get(key, Raw(NULL))
    try:
        return _TEXTS.decode(raw) or {}
    except msgspec.ValidationError:
        return {name: text or "" for name, text in _TEXTS_OR_NULLS.decode(raw).items()}
