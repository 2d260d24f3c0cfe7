"""Remedies for a node selector and required node affinity: correct a value, drop a requirement, label a node."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

import msgspec

from kubesched.api import Node, NodeSelector, NodeSelectorTerm, SelectorRequirement, edited
from kubesched.engine import BoolVector
from kubesched.explanation.fix import Change, FixKind
from kubesched.explanation.remedies.case import Case, Remedy, daemon_set, field_edit, node_edit, spec_edit
from kubesched.naming import near_spelling

_MANAGED: Final = ("kubernetes.io", "k8s.io")  # domains of labels that the cluster itself sets
_MAX_REQUIREMENTS: Final = 12
_REQUIRED: Final = "affinity.node_affinity.required"


def node_choice(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """What opens the nodes of `where`, which the pod's own selector or affinity excludes."""
    pairs = sorted(case.pod.node_selector.items())
    for key, value in pairs:
        yield from _pair(case, where, key, value)
    if len(pairs) > 1:
        yield _drop("the node selector", "nodeSelector", field_edit("node_selector"))
    affinity = case.pod.spec.affinity
    required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
    if required is None or daemon_set(case.pod):
        return
    terms = required.node_selector_terms or ()
    numbered = [(i, j, one) for i, term in enumerate(terms) for j, one in enumerate(term.match_expressions or ())]
    for i, j, one in numbered[:_MAX_REQUIREMENTS]:
        corrected = _corrected(case, one)
        if corrected is not None:
            keeps = not _is_managed(one.key)
            verb = "correct" if keeps else "change"
            text = f"{verb} the node affinity {_words(one)}, which no node has, to {_words(corrected)}"
            yield Remedy(text, "nodeAffinity", keeps, _with_term(terms, i, j, corrected))
        if len(terms[i].match_expressions or ()) + len(terms[i].match_fields or ()) > 1:
            yield _drop(f"{_words(one)} from the node affinity", "nodeAffinity", _with_term(terms, i, j, None))
    yield _drop("the node affinity", "nodeAffinity", field_edit(_REQUIRED))
    if pairs:
        everything = field_edit("node_selector") + field_edit(_REQUIRED)
        yield _drop("the node selector and the node affinity", "nodeAffinity", everything)


def _pair(case: Case, where: BoolVector, key: str, value: str) -> Iterator[Remedy]:
    column = case.nodes.label(key)
    codes = case.nodes.codes(key)
    lacking = where & (codes != column.code(value))
    if not lacking.any():
        return
    managed = _is_managed(key)
    known = _known_values(case, key)
    near = [] if value in known else [(key, other) for other in _near_values(key, value, known)]
    if other := case.near_key(key):
        near = [(other, value)]
    for new_key, new_value in near:
        verb = "change" if managed else "correct"
        text = f"{verb} the node selector {key}={value}, which no node has, to {new_key}={new_value}"
        yield Remedy(text, "nodeSelector", not managed, _with_pair(key, new_key, new_value))
    if value not in known and not near and not managed:
        node = next(case.at(lacking))
        text = f"label {node.name} with {key}={value}, which no node has"
        yield Remedy(text, "label", True, _labelled(node.name, key, value))
    others = set(codes[lacking].tolist())
    if len(others) == 1 and (other := column.values.values[others.pop()]) is not None and not near:
        text = f"change the node selector {key}={value} to {key}={other}"
        yield Remedy(text, "nodeSelector", False, _with_pair(key, key, other))
    yield _drop(f"the node selector {key}={value}", "nodeSelector", _with_pair(key, "", ""))


def _corrected(case: Case, one: SelectorRequirement) -> SelectorRequirement | None:
    """The requirement with a value that some node has, where no node has any of the written ones."""
    known = _known_values(case, one.key)
    if one.operator != "In" or not one.values or any(value in known for value in one.values):
        return None
    near = [other for value in one.values for other in _near_values(one.key, value, known)]
    return msgspec.structs.replace(one, values=tuple(dict.fromkeys(near))) if near else None


def _is_managed(key: str) -> bool:
    return key.partition("/")[0].endswith(_MANAGED)


def _near_values(key: str, wrong: str, known: list[str]) -> list[str]:
    """The value to write instead, none or one: the one that was meant, or another zone, another type of machine."""
    if _is_managed(key):
        return get_close_matches(wrong, known, n=1)
    return [near] if (near := near_spelling(wrong, known)) else []


def _known_values(case: Case, key: str) -> list[str]:
    return [value for value in case.nodes.label(key).values.values if value is not None]


def _words(one: SelectorRequirement) -> str:
    values = list(one.values or ())
    if one.operator == "In" and len(values) == 1:
        return f"{one.key}={values[0]}"
    return f"{one.key} {one.operator}{f' ({chr(44).join(values)})' if values else ''}"


def _drop(what: str, kind: FixKind, change: Change) -> Remedy:
    return Remedy(f"drop {what}", kind, False, change)


def _with_pair(key: str, new_key: str, new_value: str) -> Change:
    """One pair of the node selector replaced; an empty key drops it."""

    def changed(selector: dict[str, str]) -> dict[str, str] | None:
        kept = {name: value for name, value in selector.items() if name != key}
        return (kept | ({new_key: new_value} if new_key else {})) or None

    return spec_edit(lambda spec: msgspec.structs.replace(spec, node_selector=changed(spec.node_selector or {})))


def _with_term(terms: tuple[NodeSelectorTerm, ...], i: int, j: int, replacement: SelectorRequirement | None) -> Change:
    """The j-th expression of the i-th term replaced or dropped."""
    expressions = list(terms[i].match_expressions or ())
    expressions[j : j + 1] = [] if replacement is None else [replacement]
    term = msgspec.structs.replace(terms[i], match_expressions=tuple(expressions) or None)
    return field_edit(_REQUIRED, NodeSelector((*terms[:i], term, *terms[i + 1 :])))


def _labelled(name: str, key: str, value: str) -> Change:
    def labelled(node: Node) -> Node:
        labels = {**node.labels, key: value}
        return edited(node, metadata=msgspec.structs.replace(node.metadata, labels=labels))

    return Change(edits=(node_edit(name, labelled),))
