"""Remedies for a node selector and required node affinity: correct a value, drop a requirement, label a node."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

import msgspec
import numpy as np

from kubesched.api import (
    NAMESPACE_SELECTOR,
    POOL_LABELS,
    Namespace,
    NodeSelector,
    NodeSelectorTerm,
    SelectorRequirement,
    as_int64,
    edited,
)
from kubesched.controllers import is_site
from kubesched.documents import joined
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import Effort, FixKind
from kubesched.explanation.remedies.case import (
    OTHERS,
    Case,
    Remedy,
    daemon_set,
    field_edit,
    node_edit,
    spec_edit,
    with_label,
)
from kubesched.explanation.remedies.lacking_labels import lacking_label
from kubesched.explanation.remedies.machine_words import (
    OF_CAPACITY,
    OF_HOSTS,
    OF_IMAGES,
    OF_PRODUCTS,
    capacity,
    describes_machine,
    is_coined,
    is_of_family,
    likeness,
    names_part,
)
from kubesched.explanation.remedies.new_node import added_node
from kubesched.explanation.remedies.other_devices import has_unused_devices, is_device
from kubesched.explanation.remedies.taints import tainted, to_tolerate, toleration_of
from kubesched.naming import near_spelling, respelt
from kubesched.plugins import foreign_provider, local_keys
from kubesched.state import NodeInfo

_DIGITS: Final = re.compile("[0-9]+")
_PLAIN_VALUES: Final = ("", "true", "false", "yes", "no", "1", "0", "linux")
_ARCH: Final = "kubernetes.io/arch"
_MAX_PRODUCTS: Final = 6  # that are tried in place of one that no node has
_MAX_REQUIREMENTS: Final = 12
_MAX_OTHERS: Final = 3  # values of a label that are offered in place of another
_REQUIRED: Final = "affinity.node_affinity.required"


def node_choice(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """What opens the nodes of `where`, which the pod's own selector or affinity excludes."""
    pairs, of_namespace = sorted(case.pod.node_selector.items()), case.added.of_namespace
    for key, value in pairs:
        yield from (_of_namespace if key in of_namespace else _pair)(case, where, key, value)
    if len(pairs) > 1 and not of_namespace:
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
            right = joined(corrected.values or ()) if corrected.key == one.key else _words(corrected)
            text = f"correct the node affinity {_words(one)} (no node has it) to {right}"
            change = _with_term(terms, i, j, corrected)
            yield Remedy(text, "nodeAffinity", True, change, effort=Effort.CORRECT)
        elif (number := _as_integer(one)) is not None:
            text = f"write a whole number in the node affinity {_words(one)}, such as {joined(number.values or ())}"
            yield Remedy(text, "nodeAffinity", True, _with_term(terms, i, j, number), effort=Effort.CORRECT)
        elif one.operator == "In" and one.values and not set(one.values) & set(_known_values(case, one.key)):
            yield from _unknown(case, where, one.key, one.values[0], partial(_with_values, terms, i, j), "nodeAffinity")
        if len(terms[i].match_expressions or ()) + len(terms[i].match_fields or ()) > 1:
            yield _drop(f"{_words(one)} from the node affinity", "nodeAffinity", _with_term(terms, i, j, None))
    never = _never(terms)
    text = f"the node affinity, which no node can match: {never}" if never else "the node affinity"
    yield _drop(text, "nodeAffinity", field_edit(_REQUIRED))
    if pairs and not of_namespace:
        everything = field_edit("node_selector") + field_edit(_REQUIRED)
        yield _drop("the node selector and the node affinity", "nodeAffinity", everything)


def _pair(case: Case, where: BoolVector, key: str, value: str) -> Iterator[Remedy]:
    column = case.nodes.label(key)
    codes = case.nodes.codes(key)
    lacking = where & (codes != column.code(value))
    if not lacking.any():
        return
    known, near = _known_values(case, key), _meant(case, key, value)
    for new_key, new_value in near:
        yield _correction(key, value, new_key, new_value)
    if value not in known and not near:
        yield from _unknown(case, lacking, key, value, partial(_with_pair, key, key))
    if value in known:
        yield from lacking_label(case, lacking, key)
    if not near:
        yield from _other_value(case, lacking, key, value, known)
    arch = _only_arch(case, codes == column.code(value)) if value in known else ""
    kept = f" (and select {_ARCH}={arch}, which its nodes have)" if arch else ""
    change = _with_pair(key, _ARCH if arch else "", arch)
    yield _drop(f"the node selector {key}={value}{kept}", "nodeSelector", change)


