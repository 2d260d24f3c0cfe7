"""Pods that wait for their claims are asked about the events that concern them, and miss none."""

from collections.abc import Callable
from random import Random
from typing import TypeVar

import pytest

from kubesched.api import EventType, KubeObject, PersistentVolume, PersistentVolumeClaim, Pod, WatchEvent, kind_of
from kubesched.plugins.binding_plan import BindingPlan
from kubesched.scheduler import WaitRequest, Waits
from kubesched.scheduler.suspension import wait
from tests.plugins.one_plugin import load, node, pod, read, read_pod
from tests.plugins.storage_objects import HOST, SELECTED_NODE, ZONE, claim, csi_node, one_of, volume
from tests.trials import seeds

T = TypeVar("T")
NODES = ("a", "b")
BOUND = "pv.kubernetes.io/bind-completed"
ON_SOME_NODE = [{SELECTED_NODE: "a"}, {SELECTED_NODE: "b"}, {SELECTED_NODE: "a", BOUND: "yes"}, {BOUND: "yes"}]
GCE = {"gcePersistentDisk": {"pdName": "disk"}}


class Waiting:
    """Pods on their way to a node, whose claims are not bound yet.

    Attributes:
        n_asked: how often the condition of each pod was looked at.
        told: the pods that went on.
    """

    def __init__(self, *items: dict) -> None:
        self.cluster = load([*(node(name, labels={HOST: name, ZONE: name}) for name in NODES), *items])
        self.waits = Waits()
        self.plans: dict[str, tuple[BindingPlan, Pod]] = {}
        self.requests: dict[str, WaitRequest] = {}
        self.n_asked: dict[str, int] = {}
        self.told: list[str] = []

    def add(self, name: str, node_name: str, provisioned: list[str], bindings: list[tuple[str, str]] = ()) -> None:
        pairs = [(found(read(volume(pv)), PersistentVolume), self._claim(taker)) for pv, taker in bindings]
        plan = BindingPlan(node_name, pairs, [self._claim(each) for each in provisioned])
        self.plans[name] = plan, read_pod(pod(name))
        self.n_asked[name] = 0
        self.happen(EventType.ADDED, read(pod(name)))

    def begin(self, name: str) -> None:
        """Wait, if there is something to wait for."""
        plan, of = self.plans[name]
        if name in self.requests or self.is_over(name):
            return
        cycle = wait(self._condition(name), 600.0, lambda: plan.objects_read(self.cluster, of))
        request = self.requests[name] = found(cycle.send(None), WaitRequest)
        self.waits.begin(request, lambda holds, error: self._go_on(name, holds, error))

    def is_over(self, name: str) -> bool:
        plan, of = self.plans[name]
        return plan.outcome(self.cluster, of) is not None

    def happen(self, type: EventType, obj: KubeObject) -> None:
        event = WatchEvent(type, kind_of(obj), obj)
        self.waits.note(event)
        self.cluster.apply(event)

    def show(self, *documents: dict) -> None:
        for document in documents:
            self.happen(EventType.MODIFIED, read(document))
            self.waits.look()

    def remove(self, document: dict) -> None:
        self.happen(EventType.DELETED, read(document))
        self.waits.look()

    def end(self) -> None:
        for request in self.requests.values():
            self.waits.end(request)
        self.requests = {}

    def _claim(self, name: str) -> PersistentVolumeClaim:
        return found(read(claim(name)), PersistentVolumeClaim)

    def _condition(self, name: str) -> Callable[[], bool]:
        def asked() -> bool:
            self.n_asked[name] += 1
            return self.is_over(name)

        return asked

    def _go_on(self, name: str, holds: bool, error: BaseException | None) -> None:
        assert (holds, error) == (True, None)
        del self.requests[name]
        self.told.append(name)


def found(obj: object, kind: type[T]) -> T:
    assert isinstance(obj, kind)
    return obj


def provisioning(n: int) -> Waiting:
    waiting = Waiting(*(claim(f"c{i}", annotations={SELECTED_NODE: "a"}) for i in range(n)))
    for i in range(n):
        waiting.add(f"p{i}", "a", [f"c{i}"])
        waiting.begin(f"p{i}")
    return waiting


def test_a_volume_concerns_only_the_pods_whose_claims_name_it() -> None:
    waiting = provisioning(500)
    waiting.show(*(volume(f"other-{i}") for i in range(100)))
    assert sum(waiting.n_asked.values()) == 0
    waiting.show(volume("pv", taker="c7"), volume("pv", taker="c7", phase="Bound"))
    assert sum(waiting.n_asked.values()) == 0
    waiting.show(claim("c7", volume="pv", annotations={SELECTED_NODE: "a", BOUND: "yes"}))
    assert (waiting.told, sum(waiting.n_asked.values())) == (["p7"], 1)


