"""The pods that a question is about: those of manifests, or of plain requests, as many as wanted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from os import PathLike
from typing import IO, Final, TypeGuard, cast

from kubesched.admission import with_given_parts
from kubesched.api import KubeObject, Pod, PodOwners, Taint, UpdateStrategy, Workload, kind_of, workloads
from kubesched.controllers import Scaled, WithoutPods, further_pods, pods_to_add, with_free_names
from kubesched.documents import count, joined, listed, plural
from kubesched.errors import InputError
from kubesched.naming import find_workload, typed_name
from kubesched.planning.made_pods import Amounts, notes_on_requests, pods_of_requests, taints_at_devices
from kubesched.plugins import taint_words
from kubesched.release import Release
from kubesched.snapshot import admit_manifests

Manifest = str | PathLike[str] | IO[bytes] | IO[str]
PodsLike = Manifest | Iterable[Manifest] | Amounts | Iterable[KubeObject]
"""A manifest or several (files, `-` or open streams), the requests of one pod, or objects with the pods among them."""

_NO_REPLICAS: Final = "has one pod on each node and no replicas"
_DEFAULT: Final = "default"
_MOST_TRIED: Final = 1_000  # pods, where the number was not asked for
_NO_STRATEGIES: Mapping[Workload, UpdateStrategy] = {}
_NO_DEVICES: Mapping[str, int] = {}


class Asked:
    """New pods, and the objects that come with them.

    Args:
        cluster: the objects that are there already, as the manifests change them.
        new: what is added to it.
        notes: what a user should know about the manifests.
        strategies: how each workload replaces its pods, where its manifest has that.
        without_pods: workloads of the manifests that have no pods.
        left_out: what else the manifests have, one sentence each.
        scaled: the workloads whose replicas an autoscaler sets.
    Raises:
        InputError: there are no new pods, and no workload that is known to have none now.
    Attributes:
        cluster, without_pods: as given.
        pods: the new pods.
        workloads: whom they belong to; a pod without a controller stands for itself.
        existing: those of them that have pods in the cluster already, with these pods.
        namesakes: workloads of the cluster which they probably are, if their namespace is another one.
    """

    def __init__(
        self,
        cluster: Sequence[KubeObject],
        new: Iterable[KubeObject],
        notes: Sequence[str] = (),
        strategies: Mapping[Workload, UpdateStrategy] = _NO_STRATEGIES,
        without_pods: Sequence[WithoutPods] = (),
        scaled: Sequence[Scaled] = (),
        left_out: Sequence[str] = (),
    ) -> None:
        self.cluster = cluster
        self._new = list(new)
        self._owners = PodOwners(self._new)
        self.notes = tuple(notes)
        self.namesakes: tuple[Workload, ...] = ()
        self._scaled = tuple(scaled)
        self.strategies = strategies
        self.pods = [one for one in self._new if isinstance(one, Pod)]
        self.without_pods = tuple(without_pods)
        if not self.pods and not any(one.is_read for one in self.without_pods):
            found = "; ".join(map(str, self.without_pods)) or "; ".join(left_out)
            raise InputError(
                f"the manifests have no pods: {found or 'found neither a Pod nor a workload with replicas'}"
            )
        self.workloads = list(dict.fromkeys(map(self._owners.workload_of, self.pods)))
        present = workloads(cluster)
        by_key = {one.key: one for one in cluster if isinstance(one, Pod)}
        self.existing: dict[Workload, list[Pod]] = {}
        for workload in self.workloads:
            same = by_key.get(f"{workload.namespace}/{workload.name}") if workload.kind == "Pod" else None
            if pods := [same] if same is not None else present.get(workload, []):
                self.existing[workload] = pods

    def there_already(self) -> str:
        """Which of the workloads exist, as the beginning of a sentence; empty for none."""
        if not self.existing:
            return ""
        workload, pods = next(iter(self.existing.items()))
        if len(self.existing) > 1:
            return f"{len(self.existing)} of the workloads exist already, such as {workload}"
        if workload.kind == "Pod":
            return f"{workload} exists already"
        return f"{workload} already has {count(len(pods), 'pod')} in the cluster"

    def pods_of(self, workload: Workload, new: Iterable[KubeObject]) -> list[Pod]:
        """The pods among some new objects that belong to a workload."""
        return [one for one in new if isinstance(one, Pod) and self._owners.workload_of(one) == workload]

    def only(self, workload: str) -> "Asked":
        """The pods of one of the workloads; other new objects, such as a PriorityClass, stay.

        Args:
            workload: `deploy/web`, or `shop/deploy/web` with its namespace.
        Raises:
            InputError: there is no such workload, or several namespaces have it.
        """
        asleep = {Workload(*_parts(one.workload)): one for one in self.without_pods if one.is_read}
        everything = [*self.workloads, *asleep]
        chosen = find_workload(everything, workload, "the manifests have", f"found: {_listed(everything)}")
        kept = [one for one in self._new if not isinstance(one, Pod) or self._owners.workload_of(one) == chosen]
        n = len(self.workloads) - (chosen not in asleep)
        left_out = f"{count(n, 'other workload of the manifests is', 'other workloads of the manifests are')} left out"
        notes = [*self.notes, *([left_out] if n else [])]
        without = (asleep[chosen],) if chosen in asleep else ()
        return Asked(self.cluster, kept, notes, self.strategies, without, self._scaled)

    def found_several(self, only: str) -> str:
        """Which workloads were found, and the choice of one that has replicas; empty for a single workload.

        Args:
            only: how one is chosen, with `{}` in place of its name.
        """
        if len(self.workloads) == 1:
            return ""
        if not self.workloads:
            return f"the manifests have no pods: {'; '.join(map(str, self.without_pods))}"
        chosen = next((one for one in self.workloads if one.kind != "DaemonSet"), None)
        choice = f"choose one, such as {only.format(typed_name(chosen))}" if chosen else f"a DaemonSet {_NO_REPLICAS}"
        return f"found {len(self.workloads)}: {_listed(self.workloads)}; {choice}"

    def beside_existing(self) -> "Asked":
        """The pods that are added where the existing ones stay.

        Raises:
            InputError: a workload cannot have more pods, or all of its pods exist.
        """
        for workload in self.existing:
            if workload.kind in ("DaemonSet", "Pod"):
                raise InputError(f"{workload} exists already and cannot be added a second time; replace it instead")
        taken = {one.key for pods in self.existing.values() for one in pods}
        kept = [one for one in self._new if not (isinstance(one, Pod) and one.key in taken)]
        if not any(isinstance(one, Pod) for one in kept):
            raise InputError(f"{self.workloads[0]} has all of these pods already; there is nothing to add")
        added = Asked(self.cluster, kept, self.notes, self.strategies, (), self._scaled)
        added.existing = {}
        return added

    def instead(
        self, cluster: Sequence[KubeObject], new: Iterable[KubeObject], existing: Mapping[Workload, list[Pod]]
    ) -> "Asked":
        """The same question with other objects; there may be no new pods."""
        other = copy(self)
        other.cluster, other._new, other.existing = cluster, list(new), dict(existing)
        other._owners = PodOwners((*cluster, *other._new))
        other.pods = [one for one in other._new if isinstance(one, Pod)]
        other.workloads = list(dict.fromkeys(map(other._owners.workload_of, other.pods)))
        return other

    def notes_on(self, n: int | None, *, is_search: bool) -> list[str]:
        """The notes, if `n` replicas are tried; None for as many as the manifests have.

        Args:
            is_search: whether the number of replicas is what is asked for.
        """
        if n is None and not is_search:
            return list(self.notes)
        others = {one.sentence(one.n): one.sentence(n) for one in self._scaled}
        return [others.get(note, note) for note in self.notes]

    def below_maximum(self) -> Iterator[tuple["Asked", int]]:
        """Each workload that an autoscaler may give more pods, alone, and how many these are."""
        names = {str(one): one for one in self.workloads}
        for scaled in self._scaled:
            workload = names.get(scaled.workload.rpartition(": ")[2])
            if workload is not None and workload not in self.existing and scaled.n < scaled.scale.most <= _MOST_TRIED:
                yield self.only(typed_name(workload)), scaled.scale.most

    def objects(self, n: int | None = None) -> list[KubeObject]:
        """What is new in a cluster with `n` of the pods; None for as many as the manifests have.

        Raises:
            InputError: there are several workloads or pods, or one that has no number of replicas.
        """
        if n is None or n == len(self.pods):
            return self._new
        workload = self.only_workload()
        if n < len(self.pods):
            dropped = {pod.key for pod in self.pods[n:]}
            return [one for one in self._new if not (isinstance(one, Pod) and one.key in dropped)]
        return self._new + pods_to_add(workload, self.pods, n, [*self.cluster, *self._new])

    def one_by_one(self) -> Iterator[KubeObject]:
        """What is new in a cluster with ever more of the pods; what belongs to a pod comes before it."""
        workload = self.only_workload()
        yield from (one for one in self._new if not isinstance(one, Pod))
        yield from self.pods
        yield from further_pods(workload, self.pods, [*self.cluster, *self._new])

    def check_number(self, n: int | None, *, is_search: bool) -> None:
        """Check that the number of pods can be changed, if it is; arguments as for `notes_on`.

        Raises:
            InputError: as from `objects`.
        """
        if n is not None or is_search:
            self.only_workload()

    def only_workload(self) -> Workload:
        """The one workload or pod whose number can be changed.

        Raises:
            InputError: as from `objects`.
        """
        if several := self.found_several('only="{}"'):
            raise InputError(f"replicas and maximum need one workload; {several}")
        (workload,) = self.workloads
        if workload.kind == "DaemonSet":
            raise InputError(f"{workload} {_NO_REPLICAS}")
        return workload


def asked_of(
    pods: PodsLike,
    cluster: Sequence[KubeObject],
    *,
    may_wake: bool = False,
    namespace: str = "",
    devices: Mapping[str, int] = _NO_DEVICES,
    release: Release | None = None,
) -> Asked:
    """What is asked, admitted to a cluster.

    Args:
        may_wake, namespace, release: as for `admit_manifests`.
        devices: DeviceClass -> how many devices of it a pod of requests asks for, too.
    Raises:
        InputError: a manifest cannot be read, is not valid, or has no pods; a quantity or a number of devices is not
            valid, or a class is not there.
    """
    if isinstance(pods, Mapping):
        taints = taints_at_devices(devices, cluster)
        made = pods_of_requests(pods, devices, cluster, taints)
        return Asked(cluster, made, [*notes_on_requests(pods), *_note_on_taints(taints, devices)])
    if devices:
        raise InputError("devices and manifests are mutually exclusive: the pods of manifests have claims")
    if isinstance(pods, str | PathLike) or _is_stream(pods):
        return _of_manifests([pods], cluster, may_wake=may_wake, namespace=namespace, release=release)
    given = list(pods)
    objects = [one for one in given if isinstance(one, KubeObject)]
    if len(objects) == len(given):
        return Asked(cluster, objects)
    return _of_manifests(cast(list[Manifest], given), cluster, may_wake=may_wake, namespace=namespace, release=release)


def _note_on_taints(taints: Sequence[Taint], devices: Iterable[str]) -> Iterator[str]:
    if taints:
        what, whose = joined(map(taint_words, taints)), plural(len(taints), "the taint", "taints")
        yield f"the pods tolerate {what}, {whose} of nodes with devices of {joined(devices)}"


def _parts(workload: str) -> tuple[str, str, str]:
    """Kind, namespace and name of `Kind namespace/name`."""
    kind, _, key = workload.partition(" ")
    namespace, _, name = key.partition("/")
    return kind, namespace, name


def _listed(workloads: Sequence[Workload]) -> str:
    return listed(map(typed_name, workloads), first=4)


def _is_stream(pods: object) -> TypeGuard[IO[bytes] | IO[str]]:
    return hasattr(pods, "read")


def _of_manifests(
    manifests: Iterable[Manifest],
    cluster: Sequence[KubeObject],
    *,
    may_wake: bool,
    namespace: str,
    release: Release | None,
) -> Asked:
    new = admit_manifests(_without_pods(cluster), manifests, may_wake=may_wake, namespace=namespace, release=release)
    strategies = {Workload(*key): strategy for key, strategy in new.strategies.items()}
    there, without = new.applied_to(cluster), new.without_pods
    if not without and not any(isinstance(one, Pod) for one in new.objects):
        others = (*new.objects, *new.changed.values())
        without = tuple(WithoutPods("manifests", f"{kind_of(one)} {one.key}", "has no pods") for one in others)
    free = with_free_names(new.objects, {one.key for one in cluster if isinstance(one, Pod)})
    added, given = with_given_parts(list(free), cluster)
    asked = Asked(there, added, (*new.notes, *given), strategies, without, new.scaled, new.left_out)
    if not namespace:
        found = list(_namesakes(asked.workloads, cluster))
        asked.namesakes = tuple(same for _, same in found)
        asked.notes += tuple(
            f"{new} is tried as a new one; {same} runs already: with -n {same.namespace} it is that one"
            for new, same in found
        )
    return asked


def _namesakes(new: Iterable[Workload], cluster: Sequence[KubeObject]) -> Iterator[tuple[Workload, Workload]]:
    """Workloads that run in one other namespace, where the manifest names none: what `helm template` prints."""
    running = [one for one in workloads(cluster) if one not in new]
    for workload in new:
        same = [one for one in running if (one.kind, one.name) == (workload.kind, workload.name)]
        if workload.namespace == _DEFAULT and len(same) == 1:
            yield workload, same[0]


def _without_pods(cluster: Iterable[KubeObject]) -> list[KubeObject]:
    """What new pods are admitted to: whether they exist is another question."""
    return [one for one in cluster if not isinstance(one, Pod)]
