"""The patch of the pending pod, or of the workload whose template it is made from."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubesched.admission import AddedParts
from kubesched.api import KUEUE, SERVICE_OF_K3S, OwnerReference, Patch, PatchTarget, Pod
from kubesched.documents import joined, merge_patch
from kubesched.explanation.kubectl import (
    command_lines,
    deleting,
    in_namespace,
    names_of,
    only_shown,
    patching,
    recreating,
)

Owners = tuple[OwnerReference, ...]
"""The controller of a pod, and that of the controller, such as a Deployment; empty for none."""

_KEYS: Final = {
    "containers": "name",
    "initContainers": "name",
    "ports": "containerPort",
    "resourceClaims": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumes": "name",
}
"""Rule: Kubernetes v1.36 API: by what strategic merge patches merge lists of a pod; other lists are replaced."""
_TEMPLATES: Final = {
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("", "ReplicationController"): ("spec", "template"),
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
_REPLACING: Final = ("Deployment", "DaemonSet")
"""Controllers that replace a pending pod when their template changes.

Rule: Kubernetes: a StatefulSet waits for a broken pod ("forced rollback"); a ReplicaSet and a ReplicationController
leave the pods that they have.
"""
_ADDED_SECONDS: Final = 300
_ADDED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_OF_NODES: Final = "node.kubernetes.io/"
_OF_JOBS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
_GATES: Final = "schedulingGates"
_BY_HAND: Final = "only by hand if its controller is gone: what that waits for is not checked then"


def of_strategy(text: str, deployment: PatchTarget, *, is_new: bool = False) -> Patch:
    """The step that lets an old pod of a Deployment go before the new one comes.

    Args:
        is_new: whether the Deployment is one of a manifest, so that the manifest changes.
    """
    body = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}}
    return Patch(text, deployment, "patch", body, "merge") if is_new else patching(text, deployment, body, "merge")


def pod_patches(
    text: str, old: Pod, new: Pod, owners: Owners, added: AddedParts, *, is_new: bool = False
) -> Iterator[Patch]:
    """The steps that change the pod.

    Rule: kube-apiserver v1.36: of a pod, tolerations can be added and scheduling gates removed; a Job's template cannot
    be changed.

    Args:
        added: what admission added to the pod: no template is patched for that.
        is_new: whether the pod is from a manifest, and not in the cluster.
    """
    was, now = _spec(old), _spec(new)
    body = merge_patch(was, now, _KEYS)
    pod = PatchTarget("v1", "Pod", old.namespace, old.name)
    if not body:
        return
    if not is_new and body.keys() == {_GATES}:
        if all(gate["name"].startswith(KUEUE) for gate in was[_GATES]):
            yield Patch(text)
        else:
            yield only_shown(patching(text, pod, {"spec": body}, "merge", _BY_HAND))
        return
    owner = owners[-1] if owners else None
    if owner is None:
        yield _alone(text, pod, was, body, is_new=is_new)
        return
    if owner.kind == "DaemonSet" and owner.name.startswith(SERVICE_OF_K3S):
        yield Patch(text)  # its controller would change it back
        return
    path = _TEMPLATES.get((owner.api_version.rpartition("/")[0], owner.kind))
    if path is None:
        yield Patch(f"{text}, in the pods of {owner.kind} {old.namespace}/{owner.name}")
        return
    if lacking := _lacking(body, added):
        where = "is not in the template" if added.template is not None else "may not be in the template"
        yield Patch(f"{text}, where it is added: {lacking} {where} of {owner.kind} {old.namespace}/{owner.name}")
        return
    target = PatchTarget(owner.api_version, owner.kind, old.namespace, owner.name)
    template = _template(body, was, is_daemon=owner.kind == "DaemonSet")
    whole = _nested(path, {"spec": template})
    if is_new:
        yield Patch(text, target, "patch", whole, "strategic")
    elif owner.kind == "Job":
        none = dict.fromkeys(_OF_JOBS)
        whole = {"spec": {"selector": None, "template": {"metadata": {"labels": none}, "spec": template}}}
        why = "the template of a Job cannot be changed: it is deleted with its pods, and starts again"
        yield recreating(text, target, whole, "strategic", why)
    else:
        yield patching(text, target, whole, "strategic", _effect(owner.kind))
        yield from _following(text, owners, pod)


def created_again(text: str, pod: Pod, having: str) -> Iterator[Patch]:
    """The step after which a pending pod of a controller has what new pods get.

    Args:
        having: what it has then, such as `with a new claim`.
    """
    owner = pod.metadata.controller
    if owner is not None:
        why = f"it is pending, and {owner.kind} {owner.name} creates it again, {having}"
        yield deleting(text, PatchTarget("v1", "Pod", pod.namespace, pod.name), why)


def _lacking(body: dict[str, Any], added: AddedParts) -> str:
    """What a patch of the pod changes that its template does not have; empty for nothing."""
    changed = [one["name"] for field in ("containers", "initContainers") for one in body.get(field) or ()]
    containers = [f"container {name}" for name in changed if name in added.containers]
    selector = body.get("nodeSelector", {})
    keys = added.node_selector if selector is None else added.node_selector.keys() & selector.keys()
    return joined([*containers, *(f"node selector {key}={added.node_selector[key]}" for key in sorted(keys))])


def _effect(kind: str) -> str:
    return "replaces all of its pods" if kind in (*_REPLACING, "StatefulSet") else "for new pods"


def _following(text: str, owners: Owners, pod: PatchTarget) -> Iterator[Patch]:
    """What a new template does not do by itself."""
    owner = owners[-1]
    if owner.kind == "CronJob":
        job = PatchTarget(owners[0].api_version, "Job", pod.namespace, owners[0].name)
        delete = deleting(text, job, "with its pods; the template of a Job cannot be changed")
        words = ("kubectl", "create", "job", job.name, f"--from=cronjob/{owner.name}", *in_namespace(job))
        create = command_lines(*words, names=(*names_of(job), owner.name))
        yield Patch(text, job, "delete", commands=(*delete.commands, *create))
    elif owner.kind not in _REPLACING:
        why = f"it is pending, and {owner.kind} {owner.name} creates it again from the new template"
        yield deleting(text, pod, why)


def _alone(text: str, pod: PatchTarget, was: dict[str, Any], body: dict[str, Any], *, is_new: bool) -> Patch:
    """The step for a pod that no controller has."""
    if is_new:
        return Patch(text, pod, "patch", {"spec": body}, "strategic")
    old = was.get("tolerations") or []
    if body.keys() == {"tolerations"} and (body["tolerations"] or [])[: len(old)] == old:
        return patching(text, pod, {"spec": body}, "merge")
    if "priorityClassName" in body:
        body = {**body, "priority": None}  # the API server fills it in
    why = "a pod cannot be changed: it is deleted and re-created; it is pending, so nothing is lost"
    return recreating(text, pod, {"spec": body}, "strategic", why)


def _spec(pod: Pod) -> dict[str, Any]:
    spec: dict[str, Any] = pod.document.get("spec") or {}
    return spec


def _nested(path: tuple[str, ...], inner: dict[str, Any]) -> dict[str, Any]:
    for name in reversed(path):
        inner = {name: inner}
    return inner


# --- a template, as it was before the API server and controllers added to its pods ---


def _template(body: dict[str, Any], was: dict[str, Any], *, is_daemon: bool) -> dict[str, Any]:
    """The patch of a pod as that of its template."""
    kept = {name: _without_merged_keys(value) for name, value in body.items() if name != "priority"}
    if "tolerations" in kept:
        old = was.get("tolerations") or []
        mine = [one for one in kept["tolerations"] or () if one not in old or not _is_added(one, is_daemon=is_daemon)]
        kept["tolerations"] = mine or None
    return kept


def _is_added(toleration: Mapping[str, Any], *, is_daemon: bool) -> bool:
    """Rule: Kubernetes v1.36: admission adds two tolerations of 300 s, the DaemonSet controller those of nodes."""
    key = toleration.get("key") or ""
    if is_daemon and key.startswith(_OF_NODES) and toleration.get("operator") == "Exists":
        return True
    return key in _ADDED and toleration.get("tolerationSeconds") == _ADDED_SECONDS


def _without_merged_keys(value: Any) -> Any:
    """Rule: kube-apiserver v1.36: matchLabelKeys of a pod are added to its labelSelector, with the pod's values."""
    if isinstance(value, list):
        return [_without_merged_keys(one) for one in value]
    if not isinstance(value, dict):
        return value
    inner = {name: _without_merged_keys(one) for name, one in value.items()}
    merged = {*(value.get("matchLabelKeys") or ()), *(value.get("mismatchLabelKeys") or ())}
    selector = inner.get("labelSelector")
    if merged and isinstance(selector, dict) and selector.get("matchExpressions"):
        kept = [one for one in selector["matchExpressions"] if one.get("key") not in merged]
        inner["labelSelector"] = {**selector, "matchExpressions": kept}
    return inner
