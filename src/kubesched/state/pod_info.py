"""Pods in the form for rules: a pod, and its parts, which rules share and which are interned by value.

What a rule reads of a pod is a part: its requests, its tolerations, its affinity terms. Pods of one workload have equal
parts, so that whatever was compiled or computed for a part serves all of them. A part's identity is its value: equal
values, same object.
"""

from collections import deque
from collections.abc import Callable, Hashable
from datetime import datetime
from functools import partial
from math import inf
from typing import Any, Final, Generic, TypeVar
from weakref import WeakValueDictionary

import msgspec

from kubesched.api import (
    AffinityToNodes,
    Container,
    Pod,
    PodAffinity,
    PodRequests,
    Toleration,
    TopologySpreadConstraint,
    newer_requests_key,
    requests_key,
)
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state.pod_volumes import NO_VOLUMES, PodVolumes, pod_volumes
from kubesched.state.terms import AffinityTerms, affinity_terms

Port = tuple[str, str, int]  # ip, protocol, port

_N_RECENT: Final = 2048  # parts and templates, some KB each
_sorted_json: Final[Callable[[Any], bytes]] = msgspec.json.Encoder(order="sorted").encode

ValueT = TypeVar("ValueT")
Read = Callable[[Pod], Any]


class Part(msgspec.Struct, Generic[ValueT], eq=False, weakref=True):
    """A shared piece of pods; compares and hashes by identity, which is as good as by value and faster.

    Attributes:
        value: what the part says.
        compiled: what rules made of the value, by rule, so that it is made once. It goes with the part.
    """

    value: ValueT
    compiled: dict[object, Any] = {}


class Identity(msgspec.Struct, frozen=True):
    """By what others select a pod: its namespace and its labels."""

    namespace: str
    labels: dict[str, str]


class NodeChoice(msgspec.Struct, frozen=True):
    """Where a pod says itself that it wants to go."""

    node_selector: tuple[tuple[str, str], ...]
    has_node_selector: bool
    affinity: AffinityToNodes | None


class Template(msgspec.Struct, eq=False, weakref=True):
    """What pods share whose specs are made of the same objects, as pods of one workload are once a reader has shared
    equal values.

    Attributes:
        sources: the objects that rules read; held so that their identities stay theirs.
        requests, tolerations, node_choice, ports, images, terms, spread, kubelet_needs: the parts, None until one is
            asked for.
    """

    sources: tuple[object, ...]
    requests: Part[PodRequests] | None = None
    tolerations: Part[tuple[Toleration, ...]] | None = None
    node_choice: Part[NodeChoice] | None = None
    ports: Part[tuple[Port, ...]] | None = None
    images: Part[tuple[tuple[str, ...], int]] | None = None
    terms: Part[AffinityTerms] | None = None
    spread: Part[tuple[TopologySpreadConstraint, ...]] | None = None
    kubelet_needs: Part[tuple[Hashable, ...]] | None = None


