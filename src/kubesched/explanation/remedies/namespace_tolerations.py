"""The remedy for a toleration that a namespace gives its pods, and that is not that of the taint it is meant for.

Rule: kube-apiserver v1.36 PodTolerationRestriction: the default tolerations of a namespace are a JSON list in an
annotation, and new pods get them.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from kubesched.api import NAMESPACE_TOLERATIONS, Namespace, PodSpec, Taint, Toleration, edited
from kubesched.controllers import CORDON
from kubesched.documents import joined
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, spec_edit
from kubesched.plugins import taint_words, untolerated_taints

_Document = dict[str, Any]


def namespace_tolerations(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Correct the default tolerations of the namespace whose keys are those of the taints."""
    given = _given(case)
    lists = (untolerated_taints(node.node.taints, case.pod.tolerations) for node in case.at(where) if given)
    distinct = dict.fromkeys(tuple(one for one in taints if one.key != CORDON.key) for taints in lists)
    for taints in distinct:
        if taints and {taint.key for taint in taints} <= given.keys():
            yield _corrected(case, given, taints)


def _given(case: Case) -> dict[str, _Document]:
    """Key -> the toleration of the pod that the namespace gives, and the template of the pod does not have."""
    namespace = case.object_of("Namespace", case.pod.namespace)
    written = (case.added.template or {}).get("tolerations") or []
    given = _defaults(namespace.annotations.get(NAMESPACE_TOLERATIONS, "")) if namespace is not None else []
    return {
        one["key"]: one
        for one in given
        if one not in written and any(_toleration(one) == mine for mine in case.pod.tolerations)
    }


def _defaults(text: str) -> list[_Document]:
    try:
        found = json.loads(text or "[]")
    except ValueError:
        return []
    return [one for one in found if isinstance(one, dict) and one.get("key")] if isinstance(found, list) else []


def _toleration(document: _Document) -> Toleration | None:
    try:
        return msgspec.convert(document, Toleration)
    except msgspec.ValidationError:
        return None


def _corrected(case: Case, given: dict[str, _Document], taints: tuple[Taint, ...]) -> Remedy:
    keys = {taint.key for taint in taints}
    more = [{"key": one.key, "operator": "Equal", "value": one.value, "effect": one.effect} for one in taints]

    def of_namespace(namespace: Namespace) -> Namespace:
        kept = [one for one in json.loads(namespace.annotations[NAMESPACE_TOLERATIONS]) if one.get("key") not in keys]
        text = json.dumps([*kept, *more], separators=(",", ":"))
        annotations = {**namespace.annotations, NAMESPACE_TOLERATIONS: text}
        return edited(namespace, metadata=msgspec.structs.replace(namespace.metadata, annotations=annotations))

    def of_pod(spec: PodSpec) -> PodSpec:
        gone = [_toleration(given[key]) for key in keys]
        kept = [one for one in spec.tolerations or () if one not in gone]
        return msgspec.structs.replace(spec, tolerations=(*kept, *(msgspec.convert(one, Toleration) for one in more)))

    old = joined(f"{key}={given[key].get('value', '')}" for key in sorted(keys))
    what = f"the toleration {old} that namespace {case.pod.namespace} gives its pods"
    change = spec_edit(of_pod) + Change(edits=(Edit("Namespace", case.pod.namespace, of_namespace),))
    text = f"correct {what} to {joined(map(taint_words, taints))}"
    return Remedy(text, "admission", True, change, effort=Effort.CORRECT)
