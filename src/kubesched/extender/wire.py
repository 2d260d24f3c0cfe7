"""Encodes and decodes the scheduler extender protocol, for both sides.

Keys are Go field names without regard to case, because extender/v1 has no JSON tags; what we write has the Go names.
Nodes and pods stay raw slices of the body until somebody asks for them, so that a node in an answer is, byte for byte,
the node of the request. Rule: k8s.io/kube-scheduler v0.36 extender/v1, sent and accepted since v1.2; lower-case keys
and `nodeToVictims` come from callers that used the tagged types of v1.16 and older.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

import msgspec

from kubesched.errors import ExtenderError

__all__ = [
    "BindingArgs",
    "Body",
    "ExtenderArgs",
    "HostPriority",
    "MetaPod",
    "MetaVictims",
    "PreemptionArgs",
    "Victims",
    "binding_answer",
    "filter_answer_error",
    "filter_answer_names",
    "filter_answer_nodes",
    "host_priority",
    "parse_binding_args",
    "parse_extender_args",
    "parse_names",
    "parse_preemption_args",
    "preemption_answer",
    "prioritize_answer",
    "utf8_text",
]

T = TypeVar("T")
Raw = msgspec.Raw
Body = bytes | bytearray | memoryview
"""What a request or an answer is as bytes."""

_NULL: Final = b"null"
_ALIASES: Final = {"nodetovictims": "nodenametovictims"}  # the tagged type of v1.11 to v1.16 called it so


class ExtenderArgs(msgspec.Struct, frozen=True):
    """The request of filter and prioritize.

    Attributes:
        pod: the pod's JSON.
        nodes: the JSON of each node, in the request's order; None where the request has names only.
        names: the JSON list of node names; None where the request has none.
    """

    pod: Raw
    nodes: list[Raw] | None
    names: bytes | None


class MetaPod(msgspec.Struct, frozen=True, gc=False, rename={"uid": "UID"}):
    """A victim by uid."""

    uid: str = ""


class MetaVictims(msgspec.Struct, frozen=True, rename={"pods": "Pods", "n_pdb_violations": "NumPDBViolations"}):
    """The victims of one node by uid."""

    pods: tuple[MetaPod, ...] = ()
    n_pdb_violations: int = 0


class Victims(msgspec.Struct, frozen=True, rename={"pods": "Pods", "n_pdb_violations": "NumPDBViolations"}):
    """The victims of one node as whole pods, each its JSON."""

    pods: tuple[Raw, ...] = ()
    n_pdb_violations: int = 0


class PreemptionArgs(msgspec.Struct, frozen=True):
    """The request of preempt: one of the two maps, the other is None.

    Attributes:
        pod: the preemptor's JSON.
        victims, meta_victims: by node name, in the request's order.
    """

    pod: Raw
    victims: dict[str, Victims] | None
    meta_victims: dict[str, MetaVictims] | None


class BindingArgs(msgspec.Struct, frozen=True):
    """The request of bind."""

    pod_name: str
    pod_namespace: str
    pod_uid: str
    node: str


class HostPriority(msgspec.Struct, frozen=True, gc=False, rename={"host": "Host", "score": "Score"}):
    """The score of one node, 0..10."""

    host: str
    score: int


# --- requests ---


class _GoNodeList(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    metadata: Raw = Raw(_NULL)
    items: list[Raw] | None = None


class _GoArgs(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Exactly what kube-scheduler sends: the quick way; anything else is read key by key."""

    Pod: Raw
    Nodes: _GoNodeList | None
    NodeNames: Raw


_GO_ARGS: Final = msgspec.json.Decoder(_GoArgs)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Raw])
_RAWS: Final = msgspec.json.Decoder(list[Raw] | None)
_NAMES: Final = msgspec.json.Decoder(list[str])
_TEXT: Final = msgspec.json.Decoder(str | None)
_INT64: Final = msgspec.json.Decoder(Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | None)
_PAIRS: Final = json.JSONDecoder(object_pairs_hook=list, parse_int=str)  # keys count; int() refuses 5,000 digits
_ENCODER: Final = msgspec.json.Encoder()


def parse_extender_args(body: Body) -> ExtenderArgs:
    """Read the body of a filter or prioritize request.

    Raises:
        ExtenderError: it is not valid ExtenderArgs; the message names the field.
    """
    try:
        go = _GO_ARGS.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _parse_args_by_key(body)
    names = bytes(go.NodeNames)
    nodes = None if go.Nodes is None else go.Nodes.items or []
    return ExtenderArgs(_pod(go.Pod), nodes, None if names == _NULL else names)


def parse_names(names: bytes) -> list[str]:
    """Read the list of names of ExtenderArgs.

    Raises:
        ExtenderError: it is not a list of strings.
    """
    return _decoded(_NAMES.decode, names, "NodeNames", "a list of strings")


