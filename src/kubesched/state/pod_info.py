"""Pods as rules read them: a pod, and the parts of it that rules share, interned by value.

What a rule reads of a pod is a part: its requests, its tolerations, its affinity terms. Pods of one workload have equal parts, so
that whatever was compiled or computed for a part serves all of them. A part's identity is its value: equal values, same object.
"""

from collections.abc import Callable, Hashable
from datetime import datetime
from math import inf
from typing import Any, Final, Generic, TypeVar

import msgspec

from kubesched.api import Container, NodeAffinity, Pod, PodAffinity, Toleration, TopologySpreadConstraint
from kubesched.state.pod_volumes import PodVolumes, pod_volumes
from kubesched.state.requests import PodRequests, requests_key
from kubesched.state.terms import AffinityTerms, affinity_terms

__all__ = ["Identity", "NodeChoice", "Part", "Parts", "PodInfo", "Port", "host_ports", "image_names"]

Port = tuple[str, str, int]  # ip, protocol, port
_MAX_PARTS: Final = 250_000

ValueT = TypeVar("ValueT")


class Part(Generic[ValueT]):
    """A shared piece of pods; compares and hashes by identity, which is as good as by value and faster.

    Attributes:
        value: what the part says.
        number: its number among parts of its kind.
        compiled: what rules made of the value, by rule, so that it is made once.
    """

    __slots__ = ("compiled", "number", "value")

    def __init__(self, value: ValueT, number: int) -> None:
        self.value = value
        self.number = number
        self.compiled: dict[object, Any] = {}


class Identity(msgspec.Struct, frozen=True):
    """By what others select a pod: its namespace and its labels."""

    namespace: str
    labels: dict[str, str]


class NodeChoice(msgspec.Struct, frozen=True):
    """Where a pod says itself that it wants to go."""

    node_selector: tuple[tuple[str, str], ...]
    has_node_selector: bool
    affinity: NodeAffinity | None


class _Table(Generic[ValueT]):
    """The parts of one kind."""

    __slots__ = ("_by_key",)

    def __init__(self) -> None:
        self._by_key: dict[Hashable, Part[ValueT]] = {}

    def part(self, key: Hashable, make: Callable[[], ValueT]) -> Part[ValueT]:
        found = self._by_key.get(key)
        if found is None:
            if len(self._by_key) >= _MAX_PARTS:  # most belong to pods that are gone; equal parts made anew are as good
                self._by_key.clear()
            found = self._by_key[key] = Part(make(), len(self._by_key))
        return found


class Parts:
    """All parts of the pods of one cluster. Its owner is ClusterState."""

    def __init__(self) -> None:
        self.requests: _Table[PodRequests] = _Table()
        self.identity: _Table[Identity] = _Table()
        self.tolerations: _Table[tuple[Toleration, ...]] = _Table()
        self.node_choice: _Table[NodeChoice] = _Table()
        self.ports: _Table[tuple[Port, ...]] = _Table()
        self.images: _Table[tuple[tuple[str, ...], int]] = _Table()
        self.terms: _Table[AffinityTerms] = _Table()
        self.spread: _Table[tuple[TopologySpreadConstraint, ...]] = _Table()
        self.none: Final = Part(None, -1)


