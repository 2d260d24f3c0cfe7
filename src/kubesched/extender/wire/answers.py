"""Writes and reads the answers of the extender protocol.

Rule for reading: kube-scheduler v1.36 HTTPExtender. Only the first JSON value counts, unknown keys are ignored, and
null is the empty answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kubesched.errors import ExtenderError
from kubesched.extender.wire.reading import (
    INT64,
    NAMES,
    NULL,
    OBJECT,
    RAWS,
    TEXT,
    decoded,
    fields_of,
    first_value,
    meta_victims_of,
)
from kubesched.extender.wire.values import Body, FilterAnswer, HostPriority, MetaVictims, Raw

__all__ = [
    "binding_answer",
    "binding_error",
    "filter_answer_error",
    "filter_answer_names",
    "filter_answer_nodes",
    "host_priority",
    "name_of",
    "parse_filter_answer",
    "parse_preemption_answer",
    "parse_priorities",
    "preemption_answer",
    "prioritize_answer",
    "utf8_text",
]

_ENCODER: Final = msgspec.json.Encoder()
_TEXTS: Final = msgspec.json.Decoder(dict[str, str | None] | None)


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


def parse_filter_answer(body: Body) -> FilterAnswer:
    """Read ExtenderFilterResult.

    Raises:
        ExtenderError: it is not one; the message names the field.
    """
    fields = _answer(body, "ExtenderFilterResult")
    nodes = fields.get("nodes", Raw(NULL))
    items = None
    if bytes(nodes) != NULL:
        raw = fields_of(nodes, "Nodes").get("items", Raw(NULL))
        items = decoded(RAWS.decode, raw, "Nodes.items", "a list of nodes") or []
    names = fields.get("nodenames", Raw(NULL))
    return FilterAnswer(
        names=None if bytes(names) == NULL else decoded(NAMES.decode, names, "NodeNames", "a list of strings"),
        nodes=items,
        failed=_texts(fields, "FailedNodes"),
        unresolvable=_texts(fields, "FailedAndUnresolvableNodes"),
        error=_text(fields, "Error"),
    )


def name_of(node: Raw) -> str:
    """The name of a node of an answer.

    Raises:
        ExtenderError: it is not an object with a name.
    """
    metadata = fields_of(node, "Nodes.items").get("metadata", Raw(NULL))
    fields = {} if bytes(metadata) == NULL else fields_of(metadata, "Nodes.items.metadata")
    name = _text(fields, "name")
    if not name:
        raise ExtenderError("Nodes.items: found a node without a name")
    return name


def parse_priorities(body: Body) -> list[tuple[str, int]]:
    """Read HostPriorityList: node names and scores as they are, in the order of the answer.

    Raises:
        ExtenderError: it is not one, for example because a score is not an integer of 64 bits.
    """
    entries = decoded(RAWS.decode, first_value(body), "HostPriorityList", "a list of {Host, Score}") or []
    priorities = []
    for i, entry in enumerate(entries):
        where = f"HostPriorityList[{i}]"
        fields = {} if bytes(entry) == NULL else fields_of(entry, where)
        host = decoded(TEXT.decode, fields.get("host", Raw(NULL)), f"{where}.Host", "a string") or ""
        score = decoded(INT64.decode, fields.get("score", Raw(NULL)), f"{where}.Score", "an integer of 64 bits") or 0
        priorities.append((host, score))
    return priorities


def parse_preemption_answer(body: Body) -> dict[str, MetaVictims]:
    """Read ExtenderPreemptionResult: the nodes that stay candidates, with their victims by uid.

    Raises:
        ExtenderError: it is not one, or a node has null for its victims, on which kube-scheduler v1.36 ends.
    """
    raw = _answer(body, "ExtenderPreemptionResult").get("nodenametometavictims", Raw(NULL))
    if bytes(raw) == NULL:
        return {}
    what = "NodeNameToMetaVictims"
    entries = decoded(OBJECT.decode, raw, what, "an object by node name")
    if empty := [name for name, victims in entries.items() if bytes(victims) == NULL]:
        raise ExtenderError(f"{what}[{empty[0]!r}]: found null; expected the victims, or no entry")
    return {name: meta_victims_of(victims, f"{what}[{name!r}]") for name, victims in entries.items()}


def binding_error(body: Body) -> str:
    """Read ExtenderBindingResult: why the pod is not bound; empty for success.

    Raises:
        ExtenderError: it is not one.
    """
    return _text(_answer(body, "ExtenderBindingResult"), "Error")


def _answer(body: Body, what: str) -> dict[str, Raw]:
    value = first_value(body)
    return {} if bytes(value) == NULL else fields_of(value, what)


def _text(fields: Mapping[str, Raw], key: str) -> str:
    return decoded(TEXT.decode, fields.get(key.lower(), Raw(NULL)), key, "a string") or ""


def _texts(fields: Mapping[str, Raw], key: str) -> dict[str, str]:
    texts = decoded(_TEXTS.decode, fields.get(key.lower(), Raw(NULL)), key, "an object with strings") or {}
    return {name: text or "" for name, text in texts.items()}