def parse_preemption_args(body: Body) -> PreemptionArgs:
    """Read the body of a preempt request.

    Raises:
        ExtenderError: it is not valid ExtenderPreemptionArgs; the message names the field.
    """
    fields = _fields(body, "ExtenderPreemptionArgs")
    victims = _entries(fields, "nodenametovictims", "NodeNameToVictims")
    meta = _entries(fields, "nodenametometavictims", "NodeNameToMetaVictims")
    return PreemptionArgs(
        _pod(fields.get("pod", Raw(_NULL))),
        None if victims is None else _by_node(_victims, victims, "NodeNameToVictims"),
        None if meta is None else _by_node(_meta_victims, meta, "NodeNameToMetaVictims"),
    )


def parse_binding_args(body: Body) -> BindingArgs:
    """Read the body of a bind request.

    Raises:
        ExtenderError: it is not valid ExtenderBindingArgs, or lacks a field; kube-scheduler sends all of them.
    """
    fields = _fields(body, "ExtenderBindingArgs")
    texts = {
        key: _decoded(_TEXT.decode, fields.get(key.lower(), Raw(_NULL)), key, "a string") or ""
        for key in ("PodName", "PodNamespace", "PodUID", "Node")
    }
    if missing := [key for key, text in texts.items() if not text]:
        verb = "is" if len(missing) == 1 else "are"
        raise ExtenderError(f"ExtenderBindingArgs: {', '.join(missing)} {verb} missing or empty")
    return BindingArgs(*texts.values())


def _parse_args_by_key(body: Body) -> ExtenderArgs:
    fields = _fields(body, "ExtenderArgs")
    names = bytes(fields.get("nodenames", _NULL))
    nodes = fields.get("nodes", Raw(_NULL))
    items: list[Raw] | None = None
    if bytes(nodes) != _NULL:
        raw = _fields(nodes, "Nodes").get("items", Raw(_NULL))
        items = _decoded(_RAWS.decode, raw, "Nodes.items", "a list of nodes") or []
    return ExtenderArgs(_pod(fields.get("pod", Raw(_NULL))), items, None if names == _NULL else names)


def _fields(body: Body | Raw, what: str) -> dict[str, Raw]:
    """The values of an object by lower-case key; of keys that differ in case only, the last one counts, as in Go."""
    fields = _decoded(_OBJECT.decode, body, what, "a JSON object")
    folded = {_folded(key): value for key, value in fields.items()}
    if len(folded) < len(fields):
        for key, _ in _decoded(lambda raw: _PAIRS.decode(bytes(raw).decode()), body, what, "a JSON object"):
            folded[_folded(key)] = fields[key]
    return folded


def _folded(key: str) -> str:
    key = key.casefold()
    return _ALIASES.get(key, key)


def _pod(raw: Raw) -> Raw:
    if bytes(raw) == _NULL:
        raise ExtenderError("Pod is missing; every request of a kube-scheduler has it")
    return raw


def _entries(fields: Mapping[str, Raw], key: str, what: str) -> dict[str, Raw] | None:
    raw = fields.get(key)
    if raw is None or bytes(raw) == _NULL:
        return None
    return _decoded(_OBJECT.decode, raw, what, "an object by node name")


def _by_node(read: Callable[[Raw, str], T], entries: Mapping[str, Raw], what: str) -> dict[str, T]:
    return {name: read(raw, f"{what}[{name!r}]") for name, raw in entries.items()}


def _victims(raw: Raw, where: str) -> Victims:
    if bytes(raw) == _NULL:
        return Victims()
    fields = _fields(raw, where)
    pods = _decoded(_RAWS.decode, fields.get("pods", Raw(_NULL)), f"{where}.Pods", "a list of pods") or []
    return Victims(tuple(pods), _n_violations(fields, where))


def _meta_victims(raw: Raw, where: str) -> MetaVictims:
    pods = []
    victims = _victims(raw, where)
    for i, pod in enumerate(victims.pods):
        uid = _fields(pod, f"{where}.Pods[{i}]").get("uid", Raw(_NULL))
        pods.append(MetaPod(_decoded(_TEXT.decode, uid, f"{where}.Pods[{i}].UID", "a string") or ""))
    return MetaVictims(tuple(pods), victims.n_pdb_violations)


def _n_violations(fields: Mapping[str, Raw], where: str) -> int:
    raw = fields.get("numpdbviolations", Raw(_NULL))
    return _decoded(_INT64.decode, raw, f"{where}.NumPDBViolations", "an int64") or 0


def _decoded(decode: Callable[[Any], T], raw: Any, what: str, allowed: str) -> T:
    try:
        return decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, or json's own
        raise ExtenderError(f"{what}: {error}; expected {allowed}") from error


# --- answers ---


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
