"""Applies the patches of fixes to the documents of a cluster, as an API server and controllers do."""

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from kubesched.api import KubeObject, Patch, Pod, type_of
from kubesched.explanation import Fix
from kubesched.snapshot import load_snapshot

Document = dict[str, Any]
Key = tuple[str, str, str]
NOTHING: Mapping[Key, Document] = {}
TEMPLATES = {"CronJob": ("spec", "jobTemplate", "spec", "template")}
BY_NAME = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "resourceClaims": "name",
    "ports": "containerPort",
}
BY_NAME |= {"topologySpreadConstraints": "topologyKey"}


def merged(document: Any, patch: Any, type: str) -> Any:
    """RFC 7386; or a strategic merge patch, of which lists of pods are merged by their keys."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif type == "strategic" and name in BY_NAME and isinstance(result.get(name), list):
            result[name] = merged_list(result[name], value, BY_NAME[name])
        else:
            result[name] = merged(result.get(name), value, type)
    return result


def merged_list(entries: list[Document], patch: list[Document], key: str) -> list[Document]:
    if {"$patch": "replace"} in patch:
        return [one for one in patch if one != {"$patch": "replace"}]
    by_key = {one[key]: one for one in entries}
    assert all(one[key] in by_key for one in patch)
    for one in patch:
        by_key[one[key]] = merged(by_key[one[key]], one, "strategic")
    return list(by_key.values())


def documents_of(objects: list[KubeObject]) -> list[Document]:
    """The objects as files have them, each with its namespace."""
    return [whole_document(one) for one in objects]


def whole_document(known: KubeObject) -> Document:
    version, kind = type_of(known)
    document = known.document
    place = {"namespace": known.namespace} if known.namespace else {}
    return {**document, "apiVersion": version, "kind": kind, "metadata": {**document["metadata"], **place}}


def key_of(document: Document) -> Key:
    metadata = document["metadata"]
    return document["kind"], metadata.get("namespace", ""), metadata["name"]


def is_equal(one: Document, other: Document) -> bool:
    """Whether one controller has both and they are not the same pod."""
    owners = [each["metadata"].get("ownerReferences") for each in (one, other)]
    return one is not other and one["kind"] == "Pod" and bool(owners[0]) and owners[0] == owners[1]


def claims_made_again(by_key: Mapping[Key, Document], pod: Key) -> dict[Key, Document]:
    """The claims that are made for a pod from templates, as for a new pod; those that it has keep their names."""
    document = by_key[pod]
    owner = {"apiVersion": "v1", "kind": "Pod", **{name: document["metadata"][name] for name in ("name", "uid")}}
    names = {one["name"]: one.get("resourceClaimName") for one in document["status"].get("resourceClaimStatuses", ())}
    made = {}
    for entry in document["spec"].get("resourceClaims", ()):
        template = by_key.get(("ResourceClaimTemplate", pod[1], entry.get("resourceClaimTemplateName", "")))
        if template is not None:
            name = names.setdefault(entry["name"], f"{pod[2]}-{entry['name']}-new")
            metadata = {"name": name, "namespace": pod[1], "ownerReferences": [{**owner, "controller": True}]}
            known = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata}
            made["ResourceClaim", pod[1], name] = {**known, "spec": template["spec"]["spec"]}
    statuses = [{"name": entry, "resourceClaimName": name} for entry, name in names.items()]
    document["status"] = {**document["status"], "resourceClaimStatuses": statuses}
    return made


def bound(cluster: list[KubeObject], pod: Pod, fix: Fix) -> dict[Key, Document]:
    """What controllers and schedulers do once the fix is applied: bind claims to volumes, give moved pods devices."""
    objects, _ = fix.change.apply(cluster, pod)
    new = {key_of(one): one for one in documents_of(objects)}
    old = {key_of(one): one for one in documents_of(cluster)}
    claims = {
        key: one
        for key, one in new.items()
        if key[0] == "PersistentVolumeClaim" and one != old.get(key) and (one["metadata"].get("annotations") or {})
    }
    volumes = {("PersistentVolume", "", one["spec"].get("volumeName", "")) for one in claims.values()}
    moved = {
        key: {"status": one.get("status") or {}}
        for key, one in new.items()
        if "movePod" in fix.kind and key[0] == "ResourceClaim" and one.get("status") != old.get(key, {}).get("status")
    }
    return (
        moved
        | {
            key: {
                "spec": {"volumeName": one["spec"].get("volumeName")},
                "metadata": {"annotations": one["metadata"]["annotations"]},
            }
            for key, one in claims.items()
        }
        | {key: new[key] for key in volumes if key in new and key not in old}
    )


def after(cluster: list[KubeObject], pod: Pod, fix: Fix) -> list[KubeObject]:
    """The cluster after the patches of a fix, loaded as from a file."""
    return patched(cluster, pod, fix.patches, bound(cluster, pod, fix))


def patched(
    cluster: list[KubeObject], pod: Pod, patches: Iterable[Patch], bound: Mapping[Key, Document] = NOTHING
) -> list[KubeObject]:
    """The cluster after some patches, loaded as from a file.

    Args:
        pod: the pending pod.
        bound: what controllers change then.
    """
    by_key = {key_of(one): one for one in documents_of(cluster)}
    mine = ("Pod", pod.namespace, pod.name)
    for one in patches:
        assert one.target is not None
        key = (one.target.kind, one.target.namespace, one.target.name)
        if one.action == "delete" and key[0] == "Job":
            continue
        if one.action == "delete":
            by_key = {name: known for name, known in by_key.items() if name != key or name == mine}  # re-created
        elif one.action == "create":
            assert key not in by_key
            assert one.patch is not None
            by_key[key] = one.patch
        elif key in by_key and (key[0] in ("Node", "Pod") or one.type == "merge"):
            by_key[key] = merged(by_key[key], one.patch, one.type)
        else:  # a workload: its controller creates the pod from the template
            template: Any = one.patch
            for step in TEMPLATES.get(one.target.kind, ("spec", "template")):
                template = template[step]
            for name in [mine, *(name for name in by_key if is_equal(by_key[name], by_key[mine]))]:
                by_key[name] = merged(by_key[name], {"spec": template["spec"]}, one.type)
        if key == mine and one.action in ("delete", "recreate"):
            by_key |= claims_made_again(by_key, mine)
    for key, document in bound.items():
        by_key[key] = merged(by_key.get(key), document, "merge")
    pod_spec = by_key[mine]["spec"]
    admitted = by_key.get(("PriorityClass", "", pod_spec.get("priorityClassName", "")))
    if admitted is not None:
        pod_spec["priority"] = admitted["value"]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(by_key.values())})
    return list(load_snapshot(io.BytesIO(text.encode())))