def _other_value(case: Case, lacking: BoolVector, key: str, value: str, known: list[str]) -> Iterator[Remedy]:
    """The only value that some nodes have; of the label that says the same here, where no node has this one."""
    has_devices = value in known and any(map(is_device, case.info.requests.value.wanted))
    if has_devices or names_part(key, OF_IMAGES):
        return
    here = local_keys(key, case.nodes)[:1] if foreign_provider(key, case.nodes) else []
    new_key = next(iter(here), key)
    others = {case.nodes.label(new_key).values.values[code] for code in case.nodes.codes(new_key)[lacking].tolist()}
    other = others.pop() if len(others) == 1 else None
    if not other:
        return
    change, is_known = _with_pair(key, new_key, other), value in known
    yield _changed((key, value), (new_key, other), change, Effort.SWITCH, is_known=is_known)


def _of_namespace(case: Case, where: BoolVector, key: str, value: str) -> Iterator[Remedy]:
    """What opens nodes that a pair excludes which the namespace gives: it is changed there, for new pods.

    Rule: kube-apiserver v1.36 PodNodeSelector: a pod whose own selector has another value is refused.
    """
    known, codes = _known_values(case, key), case.nodes.codes(key)
    lacking = where & (codes != case.nodes.label(key).code(value))
    if not lacking.any():
        return
    nowhere = "" if value in known else " (no node has it)"
    what = f"the node selector {key}={value}{nowhere} that namespace {case.pod.namespace} gives its pods"
    others = Counter(case.nodes.label(key).values.values[code] for code in codes[lacking].tolist())
    alike = [other for other in known if value not in known and _without_digits(other) == _without_digits(value)]
    for other, _ in others.most_common(_MAX_OTHERS):
        if other is None:
            continue
        is_next = alike == [other]
        verb, effort = ("correct", Effort.CORRECT) if is_next else ("change", Effort.SWITCH)
        text = f"{verb} {what} to {other}"
        yield Remedy(text, "admission", is_next, _given(case, key, value, other), effort=effort)
    if value not in known:
        yield from _unknown(case, lacking, key, value)
    yield Remedy(f"drop {what}", "admission", False, _given(case, key, value, ""), effort=Effort.DROP)


def _given(case: Case, key: str, value: str, other: str) -> Change:
    """The change of one pair in the annotation of the namespace, and of the pod that is re-created."""

    def changed(namespace: Namespace) -> Namespace:
        pairs = namespace.annotations[NAMESPACE_SELECTOR].split(",")
        kept = [pair for pair in pairs if pair.partition("=")[0].strip() != key]
        selector = ",".join([*kept, *([f"{key}={other}"] if other else [])])
        annotations = {**namespace.annotations, NAMESPACE_SELECTOR: selector}
        return edited(namespace, metadata=msgspec.structs.replace(namespace.metadata, annotations=annotations))

    of_pod = _with_pair(key, key if other else "", other)
    return of_pod + Change(edits=(Edit("Namespace", case.pod.namespace, changed),))


def corrected_and_tolerated(case: Case) -> Iterator[tuple[Remedy, Remedy]]:
    """What is written wrongly in the node selector, where every node that is meant has taints: both are needed."""
    for key, value in sorted(case.pod.node_selector.items()):
        for new_key, new_value in () if key in case.added.of_namespace else _meant(case, key, value):
            meant = case.nodes.codes(new_key) == case.nodes.label(new_key).code(new_value)
            if blocking := to_tolerate(case, meant):
                yield _correction(key, value, new_key, new_value), toleration_of(case, blocking)


def _meant(case: Case, key: str, value: str) -> list[tuple[str, str]]:
    """The label of some node that a pair of the node selector was meant to be; none where a node has the pair."""
    known, is_capacity = _known_values(case, key), bool(capacity(key, value))
    if other := "" if is_capacity else case.near_key(key):
        return [(other, value)]
    if value in known or (known and not is_capacity):
        return [] if value in known else [(key, other) for other in _near_values(key, value, known)]
    return _under_other_key(case, key, value)


