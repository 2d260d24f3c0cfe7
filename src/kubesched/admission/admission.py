"""Expands new pods and workloads to the objects that an API server and its controllers would create."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cached_property
from typing import Any, Final

import msgspec

from kubesched.admission.applied import CHANGED, applied, as_stored, changed_in
from kubesched.admission.checks import ObjectChecker
from kubesched.admission.claim_defaults import default_claim, ephemeral_claims
from kubesched.admission.cluster_outline import ClusterOutline, Key, key_of
from kubesched.admission.device_claim_checks import check_device_claim
from kubesched.admission.device_claims import claims_of_templates
from kubesched.admission.field_names import check_fields
from kubesched.admission.idle_constraints import idle_constraints
from kubesched.admission.known_fields import FIELDS
from kubesched.admission.limit_ranges import LimitRanges
from kubesched.admission.pod_checks import check_new_pod, notes_on, pod_faults
from kubesched.admission.pod_defaults import default_pod
from kubesched.admission.unapplied import Unapplied
from kubesched.admission.workload_checks import PARALLEL, check_pod_spec, check_workload
from kubesched.api import (
    KINDS,
    KubeObject,
    Namespace,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    UpdateStrategy,
    allows_comparisons,
    as_v1,
    decode_object,
    kind_key,
    with_comparisons,
)
from kubesched.controllers import (
    GROUPS,
    Autoscalers,
    ControllerManifest,
    CronJobManifest,
    NamedManifest,
    PodManifest,
    Scaled,
    WithoutPods,
    WorkloadManifest,
    WrittenWorkload,
    api_version_of,
    awake,
    expand_workload,
    generated_name,
    has_pod_template,
    is_scaled_object,
    left_out,
    node_of_daemon,
    replica_count,
    why_no_pods,
)
from kubesched.documents import RawJson, decode_forgiving
from kubesched.errors import ObjectError
from kubesched.release import DEFAULT_RELEASE, Release

Document = dict[str, Any]

_KEPT_METADATA: Final = ("name", "namespace", "labels", "annotations", "ownerReferences")
_DEVICE_CLAIMS: Final = ("ResourceClaim", "ResourceClaimTemplate")
_HELM_HOOK: Final = "helm.sh/hook"
_decode_pod: Final = msgspec.json.Decoder(PodManifest).decode
_decode_workload: Final = msgspec.json.Decoder(WorkloadManifest).decode
_decode_controller: Final = msgspec.json.Decoder(ControllerManifest).decode
_decode_cron_job: Final = msgspec.json.Decoder(CronJobManifest).decode
_decode_named: Final = msgspec.json.Decoder(NamedManifest).decode
_decode_document: Final = msgspec.json.Decoder(dict[str, Any]).decode


class Admission:
    """Admits manifests to a cluster, one after another: first what pods refer to, then pods and workloads.

    Args:
        cluster: the objects of the snapshot.
        places: the source of each of them; `str()` is shown.
        kinds: what may be in a manifest; every kind is accepted by default.
        are_awake: whether workloads that are suspended or have 0 replicas get pods, as if they were resumed.
        release: the version of the API server.
    Attributes:
        objects: what they come to: pods, each after its claims, replica sets and stateful sets before their pods.
        notes: what the user should know, one sentence each.
        scaled: the workloads whose replicas an autoscaler sets; the notes have the sentences on them.
        without_pods: what may have pods and adds none; the notes have the sentences on it.
        left_out: how many objects were left out, because kubesched does not read them and they do not become pods.
        left_out_names: the names of those of other systems than Kubernetes, by the kind that they are counted under;
            without those that the notes name.
        unapplied: what a cluster would add to the pods and claims, and kubesched does not.
        changed: the objects of the snapshot that the manifests change, as they are then.
        present: how many other objects than these, pods and workloads the snapshot has already. It does not change for
            them: a cluster fills in their specs, or refuses the change.
        strategies: how each workload replaces its pods.
    """

    def __init__(
        self,
        cluster: Sequence[KubeObject],
        places: Mapping[Key, object],
        kinds: Collection[str] = (),
        *,
        are_awake: bool = False,
        release: Release = DEFAULT_RELEASE,
    ) -> None:
        self._release = release
        self.objects: list[KubeObject] = []
        self.notes: list[str] = []
        self.without_pods: list[WithoutPods] = []
        self.scaled: list[Scaled] = []
        self.left_out: Counter[str] = Counter()
        self.left_out_names: dict[str, list[str]] = {}
        self.unapplied = Unapplied()
        self.changed: dict[Key, KubeObject] = {}
        self.present: Counter[str] = Counter()
        self.strategies: dict[Key, UpdateStrategy] = {}
        self._snapshot = cluster
        self._places = dict(places)
        self._workloads: dict[Key, object] = {}
        self._checked_spec: PodSpec | None = None
        self._constrained: list[tuple[str, Pod]] = []  # places and pods, one of each spec
        self._kinds = kinds
        self._are_awake = are_awake
        self._checker = ObjectChecker()
        self._generated: Counter[str] = Counter()
        self._autoscalers = Autoscalers()

    @staticmethod
    def order(kind: str) -> int:
        """The place of a kind in the order in which manifests are admitted."""
        if kind in _DEVICE_CLAIMS:  # their namespace first
            return 1
        return 3 if kind in GROUPS else 2 if kind == "PersistentVolumeClaim" else 0

    def applied_to(self, cluster: Iterable[KubeObject]) -> list[KubeObject]:
        """A cluster with the objects that the manifests change, and without those that they add."""
        return changed_in(cluster, self.changed)

    def idle_constraints(self) -> Iterator[str]:
        """Notes on what new pods demand without effect, once everything is admitted."""
        if self._constrained:
            pods = [known for known in (*self.objects, *self._snapshot) if isinstance(known, Pod)]
            notes = (f"{at}{note}" for at, pod in self._constrained for note in idle_constraints(pod, pods))
            yield from dict.fromkeys(notes)

    @cached_property
    def _cluster(self) -> ClusterOutline:
        """The snapshot and the new objects that pods refer to, from the first pod, workload or claim on."""
        known = [*self.applied_to(self._snapshot), *self.objects]
        self._autoscalers.know(known)
        return ClusterOutline(known)

    def admit(self, kind: str, api_version: str, raw: RawJson, place: object) -> None:
        """Admit one object.

        Args:
            place: its source.
        Raises:
            ObjectError: it is of a kind that may not be there, has a bad or unknown field, or is there already.
        """
        if self._kinds and kind not in self._kinds:
            raise ObjectError(
                f"found kind {kind}; expected {', '.join(self._kinds)} here; put objects of other kinds into the "
                "snapshot files"
            )
        if other := left_out(kind, api_version):
            self.left_out[other] += 1
            self._look_at_left_out(kind, api_version, raw, place, other)
        elif kind not in GROUPS:
            key = kind_key(kind, api_version.rpartition("/")[0])
            self._admit_cluster_object(key, as_v1(key, api_version, raw), place)
        elif not api_version:
            raise ObjectError(f'apiVersion: found "{api_version}"; expected {api_version_of(kind)}')
        else:
            self._admit_running(kind, raw, place)

    def _look_at_left_out(self, kind: str, api_version: str, raw: RawJson, place: object, counted_as: str) -> None:
        """Look for pods of other systems than Kubernetes, and for their autoscalers; note the names of the rest."""
        group = api_version.rpartition("/")[0]
        if is_scaled_object(kind, api_version):
            self._autoscalers.know_scaled_object(raw)
        elif "." in group and not group.endswith("k8s.io"):
            metadata = decode_forgiving(_decode_named, raw)[0].metadata
            name = metadata.name or metadata.generate_name or "without a name"
            if has_pod_template(raw):
                why = "may have pods, but kubesched does not read this kind"
                workload = f"{kind}.{group} {metadata.namespace or 'default'}/{name}"
                self._say_no_pods(WithoutPods(str(place), workload, why, is_read=False))
            else:  # in a namespace or not: without one, the manifest does not show it
                key = f"{metadata.namespace}/{name}" if metadata.namespace else name
                self.left_out_names.setdefault(counted_as, []).append(key)

    def _say_no_pods(self, workload: WithoutPods) -> None:
        self.notes.append(f"{workload}; no pod is added for it")
        self.without_pods.append(workload)

    def _admit_cluster_object(self, kind: str, raw: RawJson, place: object) -> None:
        """Admit what pods refer to, such as a class, a namespace or a claim."""
        decoded = decode_object(kind, raw)
        document = decoded.document
        if kind in FIELDS:  # of a custom resource, only the fields that are read are known
            check_fields(kind, document, self._release)
        document |= {"apiVersion": KINDS[kind].api_version, "kind": KINDS[kind].name}
        document["metadata"]["namespace"] = decoded.namespace
        key = key_of(decoded)
        if key in self._places:
            if (stored := self._present.get(key)) is not None:
                self._change(key, stored, document)
                return
            raise _there_already(key, self._places[key])
        if kind == "PersistentVolumeClaim":
            self._add_claim(document, place)
            return
        if kind == "PersistentVolume":
            document["status"] = {"phase": "Available"}
        stored = as_stored(self._checked(kind, document))
        if kind in _DEVICE_CLAIMS:
            check_device_claim(stored, self._namespace_of(stored))
        self._keep(stored, place)

    def _namespace_of(self, stored: KubeObject) -> Namespace | None:
        """The namespace of an object, as manifests leave it; None where it is not known."""
        new = (one for one in self.objects if isinstance(one, Namespace) and one.name == stored.namespace)
        key = ("Namespace", "", stored.namespace)
        known = next(new, None) or self.changed.get(key) or self._present.get(key)
        return known if isinstance(known, Namespace) else None

    @cached_property
    def _present(self) -> dict[Key, KubeObject]:
        return {key_of(known): known for known in self._snapshot}

    def _change(self, key: Key, stored: KubeObject, document: Document) -> None:
        """Apply a manifest to the object that is there; the kinds that it cannot change stay as they are."""
        kind = key[0]
        if kind not in CHANGED:
            self.present[KINDS[kind].name] += 1
            return
        changed = self._checked(kind, applied(stored.document, document))
        if changed != stored:
            self.changed[key] = changed

    def _admit_running(self, kind: str, raw: RawJson, place: object) -> None:
        """Admit a pod or what becomes pods; the tests of a Helm chart run later."""
        _, raw = decode_forgiving(_decode_document, raw)
        named, raw = decode_forgiving(_decode_named, raw)
        hooks = (named.metadata.annotations or {}).get(_HELM_HOOK, "")
        if {"test", "test-success"}.intersection(hooks.replace(" ", "").split(",")):
            self.left_out["Helm test"] += 1
        elif kind == "Pod":
            self._admit_pod(raw, place)
        elif kind == "CronJob":
            self._admit_cron_job(raw, place)
        else:
            self._admit_workload(kind, raw, place)

    def _admit_pod(self, raw: RawJson, place: object) -> None:
        manifest, raw = decode_forgiving(_decode_pod, raw)
        check_fields("Pod", msgspec.json.decode(raw), self._release)
        check_pod_spec(manifest.spec, "spec")
        document = self._identified("Pod", raw)
        self._add_pod({key: document[key] for key in ("apiVersion", "kind", "metadata", "spec")}, place)

    def _admit_cron_job(self, raw: RawJson, place: object) -> None:
        """Admit the job of one run."""
        manifest, raw = decode_forgiving(_decode_cron_job, raw)
        check_fields("CronJob", msgspec.json.decode(raw), self._release)
        document = self._identified("CronJob", raw)
        name, namespace = document["metadata"]["name"], document["metadata"]["namespace"]
        if manifest.spec.suspend and not self._are_awake:
            self._say_no_pods(WithoutPods(str(place), f"CronJob {namespace}/{name}", "is suspended"))
            return
        self.notes.append(f"{place}: CronJob {namespace}/{name}: the pods of one run are added")
        template = (document.get("spec") or {}).get("jobTemplate") or {}
        metadata = {**(template.get("metadata") or {}), "name": f"{name}-1", "namespace": namespace}
        job = {"apiVersion": api_version_of("Job"), "kind": "Job", "metadata": metadata, "spec": template.get("spec")}
        with _inside("spec.jobTemplate"):
            self._admit_workload("Job", msgspec.json.encode(job), place)

    def _identified(self, kind: str, raw: RawJson) -> Document:
        """The manifest with what identifies it, and without what only an API server sets."""
        document: Document = msgspec.json.decode(raw)
        written = document.get("metadata") or {}
        if not written.get("name"):
            written["name"] = self._generate_name(written.get("generateName") or "")
        written["namespace"] = written.get("namespace") or "default"
        document["metadata"] = {key: written[key] for key in _KEPT_METADATA if written.get(key)}
        document["metadata"]["uid"] = self._cluster.uid_of((kind, written["namespace"], written["name"]))
        document |= {"apiVersion": api_version_of(kind), "kind": kind}
        return document

    def _generate_name(self, base: str) -> str:
        if not base:
            raise ObjectError("metadata.name is missing; every object has a name")
        self._generated[base] += 1
        return generated_name(base, self._generated[base] - 1)

    def _admit_workload(self, kind: str, raw: RawJson, place: object) -> None:
        if kind == "ReplicationController":
            controller, raw = decode_forgiving(_decode_controller, raw)
            spec = controller.spec.as_workload
        else:
            manifest, raw = decode_forgiving(_decode_workload, raw)
            spec = manifest.spec
        check_fields(kind, msgspec.json.decode(raw), self._release)
        check_workload(kind, spec)
        workload = WrittenWorkload(kind, self._identified(kind, raw), spec)
        workload = self._autoscaled(awake(workload) if self._are_awake else workload, place)
        key = (kind, workload.namespace, workload.name)
        if key in self._workloads:
            raise _there_already(key, self._workloads[key])
        self._workloads[key] = place
        strategy = spec.strategy or spec.update_strategy or UpdateStrategy()
        is_parallel = spec.pod_management_policy == PARALLEL
        self.strategies[key] = msgspec.structs.replace(strategy, is_parallel=is_parallel)
        self._change_strategy(key, workload.document)
        present = self._cluster.pods_of(key)
        names = {pod.name for pod in present}
        kept = added = 0
        taken = {node_of_daemon(pod) for pod in present} if kind == "DaemonSet" else set()
        nodes = [node for node in self._cluster.nodes if node.name not in taken]
        for document in expand_workload(workload, nodes):
            if document["kind"] == "Pod":
                if document["metadata"]["name"] in names:
                    kept += 1
                else:
                    added += 1
                    with _inside("spec.template"):
                        self._add_pod(document, place, within="spec.template.")
            elif document["kind"] == "PersistentVolumeClaim":
                self._add_claim(document, place)
            else:
                self._keep_unless_there(document, place)
        self._note_present(workload, place, len(present), kept)
        if not present and not added:
            why = why_no_pods(kind, workload.spec, self._cluster.nodes)
            self._say_no_pods(WithoutPods(str(place), f"{kind} {workload.namespace}/{workload.name}", why))

    def _change_strategy(self, key: Key, document: Document) -> None:
        """Give a Deployment that is there the strategy of its manifest."""
        stored, strategy = self._present.get(key), document["spec"].get("strategy")
        if key[0] == "Deployment" and stored is not None and strategy:
            changed = {**stored.document, "spec": {**(stored.document.get("spec") or {}), "strategy": strategy}}
            self.changed[key] = self._checked("Deployment", changed)

    def _autoscaled(self, workload: WrittenWorkload, place: object) -> WrittenWorkload:
        """The workload with the replicas that its autoscaler gives it."""
        scale = self._autoscalers.scale_of(workload.kind, workload.namespace, workload.name)
        if scale is None:
            return workload
        n = replica_count(scale.of(workload.spec.replicas), f"spec.replicas, set by {scale.by}")
        who = f"{place}: {workload.kind} {workload.namespace}/{workload.name}"
        self.scaled.append(Scaled(who, scale, n))
        self.notes.append(self.scaled[-1].sentence(n))
        document = {**workload.document, "spec": {**workload.document["spec"], "replicas": n}}
        return WrittenWorkload(workload.kind, document, msgspec.structs.replace(workload.spec, replicas=n))

    def _add_pod(self, document: Document, place: object, *, within: str = "") -> None:
        metadata = document["metadata"]
        metadata["uid"] = self._cluster.uid_of(("Pod", metadata["namespace"], metadata["name"]))
        written = deepcopy(document) if self._cluster.limit_ranges.adds_to(metadata["namespace"]) else None
        default_pod(document, self._cluster, self._cluster.limit_ranges)
        self.unapplied.look(document, self._cluster.runtime_classes)
        device_claims = [*claims_of_templates(document, self._cluster.claim_templates)]
        pod = self._checked("Pod", document)
        assert isinstance(pod, Pod)
        if pod.spec != self._checked_spec:  # pods of a workload are mostly alike
            self._check_new_pod(pod.spec, written)
            said = (f"{place}: {within}{one}" for one in (*notes_on(pod.spec), *self._claims_that_miss(pod)))
            self.notes += [one for one in said if one not in self.notes]
            if pod.spec.topology_spread_constraints or pod.spec.affinity:
                self._constrained.append((f"{place}: {within}", pod))
            self._checked_spec = pod.spec
        for claim in ephemeral_claims(document):
            self._add_claim(claim, place)
        for claim in device_claims:
            self._keep_unless_there(claim, place)
        self._keep(pod, place)

    def _claims_that_miss(self, pod: Pod) -> Iterator[str]:
        """A note for each claim that nothing makes: its template does not exist, or its namespace does not allow it."""
        for i, entry in enumerate(pod.spec.resource_claims or ()):
            name = entry.resource_claim_template_name
            if why := self._cluster.barred_templates.get((pod.namespace, name)):
                template = f"ResourceClaimTemplate {pod.namespace}/{name}"
                yield f"spec.resourceClaims[{i}]: no claim is made from {template}: {why}"
            elif name and (pod.namespace, name) not in self._cluster.claim_templates:
                yield (
                    f"spec.resourceClaims[{i}]: ResourceClaimTemplate {pod.namespace}/{name} does not exist; the pod "
                    "waits for a claim of it"
                )

    def _check_new_pod(self, spec: PodSpec, written: Document | None) -> None:
        """Check a new pod that has its defaults.

        Args:
            written: the pod without them, where LimitRanges add some: they may make a manifest valid, and of a valid
                manifest a pod that is not; an API server refuses only the pod.
        """
        if written is None:
            check_new_pod(spec, self._cluster.resources)
        elif any(pod_faults(spec)):
            default_pod(written, self._cluster, LimitRanges(()))
            bare = self._checked("Pod", written)
            if isinstance(bare, Pod) and any(pod_faults(bare.spec)):
                check_new_pod(spec, self._cluster.resources)

    def _add_claim(self, document: Document, place: object) -> None:
        default_claim(document, self._cluster.storage_class)
        try:
            self._keep_unless_there(document, place)
        except ObjectError as error:
            raise ObjectError(f"its claim {document['metadata']['name']}: {error}") from error

    def _keep_unless_there(self, document: Document, place: object) -> None:
        """Controllers leave alone what is there already: a claim, or the workload itself."""
        metadata = document["metadata"]
        key = (document["kind"], metadata["namespace"], metadata["name"])
        metadata.setdefault("uid", self._cluster.uid_of(key))
        admitted = as_stored(self._checked(document["kind"], document))
        if key not in self._cluster:
            self._keep(admitted, place)
            if isinstance(admitted, PersistentVolumeClaim):
                self.unapplied.look_at_claim(admitted, self._cluster.storage_classes)

    def _checked(self, kind: str, document: Document) -> KubeObject:
        admitted = decode_object(kind, msgspec.json.encode(document))
        if allows_comparisons(self._release):
            admitted = with_comparisons(admitted)
        self._checker.check(admitted)
        return admitted

    def _keep(self, admitted: KubeObject, place: object) -> None:
        key = key_of(admitted)
        if key in self._places:
            raise _there_already(key, self._places[key])
        self._places[key] = place
        self.objects.append(admitted)

    def _note_present(self, workload: WrittenWorkload, place: object, n_present: int, n_kept: int) -> None:
        if not n_present:
            return
        who = f"{place}: {workload.kind} {workload.namespace}/{workload.name}"
        if workload.kind == "StatefulSet":
            self.notes.append(f"{who} already has {n_kept} of these pods in the snapshot; they do not change")
        elif workload.kind == "DaemonSet":
            self.notes.append(f"{who} already has a pod on {n_present} nodes; only the other nodes get one")
        else:
            self.notes.append(f"{who} already has {n_present} pods in the snapshot; the pods of the manifest are added")


def _there_already(key: Key, place: object) -> ObjectError:
    kind, namespace, name = key
    return ObjectError(f"{kind} {namespace}/{name} already exists, from {place}; rename one of them")


@contextmanager
def _inside(path: str) -> Iterator[None]:
    """Say where the spec is that an error is about."""
    try:
        yield
    except ObjectError as error:
        raise ObjectError(f"{path}.{error}" if str(error).startswith("spec.") else str(error)) from error
