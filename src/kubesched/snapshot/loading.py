"""load_snapshot, admit_manifests and read_pod: read files and manifests into the objects of a cluster."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kubesched.admission import Admission, Key, PriorityClasses, changed_in, key_of
from kubesched.api import KINDS, KubeObject, Pod, PodDisruptionBudget, UpdateStrategy
from kubesched.controllers import Scaled, WithoutPods
from kubesched.documents import count, listed, plural
from kubesched.engine import paused_gc
from kubesched.errors import InputError, ObjectError
from kubesched.release import Release
from kubesched.snapshot.absent_devices import note_on_absent_devices
from kubesched.snapshot.byte_sources import Source, SourceLike, find_sources
from kubesched.snapshot.cluster_objects import ClusterObjects
from kubesched.snapshot.cluster_version import version_of, version_of_files
from kubesched.snapshot.files import Files
from kubesched.snapshot.items import Item, fault_of, in_namespace, items_of
from kubesched.snapshot.left_out import left_out_sentences
from kubesched.snapshot.missing import missing_kinds
from kubesched.snapshot.reader import ObjectReader, Progress
from kubesched.snapshot.unusable_input import kustomize_hint
from kubesched.snapshot.unused_claims import note_on_unused_claims


def load_snapshot(
    *sources: SourceLike,
    manifests: Iterable[SourceLike] = (),
    kinds: Iterable[str] = (),
    skip_bad_objects: bool = False,
    progress: Progress | None = None,
    release: Release | None = None,
) -> ClusterObjects:
    """Read what `kubectl get -o json|yaml` and `kubectl cluster-info dump` write: files, folders, `-`, open streams.

    Args:
        sources: JSON or YAML, plain or packed with gzip or zstd: lists, single objects, arrays, many documents, watch
            events, exports of kube-scheduler-simulator; folders and tar archives of such files. Objects are taken as an
            API server stores them; only a pod that has the name of its PriorityClass and no priority gets one, and a
            StorageClass the default binding mode.
        manifests: what `helm template` and `kustomize build` print: objects that no API server has seen. Workloads are
            expanded, and all get its defaults. What kubesched does not read is counted in `notes`. An unknown field
            of anything else is an error.
        kinds: further kinds to read whole, as a plugin names them in `reads`, such as
            `metrics.k8s.io/v1beta1/NodeMetrics`. Those that `kubesched snapshot --keep` stored are always read.
        skip_bad_objects: leave out an object that does not decode, and say so in `bad`, instead of raising. A bad
            manifest always raises.
        progress: called now and then with the bytes read so far and the bytes there are (0 when that is not known).
        release: the version whose fields manifests may have; by default, that of the cluster.
    Returns: every object that kubesched reads, once, in the order of the files; finished pods are among them.
    Raises:
        InputError: a file that cannot be read or holds no Kubernetes objects.
        ObjectError: a bad object, or the same object twice with different content and no resourceVersion to choose by.

    Example:
        snapshot = load_snapshot("cluster.json", manifests=["pod.yaml"])
        print(len(snapshot.of(Node)), "nodes;", snapshot.objects[-1].key)
    """
    with paused_gc(is_kept=True):
        files, manifest_files = find_sources(sources), find_sources(manifests)
        reader = ObjectReader(skip_bad_objects=skip_bad_objects, progress=progress, kinds=kinds)
        reader.read(files)
        cluster = completed_cluster(reader, manifest_files, release)
    n_read = len(reader.objects)
    read, new = cluster.objects[:n_read], cluster.objects[n_read:]
    missing = missing_kinds(read, cluster.listed_kinds)
    if new:
        missing += missing_kinds(read, cluster.listed_kinds, new)
    notes = (*cluster.notes, *_notes_on_budgets(cluster.objects))
    return msgspec.structs.replace(cluster, notes=notes, missing=tuple(missing))


def completed_cluster(
    reader: ObjectReader, manifest_files: Sequence[Source], release: Release | None = None, server_version: str = ""
) -> ClusterObjects:
    """What a reader has read, with the priorities of pods and the objects of manifests.

    Args:
        release: as for `load_snapshot`.
        server_version: what the API server says of itself; by default, what files have of it.
    Raises:
        InputError: a manifest cannot be read, or is not valid.
    """
    read = reader.objects
    classes = PriorityClasses(read)
    objects = [classes.resolve(known) if isinstance(known, Pod) else known for known in read]
    in_files, about_versions = version_of_files(reader.server_versions, reader.kubelet_versions)
    notes = [*reader.files.notes, *([] if server_version else about_versions)]
    server_version = server_version or in_files
    if manifest_files:
        release = release or version_of(ClusterObjects(tuple(objects), server_version=server_version)).release
        places = dict(zip(map(key_of, objects), reader.places, strict=True))
        admission = Admission(objects, places, release=release)
        files = Files(are_manifests=True)
        _admit(_read(manifest_files, files), admission)
        objects = [*admission.applied_to(objects), *admission.objects]
        notes += [*files.notes, *admission.notes, *_notes_on(admission)]
    notes += note_on_absent_devices(objects)
    notes += note_on_unused_claims(objects)
    return ClusterObjects(
        objects=tuple(objects),
        skipped=dict(reader.skipped),
        bad=tuple(reader.bad),
        notes=tuple(notes),
        taken_at=reader.taken_at,
        listed_kinds=reader.listed_kinds,
        scheduler_config=reader.files.scheduler_config,
        server_version=server_version,
    )


def read_pod(source: SourceLike, cluster: Sequence[KubeObject] = ()) -> tuple[Pod, tuple[KubeObject, ...]]:
    """Read a file with one pod that no API server has seen, and give it the defaults of one.

    Args:
        source: a file, `-` or an open stream.
        cluster: where its PriorityClass and the default StorageClass are looked up; it may hold the same pod.
    Returns: the pod, and the claims that its ephemeral volumes bring and the cluster lacks.
    Raises:
        InputError: the file cannot be read, or holds anything but one pod.

    Example:
        snapshot = load_snapshot("cluster.json")
        pod, claims = read_pod("pod.yaml", snapshot.objects)
        print(explain([*snapshot, *claims], pod).message)
    """
    (file, *others) = find_sources([source])
    known = [one for one in cluster if not isinstance(one, Pod)]
    admission = Admission(known, {}, ("Pod",), release=version_of(cluster).release)
    _admit(_read([file], Files(are_manifests=True)), admission)
    pods = [known for known in admission.objects if isinstance(known, Pod)]
    if others or len(pods) != 1:
        raise InputError(f"{file.label}: found {len(pods)} pods; expected a file with one Pod")
    return pods[0], tuple(known for known in admission.objects if known is not pods[0])


class AdmittedObjects(msgspec.Struct, frozen=True):
    """What manifests add to a cluster.

    Attributes:
        objects: pods, and what comes with them.
        notes: what the user should know about the manifests, one sentence each.
        strategies: how each workload replaces its pods, where its manifest has that.
        scaled: the workloads whose replicas an autoscaler sets; the notes have the sentences on them.
        without_pods: what may have pods and adds none; the notes have the sentences on it.
        left_out: what was left out because kubesched does not read it, one sentence each; the notes have them too.
        changed: the objects of the cluster that the manifests change, as they are then.
    """

    objects: tuple[KubeObject, ...]
    notes: tuple[str, ...] = ()
    strategies: dict[Key, UpdateStrategy] = {}
    without_pods: tuple[WithoutPods, ...] = ()
    left_out: tuple[str, ...] = ()
    scaled: tuple[Scaled, ...] = ()
    changed: dict[Key, KubeObject] = {}

    def applied_to(self, cluster: Iterable[KubeObject]) -> list[KubeObject]:
        """A cluster with the objects that the manifests change, and without those that they add."""
        return changed_in(cluster, self.changed)


def admit_manifests(
    cluster: Iterable[KubeObject],
    manifests: Iterable[SourceLike],
    *,
    may_wake: bool = False,
    namespace: str = "",
    release: Release | None = None,
) -> AdmittedObjects:
    """Read manifests that `load_snapshot` would add to a cluster.

    Args:
        may_wake: if the manifests add no pod, add those of workloads that are suspended or have 0 replicas, as if they
            were resumed.
        namespace: of the objects that name none; `default` by default.
        release: as for `load_snapshot`.
    Returns: what they add, without the cluster; of a workload that runs already only what its controller would add.
    Raises:
        InputError: a manifest cannot be read, or is not valid.

    Example:
        snapshot = load_snapshot("cluster.json")
        new = admit_manifests(snapshot, ["pod.yaml"])
        print(new.objects[-1].key)
    """
    known = list(cluster)
    places: dict[Key, object] = {key_of(one): "the cluster" for one in known}
    release = release or version_of(cluster if isinstance(cluster, ClusterObjects) else known).release
    admission = Admission(known, places, release=release)
    files = Files(are_manifests=True)
    items = _read(find_sources(manifests), files)
    if namespace:
        items = [in_namespace(item, namespace) for item in items]
    _admit(items, admission)
    asleep = list(map(str, admission.without_pods))
    if may_wake and asleep and not _has_pods(admission):
        admission = Admission(known, places, are_awake=True, release=release)
        _admit(items, admission)
        still = set(map(str, admission.without_pods))
        admission.notes += [f"{one}; its pods are tried as if it were resumed" for one in asleep if one not in still]
    left_out = tuple(left_out_sentences(admission.left_out, admission.left_out_names, source="the manifests"))
    return AdmittedObjects(
        tuple(admission.objects),
        (*files.notes, *admission.notes, *_notes_on(admission)),
        admission.strategies,
        tuple(admission.without_pods),
        left_out,
        tuple(admission.scaled),
        admission.changed,
    )


def _has_pods(admission: Admission) -> bool:
    return any(isinstance(known, Pod) for known in admission.objects)


def _read(sources: Iterable[Source], files: Files) -> list[Item]:
    """What files of manifests hold, in their order."""
    items = [item for source in sources for label, one in files.documents(source) for item in items_of(one, label)]
    for bad in items:
        if bad.fault is not None:
            raise fault_of(bad, bad.fault) from bad.fault
    return items


def _admit(items: Iterable[Item], admission: Admission) -> None:
    """Admit what manifests hold, in their order as far as pods do not need the rest first."""
    for item in sorted(items, key=lambda item: admission.order(item.header.kind or "")):
        try:
            admission.admit(item.header.kind or "", item.header.api_version or "", item.raw, item.place)
        except ObjectError as error:
            hint = kustomize_hint(item.place.label, bytes(item.raw))
            raise fault_of(item, ObjectError(f"{error}; {hint}") if hint else error) from error


def _notes_on(admission: Admission) -> Iterator[str]:
    yield from left_out_sentences(admission.left_out, admission.left_out_names, source="the manifests")
    yield from admission.unapplied.notes()
    yield from admission.idle_constraints()
    if admission.changed:
        changed = Counter(KINDS[kind].name for kind, _, _ in admission.changed if kind != "Deployment")
        if changed:
            yield f"in the snapshot and in the manifests, which are used: {_counted(changed)}"
    if admission.present:
        yield f"in the manifests and in the snapshot, which is used: {_counted(admission.present)}"
    if not _has_pods(admission):
        yield "the manifests add no pod"


def _notes_on_budgets(objects: Iterable[KubeObject]) -> Iterator[str]:
    """That a budget has no status: a controller writes it, and eviction goes by it alone."""
    budgets = [one for one in objects if isinstance(one, PodDisruptionBudget) and one.status.disruptions_allowed == 0]
    if names := [f"{one.namespace}/{one.name}" for one in budgets if not one.document.get("status")]:
        yield (
            f"without a status, as in a manifest: {count(len(names), 'PodDisruptionBudget')} ({listed(names)}), which "
            f"{plural(len(names), 'counts', 'count')} as allowing no eviction"
        )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