class Parts:
    """All parts of the pods of one cluster. Its owner is ClusterState.

    A part goes when no pod has it any more. The last ones made stay for a while: a pod may be asked about again before
    it is placed, and the next pod of its workload after it.

    Rule: since kube-scheduler v1.37, more of a pod's status counts for its requests; see PodRequests.
    """

    def __init__(self, release: Release = DEFAULT_RELEASE) -> None:
        kinds = _KINDS
        if not release.before(37):
            kinds = kinds | {"requests": (newer_requests_key, partial(PodRequests, release=release))}
        self._recent: deque[object] = deque(maxlen=_N_RECENT)
        self._kinds: dict[str, tuple[WeakValueDictionary[Hashable, Part[Any]], Read, Read | None]] = {
            kind: (WeakValueDictionary(), *read) for kind, read in kinds.items()
        }
        self._templates: WeakValueDictionary[tuple[object, ...], Template] = WeakValueDictionary()

    def part(self, kind: str, pod: Pod) -> Part[Any]:
        """A pod's part of a kind, shared with all pods of an equal key."""
        table, read_key, read_value = self._kinds[kind]
        key = read_key(pod)
        part = table.get(key)
        if part is None:
            part = table[key] = Part(key if read_value is None else read_value(pod))
            self._recent.append(part)
        return part

    def sizes(self) -> dict[str, int]:
        """Parts by kind, what rules compiled from them, and templates."""
        parts = {f"parts, {kind}": len(table) for kind, (table, _, _) in self._kinds.items()}
        compiled = sum(len(part.compiled) for table, _, _ in self._kinds.values() for part in table.values())
        return {**parts, "compiled from parts": compiled, "templates": len(self._templates)}

    @property
    def identities(self) -> list[Part[Identity]]:
        """The identities that there are."""
        return list(self._kinds["identity"][0].values())

    def forget_recent(self) -> None:
        """Let go of the parts that no pod has."""
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
            spec.host_network,
            spec.host_users,
            status.container_statuses,
            status.init_container_statuses,
            status.resources,
            status.allocated_resources,
            status.conditions if holds_more else None,  # one of them says that a resize is infeasible
        )
        key = (pod.metadata.namespace, *map(id, sources))
        template = self._templates.get(key)
        if template is None:
            template = self._templates[key] = Template(sources)
            self._recent.append(template)
        return template


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
        return self._template.requests or self._found("requests")

    @property
    def wanted(self) -> dict[str, int]:
        """What the pod requests of a node, by resource name: milli-CPU, bytes, counts. Read only."""
        return self.requests.value.wanted

    @property
    def identity(self) -> Part[Identity]:
        """Namespace and labels."""
        if self._identity is None:
            self._identity = self._parts.part("identity", self.pod)
        return self._identity

    @property
    def tolerations(self) -> Part[tuple[Toleration, ...]]:
        """spec.tolerations, in order."""
        return self._template.tolerations or self._found("tolerations")

    @property
    def node_choice(self) -> Part[NodeChoice]:
        """The nodeSelector with the node affinity."""
        return self._template.node_choice or self._found("node_choice")

    @property
    def ports(self) -> Part[tuple[Port, ...]]:
        """Wanted host ports."""
        return self._template.ports or self._found("ports")

    @property
    def images(self) -> Part[tuple[tuple[str, ...], int]]:
        """Image names, normalised, of containers and image volumes; and the number of containers."""
        if self.pod.spec.volumes:
            return self._parts.part("images", self.pod)
        return self._template.images or self._found("images")

    @property
    def terms(self) -> Part[AffinityTerms]:
        """The pod's own inter-pod affinity terms, parsed; namespaces as the pod has them."""
        return self._template.terms or self._found("terms")

    @property
    def spread(self) -> Part[tuple[TopologySpreadConstraint, ...]]:
        """spec.topologySpreadConstraints, in order."""
        return self._template.spread or self._found("spread")

    @property
    def kubelet_needs(self) -> Part[tuple[Hashable, ...]]:
        """hostNetwork, hostUsers, and the restartPolicyRules of all containers."""
        return self._template.kubelet_needs or self._found("kubelet_needs")

    @property
    def read_by_filters(self) -> Hashable:
        """Equal for pods that filters treat alike, apart from their identity and their claims."""
        parts = (self.requests, self.tolerations, self.node_choice, self.ports, self.terms, self.spread)
        return parts, self.priority, self.pod.spec.resource_claims

    @property
    def volumes(self) -> PodVolumes:
        """The volumes that rules look at; no part, because claims are a pod's own."""
        if self._volumes is None:
            self._volumes = pod_volumes(self.pod)
        return self._volumes

    @property
    def own_claims(self) -> str:
        """The uid of a pod that has claims or volumes that rules look at, since these are its own; else empty."""
        spec = self.pod.spec
        has_any = spec.resource_claims or (spec.volumes and self.volumes is not NO_VOLUMES)
        return self.pod.metadata.uid if has_any else ""

    def _found(self, kind: str) -> Any:
        """A part that the template does not have yet."""
        part = self._parts.part(kind, self.pod)
        setattr(self._template, kind, part)
        return part


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


def _node_choice(pod: Pod) -> NodeChoice:
    spec = pod.spec
    pairs = tuple(sorted((spec.node_selector or {}).items()))
    return NodeChoice(pairs, spec.node_selector is not None, spec.affinity.node_affinity if spec.affinity else None)


def _kubelet_needs(pod: Pod) -> tuple[Hashable, ...]:
    rules = [container.restart_policy_rules or () for container in (*pod.containers, *pod.init_containers)]
    return pod.spec.host_network, pod.spec.host_users, *rules


def _pod_affinities(pod: Pod) -> tuple[PodAffinity | None, PodAffinity | None]:
    affinity = pod.spec.affinity
    return (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else (None, None)


def _terms_key(pod: Pod) -> Hashable:
    both = _pod_affinities(pod)
    return (pod.namespace, msgspec.json.encode(both)) if both != (None, None) else ()


_KINDS: Final[dict[str, tuple[Read, Read | None]]] = {
    "requests": (requests_key, PodRequests),
    "identity": (
        lambda pod: (pod.metadata.namespace, _sorted_json(pod.metadata.labels or {})),
        lambda pod: Identity(pod.metadata.namespace, pod.metadata.labels or {}),
    ),
    "tolerations": (lambda pod: pod.spec.tolerations or (), None),
    "node_choice": (_node_choice, None),
    "ports": (host_ports, None),
    "images": (image_names, None),
    "terms": (_terms_key, lambda pod: affinity_terms(pod.namespace, *_pod_affinities(pod))),
    "kubelet_needs": (_kubelet_needs, None),
    "spread": (
        lambda pod: msgspec.json.encode(pod.spec.topology_spread_constraints or ()),
        lambda pod: pod.spec.topology_spread_constraints or (),
    ),
}
"""By kind of part: the key by which pods share one, and how its value is read; None where the key is the value."""
