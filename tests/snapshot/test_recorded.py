"""Manifests come out as kube-apiserver and kube-controller-manager v1.36.3 stored them (recorded/README.md)."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.api import KubeObject, Pod, kind_of, parse_quantity
from kubesched.snapshot import load_snapshot

RECORDED = Path(__file__).parent / "recorded"
OFTEN_EMPTY = ("annotations", "labels", "resources")
MADE_UP = (  # what controllers make up, and what stands for it here
    (r"\bdep-[a-z0-9]{8,10}(-[a-z0-9]{5})?\b", "dep-HASH"),
    (r'"(rs|ds|dsnet|job|jobc|jobi-\d)-[a-z0-9]{5}"', r'"\1-SUFFIX"'),
    (r'(pod-template-hash"|controller-revision-hash"|[a-z.]*uid"): "[^"]*"', r'\1: "MADE UP"'),
    (r'("pod-template-hash", "operator": "In", "values"): \["[^"]*"\]', r"\1: []"),
)


def comparable(known: KubeObject) -> str:
    """What a scheduler reads of an object, apart from made-up names, as text with sorted keys."""
    fields = msgspec.to_builtins(known)
    metadata = {key: fields["metadata"].get(key) or {} for key in ("name", "labels", "annotations", "ownerReferences")}
    if kind_of(known) == "ReplicaSet":
        metadata["annotations"] = {}  # the Deployment controller's bookkeeping
    phase = fields.get("status", {}).get("phase")
    text = json.dumps(plain({"metadata": metadata, "spec": fields["spec"], "phase": phase}), sort_keys=True)
    for pattern, name in MADE_UP:
        text = re.sub(pattern, name, text)
    return text


def plain(value: Any, key: str = "") -> Any:
    """Amounts as numbers, without the huge-page limits of pods, which a scheduler does not read, and without `{}`."""
    if key in ("requests", "limits"):
        amounts = {name: parse_quantity(amount) for name, amount in (value or {}).items()}
        return {name: nano for name, nano in amounts.items() if (key, name) != ("limits", "hugepages-2Mi")}
    if isinstance(value, dict):
        fields = {name: plain(field, name) for name, field in value.items()}
        return {name: field for name, field in fields.items() if field != {} or name not in OFTEN_EMPTY}
    return [plain(field) for field in value] if isinstance(value, list | tuple) else value


def by_kind(objects: tuple[KubeObject, ...]) -> dict[str, list[str]]:
    made = {"Pod", "PersistentVolumeClaim", "ReplicaSet", "StatefulSet"}
    kinds: dict[str, list[str]] = {kind: [] for kind in made}
    for known in objects:
        if kind_of(known) in made:
            kinds[kind_of(known)].append(comparable(known))
    return {kind: sorted(texts) for kind, texts in kinds.items()}


STORED = by_kind(load_snapshot(RECORDED / "stored.json.gz").objects)
MADE = by_kind(load_snapshot(RECORDED / "cluster.json.gz", manifests=[RECORDED / "manifests.json"]).objects)


@pytest.mark.parametrize("kind", sorted(STORED))
def test_manifests_become_what_kubernetes_makes_of_them(kind):
    assert len(STORED[kind]) > 0
    assert MADE[kind] == STORED[kind]


def test_pods_that_are_stored_already_are_all_there():
    assert len(load_snapshot(RECORDED / "stored.json.gz").of(Pod)) == len(MADE["Pod"])