@pytest.mark.parametrize("taker", ["c7", ""])
def test_a_volume_that_is_shown_after_its_claim_was_bound_ends_the_wait(taker: str) -> None:
    waiting = provisioning(20)
    waiting.show(claim("c7", volume="pv", annotations={SELECTED_NODE: "a", BOUND: "yes"}))
    assert waiting.told == []
    waiting.show(volume("other"), volume("pv", taker=taker))
    assert waiting.told == ["p7"]
    assert sum(waiting.n_asked.values()) == 2


def test_what_the_node_reaches_since_its_driver_was_migrated_ends_the_wait() -> None:
    terms = [one_of("failure-domain.beta.kubernetes.io/zone", "a")]
    disk = volume("pv", terms=terms, taker="c0", phase="Bound", **GCE)
    waiting = Waiting(claim("c0", annotations={SELECTED_NODE: "b"}), disk, csi_node("b"))
    waiting.cluster.apply(WatchEvent(EventType.MODIFIED, "Node", read(node("b", labels={terms_key(terms): "a"}))))
    waiting.add("p0", "b", ["c0"])
    waiting.begin("p0")
    waiting.show(claim("c0", volume="pv", annotations={SELECTED_NODE: "b"}))
    assert waiting.told == []
    waiting.show(csi_node("b", migrated="kubernetes.io/gce-pd"))
    assert waiting.told == ["p0"]


def terms_key(terms: list[dict]) -> str:
    key: str = terms[0]["matchExpressions"][0]["key"]
    return key


def test_a_wait_leaves_nothing_behind_when_it_ends() -> None:
    waiting = provisioning(50)
    bound = {SELECTED_NODE: "a", BOUND: "yes"}
    for i in range(50):
        waiting.show(claim(f"c{i}", volume=f"pv{i}", annotations=bound))
    for i in range(0, 50, 2):
        waiting.show(volume(f"pv{i}"))
    assert (len(waiting.told), len(waiting.waits)) == (25, 25)
    waiting.end()
    assert (len(waiting.waits), waiting.waits._readers, waiting.waits._filed) == (0, {}, {})


@pytest.mark.parametrize("seed", seeds(20))
def test_the_pods_go_on_that_would_if_each_were_asked_at_every_event(seed: int) -> None:
    rng = Random(seed)
    waiting = Waiting(*(claim(f"c{i}", annotations={SELECTED_NODE: rng.choice(NODES)}) for i in range(8)))
    waiting.show(*(volume(f"pv{i}", taker=f"c{i}") for i in range(8)))
    for i in range(8):  # c6 and c7 are shared, and each pod has a claim to be provisioned or a volume that is there
        bindings = [(f"pv{i % 4}", f"c{i % 4}")] if i % 3 else []
        waiting.add(f"p{i}", rng.choice(NODES), [f"c{4 + i % 4}"] if i % 3 != 1 else [], bindings)
    n_told = 0
    for _ in range(600):
        for name in rng.sample(list(waiting.plans), 3):
            waiting.begin(name)
        waited = list(waiting.requests)
        for _ in range(rng.choice((1, 1, 1, 3))):
            waiting.happen(*_anything(rng))
        over = {name for name in waited if waiting.is_over(name)}
        waiting.told.clear()
        waiting.waits.look()
        assert set(waiting.told) == over
        n_told += len(over)
        if not rng.randrange(50):
            waiting.end()
            assert (waiting.waits._readers, waiting.waits._filed) == ({}, {})
    assert n_told > 20


def _anything(rng: Random) -> tuple[EventType, KubeObject]:
    """Some event about a claim, a volume, a node or a pod; most leave the pods waiting."""
    number, other = rng.randrange(8), rng.randrange(12)
    kind = rng.choice(("claim", "claim", "claim", "volume", "volume", "volume", "node", "csi", "pod"))
    where = rng.choice((("a",), ("b",), ("a", "b"), ("a", "b"), None))
    name = rng.choice(NODES)
    if kind == "claim":
        annotations = rng.choice(ON_SOME_NODE)
        thing = claim(f"c{number}", volume=rng.choice(("", "", f"pv{other}")), annotations=annotations)
    elif kind == "volume":
        disk = rng.choice(({}, GCE))
        thing = volume(f"pv{other}", on=where, taker=rng.choice((f"c{number}", f"c{other % 8}")), **disk)
    elif kind == "node":
        thing = node(name, labels={HOST: rng.choice((name, name, "else")), ZONE: rng.choice(NODES)})
    elif kind == "csi":
        thing = csi_node(name, migrated=rng.choice(("", "kubernetes.io/gce-pd")))
    else:
        thing = pod(f"p{number}")
    is_gone = not rng.randrange(12)
    return EventType.DELETED if is_gone else EventType.MODIFIED, read(thing)
