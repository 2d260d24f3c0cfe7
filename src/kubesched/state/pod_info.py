"""Pods as rules read them: a pod, and the parts of it that rules share, interned by value.

What a rule reads of a pod is a part: its requests, its tolerations, its affinity terms. Pods of one workload have equal
parts, so that whatever was compiled or computed for a part serves all of them. A part's identity is its value: equal
values, same object.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from datetime import datetime
from math import inf
from typing import Any, Final, Generic, TypeVar
from weakref import WeakValueDictionary

import msgspec

from kubesched.api import Container, NodeAffinity, Pod, PodAffinity, Toleration, TopologySpreadConstraint
from kubesched.state.pod_volumes import PodVolumes, pod_volumes
from kubesched.state.requests import PodRequests, requests_key
from kubesched.state.terms import AffinityTerms, affinity_terms

__all__ = ["Identity", "NodeChoice", "Part", "Parts", "PodInfo", "Port", "host_ports", "image_names"]

Port = tuple[str, str, int]  # ip, protocol, port

_N_RECENT: Final = 2048  # parts and templates, some KB each
_sorted_json: Final[Callable[[Any], bytes]] = msgspec.json.Encoder(order="sorted").encode

ValueT = TypeVar("ValueT")


class Part(Generic[ValueT]):
    """A shared piece of pods; compares and hashes by identity, which is as good as by value and faster.

    Attributes:
        value: what the part says.
        compiled: what rules made of the value, by rule, so that it is made once. It goes with the part.
    """

    __slots__ = ("__weakref__", "compiled", "value")

    def __init__(self, value: ValueT) -> None:
        self.value = value
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
    """The parts of one kind that some pod, kept column or relation has, and those made last."""

    __slots__ = ("_by_key", "_recent")

    def __init__(self, recent: deque[object]) -> None:
        self._recent = recent
        self._by_key: WeakValueDictionary[Hashable, Part[ValueT]] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[Part[ValueT]]:
        return iter(list(self._by_key.values()))

    def part(self, key: Hashable, make: Callable[[], ValueT]) -> Part[ValueT]:
        found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = Part(make())
            self._recent.append(found)
        return found


class Template:
    """What pods share whose specs are made of the same objects, as pods of one workload are once a reader has shared
    equal values.

    Attributes:
        sources: the objects that rules read; held so that their identities stay theirs.
        requests, tolerations, node_choice, ports, images, terms, spread: the parts, None until one is asked for.
    """

    __slots__ = (
        "__weakref__",
        "images",
        "node_choice",
        "ports",
        "requests",
        "sources",
        "spread",
        "terms",
        "tolerations",
    )

    def __init__(self, sources: tuple[object, ...]) -> None:
        self.sources = sources
        self.requests: Part[PodRequests] | None = None
        self.tolerations: Part[tuple[Toleration, ...]] | None = None
        self.node_choice: Part[NodeChoice] | None = None
        self.ports: Part[tuple[Port, ...]] | None = None
        self.images: Part[tuple[tuple[str, ...], int]] | None = None
        self.terms: Part[AffinityTerms] | None = None
        self.spread: Part[tuple[TopologySpreadConstraint, ...]] | None = None


class Parts:
    """All parts of the pods of one cluster. Its owner is ClusterState.

    A part goes when nobody has it any more. The last ones made stay for a while: a pod may be asked about again before
    it is placed, and the next pod of its workload after it.
    """

    def __init__(self) -> None:
        self._recent: deque[object] = deque(maxlen=_N_RECENT)
        recent = self._recent
        self.requests: _Table[PodRequests] = _Table(recent)
        self.identity: _Table[Identity] = _Table(recent)
        self.tolerations: _Table[tuple[Toleration, ...]] = _Table(recent)
        self.node_choice: _Table[NodeChoice] = _Table(recent)
        self.ports: _Table[tuple[Port, ...]] = _Table(recent)
        self.images: _Table[tuple[tuple[str, ...], int]] = _Table(recent)
        self.terms: _Table[AffinityTerms] = _Table(recent)
        self.spread: _Table[tuple[TopologySpreadConstraint, ...]] = _Table(recent)
        self._templates: WeakValueDictionary[tuple[object, ...], Template] = WeakValueDictionary()

    def sizes(self) -> dict[str, int]:
        """Parts by kind, and templates."""
        tables: dict[str, _Table[Any]] = {
            "requests": self.requests,
            "identity": self.identity,
            "tolerations": self.tolerations,
            "node choice": self.node_choice,
            "ports": self.ports,
            "images": self.images,
            "terms": self.terms,
            "spread": self.spread,
        }
        return {f"parts, {name}": len(table) for name, table in tables.items()} | {"templates": len(self._templates)}

    def forget_recent(self) -> None:
        """Let go of the parts that nobody has."""
        self._recent.clear()

    def template(self, pod: Pod) -> Template:
        """The template of a pod, a new one at first sight. Volumes are not in it."""
        spec, status = pod.spec, pod.status
        holds_more = status.container_statuses or status.init_container_statuses or status.resources
        sources = (
            spec.containers,
            spec.init_containers,
            spec.resources,
            spec.overhead,
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            spec.topology_spread_constraints,
            status.container_statuses,
            status.init_container_statuses,
            status.resources,
            status.allocated_resources,
            status.conditions if holds_more else None,  # one of them says that a resize is infeasible
        )
        key = (pod.metadata.namespace, *map(id, sources))
        found = self._templates.get(key)
        if found is None:
            found = self._templates[key] = Template(sources)
            self._recent.append(found)
        return found


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
        "_parts",
        "_start",
        "_template",
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
        self._template = parts.template(pod)
        self._identity: Part[Identity] | None = None
        self._start: float | None = None
        self._volumes: PodVolumes | None = None

    def with_pod(self, pod: Pod) -> "PodInfo":
        """The same parts for a pod that differs in nothing that they read."""
        twin = PodInfo.__new__(PodInfo)
        twin.pod = pod
        twin.priority = self.priority
        twin.node_row = -1
        twin.place = 0
        twin.slot = -1
        twin._parts = self._parts
        twin._template = self._template
        twin._identity = self._identity
        twin._start = self._start if pod.status is self.pod.status else None
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
        """What the pod asks for and holds."""
        found = self._template.requests
        if found is None:
            found = self._template.requests = _requests(self.pod, self._parts)
        return found

    @property
    def wanted(self) -> dict[str, int]:
        """What the pod requests of a node, by resource name: milli-CPU, bytes, counts. Read only."""
        return self.requests.value.wanted

    @property
    def identity(self) -> Part[Identity]:
        """Namespace and labels."""
        if self._identity is None:
            meta = self.pod.metadata
            labels = meta.labels or {}
            key = (meta.namespace, _sorted_json(labels))
            self._identity = self._parts.identity.part(key, lambda: Identity(meta.namespace, labels))
        return self._identity

    @property
    def tolerations(self) -> Part[tuple[Toleration, ...]]:
        """spec.tolerations, in order."""
        found = self._template.tolerations
        if found is None:
            found = self._template.tolerations = _tolerations(self.pod, self._parts)
        return found

    @property
    def node_choice(self) -> Part[NodeChoice]:
        """The nodeSelector with the node affinity."""
        found = self._template.node_choice
        if found is None:
            found = self._template.node_choice = _node_choice(self.pod, self._parts)
        return found

    @property
    def ports(self) -> Part[tuple[Port, ...]]:
        """Wanted host ports."""
        found = self._template.ports
        if found is None:
            found = self._template.ports = _ports(self.pod, self._parts)
        return found

    @property
    def images(self) -> Part[tuple[tuple[str, ...], int]]:
        """Image names, normalised, of containers and image volumes; and the number of containers."""
        if self.pod.spec.volumes:
            return _images(self.pod, self._parts)
        found = self._template.images
        if found is None:
            found = self._template.images = _images(self.pod, self._parts)
        return found

    @property
    def terms(self) -> Part[AffinityTerms]:
        """The pod's own inter-pod affinity terms, parsed; namespaces as they stand in the pod."""
        found = self._template.terms
        if found is None:
            found = self._template.terms = _terms(self.pod, self._parts)
        return found

    @property
    def spread(self) -> Part[tuple[TopologySpreadConstraint, ...]]:
        """spec.topologySpreadConstraints, in order."""
        found = self._template.spread
        if found is None:
            found = self._template.spread = _spread(self.pod, self._parts)
        return found

    @property
    def volumes(self) -> PodVolumes:
        """The volumes that rules look at; no part, because claims are a pod's own."""
        if self._volumes is None:
            self._volumes = pod_volumes(self.pod)
        return self._volumes


