"""Reads and writes the requests of the extender protocol.

Nodes and pods stay raw slices of the body until they are read, so that a node in an answer is, byte for byte,
the node of the request.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from kubesched.documents import plural
from kubesched.errors import ExtenderError
from kubesched.wire.protocol_values import (
    BindingArgs,
    Body,
    ExtenderArgs,
    MetaVictims,
    PreemptionArgs,
    Raw,
)
from kubesched.wire.reading import (
    NAMES,
    NULL,
    OBJECT,
    RAWS,
    TEXT,
    decoded,
    fields_of,
    meta_victims_of,
    victims_of,
)

T = TypeVar("T")

_ESCAPES: Final = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)


_BEFORE_NODE_NAME: Final = frozenset(
    (
        "volumes",
        "initContainers",
        "containers",
        "ephemeralContainers",
        "restartPolicy",
        "terminationGracePeriodSeconds",
        "activeDeadlineSeconds",
        "dnsPolicy",
        "nodeSelector",
        "serviceAccountName",
        "serviceAccount",
        "automountServiceAccountToken",
    )
)
"""The fields of a pod's spec that Go encodes before nodeName."""


class _GoNodeList(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    metadata: Raw = Raw(NULL)
    items: list[Raw] | None = None


class _GoArgs(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Exactly what kube-scheduler sends: the quick way; anything else is read key by key."""

    Pod: Raw
    Nodes: _GoNodeList | None
    NodeNames: Raw


_GO_ARGS: Final = msgspec.json.Decoder(_GoArgs)


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
    return ExtenderArgs(_pod(go.Pod), nodes, None if names == NULL else names)


def parse_names(names: bytes) -> list[str]:
    """Read the list of names of ExtenderArgs.

    Raises:
        ExtenderError: it is not a list of strings.
    """
    return decoded(NAMES.decode, names, "NodeNames", "a list of strings")


def parse_preemption_args(body: Body) -> PreemptionArgs:
    """Read the body of a preempt request.

    Raises:
        ExtenderError: it is not valid ExtenderPreemptionArgs; the message names the field.
    """
    fields = fields_of(body, "ExtenderPreemptionArgs")
    victims = _entries(fields, "nodenametovictims", "NodeNameToVictims")
    meta = _entries(fields, "nodenametometavictims", "NodeNameToMetaVictims")
    return PreemptionArgs(
        _pod(fields.get("pod", Raw(NULL))),
        None if victims is None else _by_node(victims_of, victims, "NodeNameToVictims"),
        None if meta is None else _by_node(meta_victims_of, meta, "NodeNameToMetaVictims"),
    )


def parse_binding_args(body: Body) -> BindingArgs:
    """Read the body of a bind request.

    Raises:
        ExtenderError: it is not valid ExtenderBindingArgs, or lacks a field; kube-scheduler sends all of them.
    """
    fields = fields_of(body, "ExtenderBindingArgs")
    texts = {
        key: decoded(TEXT.decode, fields.get(key.lower(), Raw(NULL)), key, "a string") or ""
        for key in ("PodName", "PodNamespace", "PodUID", "Node")
    }
    if missing := [key for key, text in texts.items() if not text]:
        raise ExtenderError(
            f"ExtenderBindingArgs: {', '.join(missing)} {plural(len(missing), 'is', 'are')} missing or empty"
        )
    return BindingArgs(*texts.values())


def _parse_args_by_key(body: Body) -> ExtenderArgs:
    fields = fields_of(body, "ExtenderArgs")
    names = bytes(fields.get("nodenames", NULL))
    nodes = fields.get("nodes", Raw(NULL))
    items: list[Raw] | None = None
    if bytes(nodes) != NULL:
        raw = fields_of(nodes, "Nodes").get("items", Raw(NULL))
        items = decoded(RAWS.decode, raw, "Nodes.items", "a list of nodes") or []
    return ExtenderArgs(_pod(fields.get("pod", Raw(NULL))), items, None if names == NULL else names)


def _pod(raw: Raw) -> Raw:
    if bytes(raw) == NULL:
        raise ExtenderError("Pod is missing; every request of a kube-scheduler has it")
    return raw


def _entries(fields: Mapping[str, Raw], key: str, what: str) -> dict[str, Raw] | None:
    raw = fields.get(key)
    if raw is None or bytes(raw) == NULL:
        return None
    return decoded(OBJECT.decode, raw, what, "an object by node name")


def _by_node(read: Callable[[Raw, str], T], entries: Mapping[str, Raw], what: str) -> dict[str, T]:
    return {name: read(raw, f"{what}[{name!r}]") for name, raw in entries.items()}


# --- writing them ---


def as_kube_scheduler_sends(document: Body, *, is_pod: bool = False, node_name: str = "") -> bytes:
    """A node or pod, as the API server stores it, in the bytes of a kube-scheduler's request.

    Args:
        node_name: the node of a pod, which the API server may not know yet; empty for what the document has.

    Rule: kube-scheduler v1.36: an object in a list has no kind; its pods have no managedFields, its nodes do; and Go's
    encoder escapes what HTML could read.

    Raises:
        ExtenderError: it is not a JSON object.
    """
    fields = decoded(OBJECT.decode, document, "the object", "a JSON object")
    kept = {key: value for key, value in fields.items() if key not in ("kind", "apiVersion")}
    if is_pod and "metadata" in kept:
        metadata = decoded(OBJECT.decode, kept["metadata"], "metadata", "a JSON object")
        if metadata.pop("managedFields", None) is not None:
            kept["metadata"] = Raw(msgspec.json.encode(metadata))
    if node_name:
        kept["spec"] = _on_node(kept.get("spec", Raw(b"{}")), node_name)
    return _escaped(msgspec.json.encode(kept))


def _on_node(spec: Raw, node_name: str) -> Raw:
    fields = decoded(OBJECT.decode, spec, "spec", "a JSON object")
    before = {key: value for key, value in fields.items() if key in _BEFORE_NODE_NAME}
    return Raw(msgspec.json.encode(before | {"nodeName": node_name} | fields | {"nodeName": node_name}))


def names_request(pod: bytes, names: Sequence[str]) -> bytes:
    """The request of filter and prioritize for an extender that knows the nodes itself.

    Args:
        pod: as from as_kube_scheduler_sends.
    """
    return b'{"Pod":%b,"Nodes":null,"NodeNames":%b}' % (pod, _encoded(names))


def nodes_request(pod: bytes, nodes: Iterable[bytes]) -> bytes:
    """The request of filter and prioritize with whole nodes; pod and nodes as from as_kube_scheduler_sends."""
    return b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % (pod, b",".join(nodes))


def preemption_request(pod: bytes, victims: Mapping[str, tuple[Sequence[bytes], int]]) -> bytes:
    """The request of preempt with whole pods.

    Args:
        victims: node name -> (its victims, as from as_kube_scheduler_sends; violations of disruption budgets).
    """
    entries = (
        b'%b:{"Pods":[%b],"NumPDBViolations":%d}' % (_encoded(name), b",".join(pods), n)
        for name, (pods, n) in sorted(victims.items())
    )
    return b'{"Pod":%b,"NodeNameToVictims":{%b},"NodeNameToMetaVictims":null}' % (pod, b",".join(entries))


def meta_preemption_request(pod: bytes, victims: Mapping[str, MetaVictims]) -> bytes:
    """The request of preempt for an extender that knows the pods itself."""
    entries = _encoded(dict(sorted(victims.items())))
    return b'{"Pod":%b,"NodeNameToVictims":null,"NodeNameToMetaVictims":%b}' % (pod, entries)


def binding_request(args: BindingArgs) -> bytes:
    """The request of bind."""
    fields = {"PodName": args.pod_name, "PodNamespace": args.pod_namespace, "PodUID": args.pod_uid, "Node": args.node}
    return _encoded(fields)


def _encoded(value: object) -> bytes:
    return _escaped(msgspec.json.encode(value))


def _escaped(text: bytes) -> bytes:
    """JSON as Go writes it: characters that mean something in HTML or JavaScript, which only strings have, escaped."""
    for plain, escape in _ESCAPES:
        if plain[0] in text:  # a search for one byte takes a tenth of the time
            text = text.replace(plain, escape)
    return text
