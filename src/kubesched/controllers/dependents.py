"""Expands workloads to the objects that their controllers would create: replica sets, pods, claims.

Rule: kube-controller-manager v1.36, the controllers of the kinds in GROUPS: names, labels, owner references, volume
claim templates. Hashes in names are not those that Kubernetes computes. What an API server then does to new objects is
left to `pod_defaults` and `claim_defaults`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from kubesched.api import Node, Pod
from kubesched.controllers.daemon_nodes import bind_to_node, daemon_tolerations, may_run_daemon
from kubesched.controllers.generated_names import generated_name, stable_uid, template_hash
from kubesched.controllers.manifest_types import WorkloadSpec, api_version_of
from kubesched.errors import ObjectError

Document = dict[str, Any]

_MAX_PODS: Final = 500_000
_HASH_LABEL: Final = "pod-template-hash"
_REVISION_LABEL: Final = "controller-revision-hash"


class WrittenWorkload:
    """A workload whose fields have the right types.

    Attributes:
        kind: a key of GROUPS other than Pod.
        document: the manifest, with name, namespace and uid.
        spec: its spec, typed.
    """

    def __init__(self, kind: str, document: Document, spec: WorkloadSpec) -> None:
        self.kind = kind
        self.document = document
        self.spec = spec
        self.name: str = document["metadata"]["name"]
        self.namespace: str = document["metadata"]["namespace"]
        self.uid: str = document["metadata"]["uid"]
        self._template = msgspec.json.encode(document["spec"]["template"])

    @property
    def hash(self) -> str:
        """Letters that identify the pod template."""
        return template_hash(self._template)

    @property
    def owner_reference(self) -> Document:
        """What the workload's dependents carry."""
        return {
            "apiVersion": api_version_of(self.kind),
            "kind": self.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }

    def pod(self, name: str, labels: dict[str, str] | None = None) -> Document:
        """A new pod after the template, with further labels."""
        template: Document = msgspec.json.decode(self._template)
        written = template.get("metadata") or {}
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {**(written.get("labels") or {}), **(labels or {})},
            "annotations": written.get("annotations") or {},
            "ownerReferences": [self.owner_reference],
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def awake(workload: WrittenWorkload) -> WrittenWorkload:
    """The workload as it is when it is resumed: not suspended, and with one pod instead of none."""
    spec = workload.spec
    none = {name: 1 for name in ("replicas", "parallelism", "completions") if getattr(spec, name) == 0}
    changed: dict[str, Any] = none | ({"suspend": False} if spec.suspend else {})
    if not changed:
        return workload
    document = {**workload.document, "spec": {**workload.document["spec"], **changed}}
    return WrittenWorkload(workload.kind, document, msgspec.structs.replace(spec, **changed))


def expand_workload(workload: WrittenWorkload, nodes: Sequence[Node]) -> Iterator[Document]:
    """Yield what the workload's controllers would create, owners first; the pods still lack the API server's defaults.

    Args:
        nodes: of the cluster; a DaemonSet has a pod for each that its template fits.
    Raises:
        ObjectError: a number of pods that is negative or beyond any cluster.
    """
    if workload.kind == "DaemonSet":
        return _expand_daemon_set(workload, nodes)
    return _EXPANSIONS[workload.kind](workload)


def _expand_deployment(deployment: WrittenWorkload) -> Iterator[Document]:
    yield deployment.document
    label = {_HASH_LABEL: deployment.hash}
    document = msgspec.json.decode(msgspec.json.encode(deployment.document))
    spec, name = document["spec"], f"{deployment.name}-{deployment.hash}"
    template_metadata = spec["template"].setdefault("metadata", {})
    template_metadata["labels"] = {**(template_metadata.get("labels") or {}), **label}
    selector = spec["selector"]
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), **label}
    metadata = {
        "name": name,
        "namespace": deployment.namespace,
        "uid": stable_uid("ReplicaSet", deployment.namespace, name),
        "labels": template_metadata["labels"],
        "ownerReferences": [deployment.owner_reference],
    }
    kept = {key: spec[key] for key in ("replicas", "selector", "template") if key in spec}
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": kept}
    yield from _expand_replicas(WrittenWorkload("ReplicaSet", replica_set, deployment.spec))


def _expand_replicas(workload: WrittenWorkload) -> Iterator[Document]:
    """A ReplicaSet or ReplicationController, and its pods."""
    yield workload.document
    for i in range(replica_count(workload.spec.replicas, "spec.replicas")):
        yield workload.pod(generated_name(f"{workload.name}-", i))