class PodInfo:
    """A pod with its parts, each found when first asked for.

    Attributes:
        pod: the object.
        node_row: the row of the node that it is on; -1 while it is on none that the state knows.
        place: its place among the pods of that row.
        slot: its place among all placed pods.
    """

    __slots__ = (
        "_identity",
        "_images",
        "_node_choice",
        "_parts",
        "_ports",
        "_requests",
        "_spread",
        "_start",
        "_terms",
        "_tolerations",
        "_volumes",
        "node_row",
        "place",
        "pod",
        "priority",
        "slot",
    )

    def __init__(self, pod: Pod, parts: Parts) -> None:
        self.pod = pod
        self.priority = pod.spec.priority or 0
        self.node_row = -1
        self.place = 0
        self.slot = -1
        self._parts = parts
        self._requests: Part[PodRequests] | None = None
        self._identity: Part[Identity] | None = None
        self._tolerations: Part[tuple[Toleration, ...]] | None = None
        self._node_choice: Part[NodeChoice] | None = None
        self._ports: Part[tuple[Port, ...]] | None = None
        self._images: Part[tuple[tuple[str, ...], int]] | None = None
        self._terms: Part[AffinityTerms] | None = None
        self._spread: Part[tuple[TopologySpreadConstraint, ...]] | None = None
        self._start: float | None = None
        self._volumes: PodVolumes | None = None

    def with_pod(self, pod: Pod) -> "PodInfo":
        """The same parts for a pod that differs in nothing that they read."""
        twin = PodInfo(pod, self._parts)
        twin._requests = self._requests
        twin._identity = self._identity
        twin._tolerations = self._tolerations
        twin._node_choice = self._node_choice
        twin._ports = self._ports
        twin._images = self._images
        twin._terms = self._terms
        twin._spread = self._spread
        twin._volumes = self._volumes
        return twin

    @property
    def start(self) -> float:
        """status.startTime in seconds since 1970; infinite for a pod that has not started."""
        if self._start is None:
            text = self.pod.status.start_time
            self._start = datetime.fromisoformat(text).timestamp() if text else inf
        return self._start

    @property
    def requests(self) -> Part[PodRequests]:
        """What the pod asks for."""
        if self._requests is None:
            pod = self.pod
            self._requests = self._parts.requests.part(requests_key(pod), lambda: PodRequests(pod))
        return self._requests

    @property
    def identity(self) -> Part[Identity]:
        """Namespace and labels."""
        if self._identity is None:
            meta = self.pod.metadata
            labels = meta.labels or {}
            key = (meta.namespace, *sorted(labels.items()))
            self._identity = self._parts.identity.part(key, lambda: Identity(meta.namespace, labels))
        return self._identity

    @property
    def tolerations(self) -> Part[tuple[Toleration, ...]]:
        """spec.tolerations, in order."""
        if self._tolerations is None:
            value = self.pod.spec.tolerations or ()
            self._tolerations = self._parts.tolerations.part(value, lambda: value)
        return self._tolerations

    @property
    def node_choice(self) -> Part[NodeChoice]:
        """nodeSelector and node affinity."""
        if self._node_choice is None:
            spec = self.pod.spec
            pairs = tuple(sorted((spec.node_selector or {}).items()))
            affinity = spec.affinity.node_affinity if spec.affinity else None
            value = NodeChoice(pairs, spec.node_selector is not None, affinity)
            self._node_choice = self._parts.node_choice.part(value, lambda: value)
        return self._node_choice

    @property
    def ports(self) -> Part[tuple[Port, ...]]:
        """Wanted host ports."""
        if self._ports is None:
            value = host_ports(self.pod)
            self._ports = self._parts.ports.part(value, lambda: value)
        return self._ports

    @property
    def images(self) -> Part[tuple[tuple[str, ...], int]]:
        """Image names, normalised, of containers and image volumes; and the number of containers."""
        if self._images is None:
            value = image_names(self.pod)
            self._images = self._parts.images.part(value, lambda: value)
        return self._images

    @property
    def terms(self) -> Part[AffinityTerms]:
        """The pod's own inter-pod affinity terms, parsed; namespaces as they stand in the pod."""
        if self._terms is None:
            pod = self.pod
            affinity = pod.spec.affinity
            parts: tuple[PodAffinity | None, ...] = (None, None)
            if affinity is not None:
                parts = (affinity.pod_affinity, affinity.pod_anti_affinity)
            key = (pod.namespace, msgspec.json.encode(parts)) if parts != (None, None) else ()
            self._terms = self._parts.terms.part(key, lambda: affinity_terms(pod.namespace, *parts))
        return self._terms

    @property
    def volumes(self) -> PodVolumes:
        """The volumes that rules look at; no part, because claims are a pod's own."""
        if self._volumes is None:
            self._volumes = pod_volumes(self.pod)
        return self._volumes

    @property
    def spread(self) -> Part[tuple[TopologySpreadConstraint, ...]]:
        """spec.topologySpreadConstraints, in order."""
        if self._spread is None:
            value = self.pod.spec.topology_spread_constraints or ()
            key = msgspec.json.encode(value) if value else b""
            self._spread = self._parts.spread.part(key, lambda: value)
        return self._spread


def host_ports(pod: Pod) -> tuple[Port, ...]:
    """The host ports that a pod wants.

    Rule: kube-scheduler v1.36 GetHostPorts: sidecars, then containers; an empty hostIP is 0.0.0.0, an empty protocol TCP.
    """
    sidecars: tuple[Container, ...] = ()
    if pod.spec.init_containers:
        sidecars = tuple(c for c in pod.spec.init_containers if c.restart_policy == "Always")
    return tuple(
        [
            (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
            for container in (*sidecars, *pod.containers)
            for port in container.ports or ()
            if port.host_port > 0
        ]
    )


def image_names(pod: Pod) -> tuple[tuple[str, ...], int]:
    """The images that a pod pulls, repeats included, and how many containers it has.

    Rule: kube-scheduler v1.36 ImageLocality: init containers, containers, then the references of image volumes; `:latest` is
    added where no tag or digest follows the last slash.
    """
    names = [container.image for container in (*pod.init_containers, *pod.containers)]
    n_containers = len(names)
    names += [volume.image.reference for volume in pod.volumes if volume.image is not None]
    return tuple([_normalised(name) for name in names]), n_containers


def _normalised(image: str) -> str:
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