def _correction(key: str, value: str, new_key: str, new_value: str) -> Remedy:
    right = new_value if new_key == key else f"{new_key}={new_value}"
    text = f"correct the node selector {key}={value} (no node has it) to {right}"
    return Remedy(text, "nodeSelector", True, _with_pair(key, new_key, new_value), effort=Effort.CORRECT)


def _only_arch(case: Case, nodes: BoolVector) -> str:
    """The architecture of some nodes, where others have another one that the pod does not select; empty for none.

    A program is built for it.
    """
    codes = case.nodes.codes(_ARCH)
    mine, every = set(codes[nodes].tolist()), set(codes[~tainted(case)].tolist())
    if len(mine) != 1 or not every - mine or _ARCH in case.pod.node_selector:
        return ""
    return case.nodes.label(_ARCH).values.values[mine.pop()] or ""


def _model(case: Case, among: BoolVector) -> NodeInfo:
    """The node that a new one is like: with what the pod asks for, and without taints if there is such a node."""
    open_ones = among & ~tainted(case) & ~case.nodes.unschedulable
    positions = np.flatnonzero(open_ones if open_ones.any() else among)
    return case.nodes[int(positions[case.shortage[positions].argmin()])]


def _unknown(
    case: Case,
    lacking: BoolVector,
    key: str,
    value: str,
    selecting: Callable[[str], Change] | None = None,
    kind: FixKind = "nodeSelector",
) -> Iterator[Remedy]:
    """What helps where no node has a label: a product of the same family, or a node with the label.

    One more where the label says what the machine is, else any. None is added in a rack that somebody names. None has a
    label of a provider whose nodes are not here, nor an empty value where others have a value.

    Args:
        selecting: the change that asks for another value; None where no product is to be another one.
        kind: of this change.
    """
    known, node = _known_values(case, key), _model(case, lacking)
    if (known and not value) or foreign_provider(key, case.nodes):
        return
    is_free = not known and is_coined(key, value)  # pools of machines without a label
    if is_free or not describes_machine(key, value):
        text = f"label {node.name} with {key}={value}, which no node has"
        yield Remedy(
            text, "label", True, Change(edits=(node_edit(node.name, partial(with_label, key=key, value=value)),))
        )
    elif not (is_site(key) or names_part(key, OF_HOSTS)):
        near = {} if selecting is None else {one: selecting(one) for one in _products(case, key, value, known)}
        family = {other: change for other, change in near.items() if is_of_family(value, other)}
        for other, change in islice(family.items(), _MAX_OTHERS):
            yield _changed((key, value), (key, other), change, Effort.ADAPT, kind=kind)
        like = "" if names_part(key, OF_PRODUCTS - OF_IMAGES) else f" like {node.name}"  # it would be another machine
        change, text = added_node(case, node, {}, {key: value}), f"add a node{like} with {key}={value}"
        instead = () if family else tuple(near.items())[:_MAX_PRODUCTS]
        text_with_others = f"no node has {key}={value}: select {OTHERS}, if that will do, or {text}"
        text = f"{text}, which no node has"
        yield Remedy(text, "addNode", True, change, like=node.name, instead=instead, text_with_others=text_with_others)


def _products(case: Case, key: str, wanted: str, known: list[str]) -> list[str]:
    """The products that nodes have instead of one that none has, the one with most of its words in its name first.

    Only a person knows whether one of them will do. No machine is meant that has devices which the pod does not use.
    """
    if not names_part(key, OF_PRODUCTS - OF_IMAGES):
        return []
    column, codes = case.nodes.label(key), case.nodes.codes(key)
    nodes = ((value, np.flatnonzero(codes == column.code(value))) for value in known)
    usable = [value for value, positions in nodes if len(positions) and not has_unused_devices(case, positions)]
    return sorted(usable, key=lambda value: likeness(wanted, value), reverse=True)