def _expand_stateful_set(stateful_set: WrittenWorkload) -> Iterator[Document]:
    yield stateful_set.document
    start = stateful_set.spec.ordinals.start if stateful_set.spec.ordinals else 0
    for i in range(start, start + replica_count(stateful_set.spec.replicas, "spec.replicas")):
        name = f"{stateful_set.name}-{i}"
        labels = {
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(i),
            _REVISION_LABEL: f"{stateful_set.name}-{stateful_set.hash}",
        }
        pod = stateful_set.pod(name, labels)
        claims = [_claim_of(stateful_set, template, name) for template in _claim_templates(stateful_set)]
        _mount(pod["spec"], claims)
        yield from (claim for _, claim in claims)
        yield pod


def _claim_templates(stateful_set: WrittenWorkload) -> list[Document]:
    return stateful_set.document["spec"].get("volumeClaimTemplates") or []


def _claim_of(stateful_set: WrittenWorkload, template: Document, pod: str) -> tuple[str, Document]:
    """The volume's name and the claim of one pod."""
    written = template["metadata"]
    selector = stateful_set.document["spec"]["selector"]
    metadata = {
        "name": f"{written['name']}-{pod}",
        "namespace": stateful_set.namespace,
        "labels": {**(written.get("labels") or {}), **(selector.get("matchLabels") or {})},
        "annotations": written.get("annotations") or {},
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }
    return written["name"], claim


def _mount(spec: Document, claims: list[tuple[str, Document]]) -> None:
    """Give a pod its claims as volumes; one of the same name in the template gives way."""
    names = {name for name, _ in claims}
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": c["metadata"]["name"]}} for name, c in claims]
    volumes += [volume for volume in spec.get("volumes") or () if volume["name"] not in names]
    if volumes:
        spec["volumes"] = volumes


def _expand_daemon_set(daemon_set: WrittenWorkload, nodes: Sequence[Node]) -> Iterator[Document]:
    labels = {_REVISION_LABEL: daemon_set.hash, "pod-template-generation": "1"}
    tolerations = daemon_tolerations(host_network=daemon_set.spec.template.spec.host_network)

    def new_pod(index: int) -> Document:
        pod = daemon_set.pod(generated_name(f"{daemon_set.name}-", index), labels)
        pod["spec"]["tolerations"] = [*(pod["spec"].get("tolerations") or ()), *tolerations]
        return pod

    sample = msgspec.convert({"spec": new_pod(0)["spec"]}, Pod)
    for i, node in enumerate(nodes):
        if may_run_daemon(sample, node):
            pod = new_pod(i)
            bind_to_node(pod["spec"], node.name)
            yield pod


def _expand_job(job: WrittenWorkload) -> Iterator[Document]:
    spec = job.spec
    parallelism = replica_count(spec.parallelism, "spec.parallelism")
    completions = parallelism if spec.completions is None else replica_count(spec.completions, "spec.completions")
    labels = {
        "batch.kubernetes.io/controller-uid": job.uid,
        "batch.kubernetes.io/job-name": job.name,
        "controller-uid": job.uid,
        "job-name": job.name,
    }
    yield job.document
    for i in range(0 if spec.suspend else min(parallelism, completions)):
        if spec.completion_mode != "Indexed":
            yield job.pod(generated_name(f"{job.name}-", i), labels)
            continue
        index = {"batch.kubernetes.io/job-completion-index": str(i)}
        pod = job.pod(generated_name(f"{job.name}-{i}-", i), {**labels, **index})
        pod["metadata"]["annotations"] |= index
        yield pod


def replica_count(written: int | None, path: str) -> int:
    """The number of replicas, 1 by default.

    Raises:
        ObjectError: it is negative or beyond any cluster.
    """
    count = 1 if written is None else written
    if not 0 <= count <= _MAX_PODS:
        raise ObjectError(f"{path}: found {count}; expected 0 to {_MAX_PODS}")
    return count


_EXPANSIONS: Final[dict[str, Callable[[WrittenWorkload], Iterator[Document]]]] = {
    "Deployment": _expand_deployment,
    "ReplicaSet": _expand_replicas,
    "StatefulSet": _expand_stateful_set,
    "Job": _expand_job,
    "ReplicationController": _expand_replicas,
}