def _requests(pod: Pod, parts: Parts) -> Part[PodRequests]:
    return parts.requests.part(requests_key(pod), lambda: PodRequests(pod))


def _tolerations(pod: Pod, parts: Parts) -> Part[tuple[Toleration, ...]]:
    value = pod.spec.tolerations or ()
    return parts.tolerations.part(value, lambda: value)


def _node_choice(pod: Pod, parts: Parts) -> Part[NodeChoice]:
    spec = pod.spec
    pairs = tuple(sorted((spec.node_selector or {}).items()))
    affinity = spec.affinity.node_affinity if spec.affinity else None
    value = NodeChoice(pairs, spec.node_selector is not None, affinity)
    return parts.node_choice.part(value, lambda: value)


def _ports(pod: Pod, parts: Parts) -> Part[tuple[Port, ...]]:
    value = host_ports(pod)
    return parts.ports.part(value, lambda: value)


def _images(pod: Pod, parts: Parts) -> Part[tuple[tuple[str, ...], int]]:
    value = image_names(pod)
    return parts.images.part(value, lambda: value)


def _terms(pod: Pod, parts: Parts) -> Part[AffinityTerms]:
    affinity = pod.spec.affinity
    both: tuple[PodAffinity | None, ...] = (None, None)
    if affinity is not None:
        both = (affinity.pod_affinity, affinity.pod_anti_affinity)
    key = (pod.namespace, msgspec.json.encode(both)) if both != (None, None) else ()
    return parts.terms.part(key, lambda: affinity_terms(pod.namespace, *both))


def _spread(pod: Pod, parts: Parts) -> Part[tuple[TopologySpreadConstraint, ...]]:
    value = pod.spec.topology_spread_constraints or ()
    key = msgspec.json.encode(value) if value else b""
    return parts.spread.part(key, lambda: value)


def host_ports(pod: Pod) -> tuple[Port, ...]:
    """The host ports that a pod wants.

    Rule: kube-scheduler v1.36 GetHostPorts: sidecars, then containers; an empty hostIP is 0.0.0.0, an empty protocol
    TCP.
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

    Rule: kube-scheduler v1.36 ImageLocality: init containers, containers, then the references of image volumes;
    `:latest` is added where no tag or digest follows the last slash.
    """
    names = [container.image for container in (*pod.init_containers, *pod.containers)]
    n_containers = len(names)
    names += [volume.image.reference for volume in pod.volumes if volume.image is not None]
    return tuple([_normalised(name) for name in names]), n_containers


def _normalised(image: str) -> str:
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
