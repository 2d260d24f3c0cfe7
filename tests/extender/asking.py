"""Requests to the verbs, and their answers read as strictly as the protocol is written."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.errors import DeadlineExceeded
from kubesched.extender import Answer, NodeSource, RequestedPods, Verbs
from kubesched.framework import Plugin, Profile
from kubesched.scheduler import build_frameworks
from kubesched.state import ClusterState
from kubesched.testing import minimal_profile

BODIES = Path(__file__).parent / "bodies"
INT64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


def captured(name: str) -> bytes:
    """A body that kube-scheduler sent."""
    return (BODIES / f"{name}.json").read_bytes()


def encode(value: Any) -> bytes:
    """JSON as Go writes it, as far as tests care."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "d", "uid": f"uid-{name}"}, "spec": spec, "status": {}}


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {"allocatable": {"cpu": "4"}}}


def with_nodes(*nodes: Mapping[str, Any], pod: Mapping[str, Any] = pod()) -> bytes:
    return encode({"Pod": pod, "Nodes": {"metadata": {}, "items": nodes}, "NodeNames": None})


def with_names(*names: str, pod: Mapping[str, Any] = pod()) -> bytes:
    return encode({"Pod": pod, "Nodes": None, "NodeNames": names})


# --- the server's side ---


def in_time(_plugin: str) -> None:
    """A checkpoint that never finds it too late."""


class Looks:
    """A checkpoint that raises at the n-th look and from then on; 0 never does."""

    def __init__(self, late_at: int = 0) -> None:
        self.late_at = late_at
        self.n = 0

    def __call__(self, _plugin: str) -> None:
        self.n += 1
        if self.late_at and self.n >= self.late_at:
            raise DeadlineExceeded("no answer within 4 s")


class Server:
    """Verbs over a state of their own, on a clock that stands until a test moves it."""

    def __init__(self, *plugins: Plugin | Profile, watched: Iterable[KubeObject] | None = None, **options: bool):
        """Serve a profile of these plugins, or these profiles.

        Args:
            watched: what the watch of our own has shown; None where there is no watch.
        """
        self.now = 0.0
        self.cluster_state = ClusterState()
        profiles = [one for one in plugins if isinstance(one, Profile)]
        profiles = profiles or [minimal_profile(*(one for one in plugins if isinstance(one, Plugin)))]
        is_watched = watched is not None
        self.nodes = NodeSource(self.cluster_state, is_watched=is_watched, monotonic=lambda: self.now)
        pods = RequestedPods(self.cluster_state, is_watched=is_watched)
        self.verbs = Verbs(build_frameworks(profiles, self.cluster_state), self.nodes, pods, **options)
        self.show(*(watched or ()))

    def show(self, *objects: KubeObject) -> None:
        """The watch shows objects."""
        for known in objects:
            self.cluster_state.apply(WatchEvent(EventType.ADDED, type(known).__name__, known))
        self.nodes.rows_changed()

    def filter(self, body: bytes, checkpoint: Callable[[str], None] = in_time) -> "FilterResult":
        return filter_result(self.verbs.filter(body, checkpoint))

    def scores(self, body: bytes) -> dict[str, int]:
        return host_priorities(self.verbs.prioritize(body, in_time))

    def preempt(self, body: bytes) -> "dict[str, MetaVictims]":
        return preemption_result(self.verbs.preempt(body, in_time))


# --- answers; a key too many, one missing, null or a value of another type does not decode ---


def as_go(body: bytes, **options: Any) -> Any:
    """A document as Go's decoder reads it: what is no UTF-8 becomes U+FFFD, and digits have no limit."""
    return json.loads(body.decode(errors="replace"), parse_int=float, strict=False, **options)


class NodeList(msgspec.Struct, forbid_unknown_fields=True):
    metadata: dict[str, str]
    items: list[msgspec.Raw]


class FilterResult(msgspec.Struct, forbid_unknown_fields=True):
    """ExtenderFilterResult with the Go names, all there."""

    Nodes: NodeList | None
    NodeNames: list[str] | None
    FailedNodes: dict[str, str]
    FailedAndUnresolvableNodes: dict[str, str]
    Error: str

    @property
    def raws(self) -> list[bytes]:
        """The JSON of the survivors that came as objects."""
        return [] if self.Nodes is None else [bytes(raw) for raw in self.Nodes.items]

    @property
    def survivors(self) -> list[str]:
        """Their names, in either form."""
        return [as_go(raw)["metadata"]["name"] for raw in self.raws] if self.Nodes else self.NodeNames or []


class HostPriority(msgspec.Struct, forbid_unknown_fields=True):
    Host: str
    Score: Annotated[int, msgspec.Meta(ge=0, le=10)]


class MetaPod(msgspec.Struct, forbid_unknown_fields=True):
    UID: str


class MetaVictims(msgspec.Struct, forbid_unknown_fields=True):
    Pods: Annotated[list[MetaPod], msgspec.Meta(min_length=1)]
    NumPDBViolations: INT64

    @property
    def uids(self) -> list[str]:
        return [pod.UID for pod in self.Pods]


class PreemptionResult(msgspec.Struct, forbid_unknown_fields=True):
    NodeNameToMetaVictims: dict[str, MetaVictims]


def body_of(answer: Answer) -> bytes:
    return b"".join(answer.pieces)


def filter_result(answer: Answer) -> FilterResult:
    """A filter answer: status 200, one form or an Error, nobody told twice."""
    assert answer.status == 200
    result = msgspec.json.decode(body_of(answer), type=FilterResult)
    names = [*result.survivors, *result.FailedNodes, *result.FailedAndUnresolvableNodes]
    assert len(names) == len(set(names))
    assert (result.Nodes is not None) + (result.NodeNames is not None) == (result.Error == "")
    if result.Error:
        assert (names, result.Error) == ([], answer.error)
    return result


def host_priorities(answer: Answer) -> dict[str, int]:
    """A prioritize answer: every host once, with an integer of 0..10."""
    assert answer.status == 200, body_of(answer)
    scores = msgspec.json.decode(body_of(answer), type=list[HostPriority])
    by_host = {score.Host: score.Score for score in scores}
    assert len(by_host) == len(scores)
    return by_host


def preemption_result(answer: Answer) -> dict[str, MetaVictims]:
    """A preempt answer: no entry null or empty."""
    assert answer.status == 200, body_of(answer)
    return msgspec.json.decode(body_of(answer), type=PreemptionResult).NodeNameToMetaVictims


def failure(answer: Answer) -> str:
    """What a failed prioritize or preempt says."""
    assert answer.status == 500
    assert body_of(answer) == f"{answer.error}\n".encode()
    assert answer.error
    return answer.error