def _changed(
    old: tuple[str, str],
    new: tuple[str, str],
    change: Change,
    effort: Effort,
    *,
    is_known: bool = False,
    kind: FixKind = "nodeSelector",
) -> Remedy:
    """Another pair in the node selector or affinity.

    Args:
        is_known: whether nodes have the old one.
    """
    (key, value), (new_key, other) = old, new
    where = "node affinity" if kind == "nodeAffinity" else "node selector"
    nowhere, maybe = ("", "") if is_known else (", which no node has,", ", if that will do")
    text = f"change the {where} {key}={value}{nowhere} to {new_key}={other}{maybe}"
    if not value:
        text = f"set the {where} {key}, which is empty, to {other}{maybe}"
    return Remedy(text, kind, False, change, effort=effort)


def _without_digits(value: str) -> str:
    return _DIGITS.sub("", value)


def _under_other_key(case: Case, key: str, value: str) -> list[tuple[str, str]]:
    """The label of nodes that says the same under another key, none or one: the same value, or the same capacity."""
    every = {(other, said): None for node in case.nodes for other, said in node.labels.items()}
    if (wanted := capacity(key, value)) and key not in POOL_LABELS:
        return [pair for pair in every if pair[0] in OF_CAPACITY and capacity(*pair) == wanted][:1]
    same = [pair for pair in every if pair[1] == value and value not in _PLAIN_VALUES]
    here = local_keys(key, case.nodes)
    return [pair for pair in same if pair[0] in here] or (same if len(same) == 1 else [])


def _corrected(case: Case, one: SelectorRequirement) -> SelectorRequirement | None:
    """The requirement with a value that some node has, where no node has any of the written ones."""
    known = _known_values(case, one.key)
    if one.operator != "In" or not one.values or any(value in known for value in one.values):
        return None
    for key, value in [] if known or len(one.values) > 1 else _under_other_key(case, one.key, one.values[0]):
        return SelectorRequirement(key, "In", (value,))
    near = [other for value in one.values for other in _near_values(one.key, value, known)]
    return msgspec.structs.replace(one, values=tuple(dict.fromkeys(near))) if near else None


def _near_values(key: str, wrong: str, known: list[str]) -> list[str]:
    """The value that was meant, none or one; names of zones and of kinds of machines only look alike."""
    if describes_machine(key):
        near = respelt(wrong, known, is_coined=not names_part(key, OF_PRODUCTS))
    else:
        near = near_spelling(wrong, known)
    return [near] if near else []


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


def _with_values(terms: tuple[NodeSelectorTerm, ...], i: int, j: int, value: str) -> Change:
    """The j-th expression of the i-th term with another value."""
    one = (terms[i].match_expressions or ())[j]
    return _with_term(terms, i, j, msgspec.structs.replace(one, values=(value,)))


def _with_term(terms: tuple[NodeSelectorTerm, ...], i: int, j: int, replacement: SelectorRequirement | None) -> Change:
    """The j-th expression of the i-th term replaced or dropped."""
    expressions = list(terms[i].match_expressions or ())
    expressions[j : j + 1] = [] if replacement is None else [replacement]
    term = msgspec.structs.replace(terms[i], match_expressions=tuple(expressions) or None)
    return field_edit(_REQUIRED, NodeSelector((*terms[:i], term, *terms[i + 1 :])))


def _never(terms: Sequence[NodeSelectorTerm]) -> str:
    """Why no node can match any of the terms; empty where some node could.

    Rule: Kubernetes: an empty term matches no node; the one value of Gt and Lt is an integer.
    """
    why: dict[str, None] = {}
    for term in terms:
        every = (*(term.match_expressions or ()), *(term.match_fields or ()))
        wrong = next((one for one in every if _no_integer(one)), None)
        if every and wrong is None:
            return ""
        why["an empty term matches no node" if wrong is None else f"{_words(wrong)} takes a whole number"] = None
    return " and ".join(why)


def _no_integer(one: SelectorRequirement) -> bool:
    return one.operator in ("Gt", "Lt") and any(as_int64(value) is None for value in one.values or ())


def _as_integer(one: SelectorRequirement) -> SelectorRequirement | None:
    """The requirement with the number that a quantity begins with; None where its value is a number."""
    if not _no_integer(one):
        return None
    digits = [found.group() for value in one.values or () if (found := _DIGITS.match(value))]
    return msgspec.structs.replace(one, values=tuple(digits)) if digits else None
