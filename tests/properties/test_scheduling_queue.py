"""SchedulingQueue against a naive model: lists, searches, a timer each second, and an in-flight list as it is told."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from zlib import crc32

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kubesched.api import ActionType, ClusterEvent, EventResource, ObjectMeta, Pod, PodSpec, PodStatus
from kubesched.errors import StateError
from kubesched.framework import QueueingHint, Status
from kubesched.queue import QueuedPodInfo, Registration, SchedulingQueue
from tests.trials import examples

NAMES = ["a", "b", "c", "d", "e"]
PLUGINS = ["P", "Q", "R"]
PROFILES = ["one", "two"]

POD_ADD = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
LABELS = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_LABEL)
TOLERATIONS = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_TOLERATION)
TIMEOUT = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout")
ACTIVATE = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate")


def fickle_hint(plugin: str):
    """A hint that depends on everything it is given."""

    def hint(pod, old, new):
        told = f"{plugin} {pod.name} {old and old.key} {new and new.key}"
        return QueueingHint.QUEUE if crc32(told.encode()) % 2 else QueueingHint.SKIP

    return hint


def half_of(pod: Pod) -> bool:
    return pod.name in "abc"


def fickle_shared_hint(plugin: str):
    """A hint that reads of the pod only which half of the names it is in, and whether the event is about it."""

    def hint(pod, old, new):
        about = new or old
        told = f"{plugin} {half_of(pod)} {about and about.uid == pod.uid} {old and old.key} {new and new.key}"
        return QueueingHint.QUEUE if crc32(told.encode()) % 2 else QueueingHint.SKIP

    return hint


def friends(pod: Pod) -> list[str]:
    return [f"ns/{name}" for name in NAMES if (ord(name) + ord(pod.name)) % 3]


def friendly_hint(pod, old, new):
    about = new or old
    return QueueingHint.QUEUE if about is not None and about.key in friends(pod) else QueueingHint.SKIP


def registered(resource, action, plugin, hint=None, part=None, objects=None):
    return Registration(ClusterEvent(resource, action), plugin, hint, part, objects)


HINTS = {
    "one": [
        registered(EventResource.POD, ActionType.DELETE, "P", fickle_hint("P")),
        registered(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, "P"),
        registered(EventResource.POD, ActionType.ADD | ActionType.UPDATE_POD_LABEL, "Q", fickle_hint("Q")),
        registered(EventResource.NODE, ActionType.ADD, "R", fickle_hint("R")),
        registered(EventResource.POD, ActionType.UPDATE_POD_TOLERATION, "R"),
        registered(EventResource.POD, ActionType.ADD, "R", fickle_shared_hint("R"), half_of),
    ],
    "two": [
        registered(EventResource.NODE, ActionType.ADD, "P", fickle_hint("P2")),
        registered(EventResource.POD, ActionType.UPDATE_POD_TOLERATION, "Q"),
        registered(EventResource.POD, ActionType.DELETE, "R", friendly_hint, objects=friends),
        registered(
            EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, "R", fickle_shared_hint("R2"), half_of
        ),
    ],
}


@dataclass(eq=False)
class Waiting:
    """A pod of the model. `place` is a queue's name, `arrival` its turn there among equals."""

    pod: Pod
    timestamp: float
    place: str = ""
    arrival: int = 0
    attempts: int = 0
    rejections: int = 0
    errors: int = 0
    rejected: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    gate: str = ""
    flushed: float = -math.inf

    @property
    def rank(self) -> tuple[int, float]:
        return -self.pod.priority, self.timestamp

    @property
    def backoff_end(self) -> float:
        count = self.errors or self.rejections
        return math.floor(self.timestamp + min(2 ** (count - 1), 10)) if count else -math.inf

    @property
    def turn(self) -> tuple:
        """What it is sorted by where it stands."""
        order = {"active": self.rank, "backoff": (self.backoff_end, self.rank), "error backoff": self.backoff_end}
        return order.get(self.place, 0), self.arrival


class Model:
    """The rules of kube-scheduler's queue, each as a search through a list."""

    def __init__(self, gates: set[tuple[str, str]]) -> None:
        self.waiting: list[Waiting] = []
        self.in_flight: list[str | tuple] = []  # uid of a popped pod, or (event, old, new)
        self.nominated: dict[str, str] = {}
        self.gates = gates
        self.arrivals = 0

    def find(self, name: str) -> Waiting | None:
        return next((w for w in self.waiting if w.pod.name == name), None)

    def in_place(self, *places: str) -> list[Waiting]:
        return sorted((w for w in self.waiting if w.place in places), key=lambda w: w.turn)

    def is_in_flight(self, uid: str) -> bool:
        return uid in self.in_flight

    def record(self, event, old, new) -> None:
        if any(isinstance(entry, str) for entry in self.in_flight):
            self.in_flight.append((event, old, new))

    # Pods come, change and go.

    def add(self, pod: Pod, now: float) -> None:
        self.remove(pod.name)
        waiting = Waiting(pod, now)
        if self.passes_gates(waiting):
            self.enter(waiting, "active")
            self.nominate(pod, None)

    def update(self, old: Pod, new: Pod, events: Iterable[ClusterEvent], now: float) -> None:
        waiting = self.find(new.name)
        if self.is_in_flight(new.uid):
            for event in events:
                self.record(event, old, new)
        elif waiting is None:
            self.add(new, now)
        else:
            self.update_waiting(waiting, old, new, events, now)

    def update_waiting(self, waiting: Waiting, old: Pod, new: Pod, events: Iterable[ClusterEvent], now: float) -> None:
        rank = waiting.rank
        waiting.pod = new
        keeps = not old.status.nominated_node_name and not new.status.nominated_node_name
        self.nominate(new, self.nominated.get(new.uid) if keeps else None)
        if waiting.place in ("active", "backoff") and waiting.rank != rank:
            self.enter(waiting, waiting.place)
        for event in events:
            if waiting.place == "unschedulable" and (strategy := self.judge(waiting, event, old, new)) != "skip":
                self.requeue(waiting, strategy, now)

    def remove(self, name: str) -> None:
        self.waiting = [w for w in self.waiting if w.pod.name != name]

    def delete(self, pod: Pod) -> None:
        self.remove(pod.name)
        self.nominated.pop(pod.uid, None)

    def nominate(self, pod: Pod, node: str | None) -> None:
        self.nominated.pop(pod.uid, None)
        node = pod.status.nominated_node_name if node is None else node
        if node:
            self.nominated[pod.uid] = node

    # Attempts.

    def pop(self) -> Waiting | None:
        while heads := self.in_place("active") or self.in_place("backoff"):
            self.remove(heads[0].pod.name)
            heads[0].attempts += 1
            if not self.is_in_flight(heads[0].pod.uid):
                self.in_flight.append(heads[0].pod.uid)
                heads[0].rejected, heads[0].pending, heads[0].gate, heads[0].place = set(), set(), "", ""
                return heads[0]
        return None

    def done(self, uid: str) -> None:
        if uid in self.in_flight:
            self.in_flight.remove(uid)
        while self.in_flight and not isinstance(self.in_flight[0], str):
            self.in_flight.pop(0)

    def hand_back(self, waiting: Waiting, now: float) -> None:
        if waiting.rejected or waiting.pending:
            waiting.rejections, waiting.errors = waiting.rejections + 1, 0
        else:
            waiting.errors += 1
        waiting.timestamp = now
        strategies = {self.judge(waiting, *entry) for entry in self.events_since(waiting.pod.uid)}
        best = next((s for s in ("immediately", "after backoff") if s in strategies), "skip")
        self.requeue(waiting, best if waiting.rejected or waiting.pending else "after backoff", now)

    def events_since(self, uid: str) -> list[tuple]:
        return [entry for entry in self.in_flight[self.in_flight.index(uid) :] if not isinstance(entry, str)]

    # What ends the waiting.

    def happen(self, event: ClusterEvent, old, new, now: float) -> None:
        if any(r.covers(event) for entries in HINTS.values() for r, *_ in entries):
            self.move(self.in_place("unschedulable"), event, old, new, now)

    def move(self, candidates: list[Waiting], event, old, new, now: float) -> None:
        for waiting in sorted(candidates, key=lambda w: (w.rank, w.arrival)):
            if waiting.gate and not event.is_wildcard and not self.concerns(waiting.gate, event):
                continue
            strategy = self.judge(waiting, event, old, new)
            if strategy != "skip":
                waiting.place = ""
                self.requeue(waiting, strategy, now)
        self.record(event, old, new)

    def activate(self, pod: Pod) -> None:
        waiting = self.find(pod.name)
        if waiting is not None and waiting.place != "active":
            if "backoff" in waiting.place or self.passes_gates(waiting):
                self.enter(waiting, "active")
                return
        if self.is_in_flight(pod.uid):
            self.record(ACTIVATE, None, pod)

    def second(self, now: int) -> None:
        """What the timers do at a whole second."""
        for place in ("backoff", "error backoff"):
            for waiting in self.in_place(place):
                if waiting.backoff_end < now:
                    self.enter(waiting, "active")
        overdue = [w for w in self.in_place("unschedulable") if now - max(w.timestamp, w.flushed) > 300]
        if now % 30 == 0 and overdue:
            for waiting in overdue:
                waiting.flushed = now
            self.move(overdue, TIMEOUT, None, None, now)

    # Rules.

    def judge(self, waiting: Waiting, event: ClusterEvent, old, new) -> str:
        if event.is_wildcard:
            return "skip" if isinstance(new, Pod) and new.uid != waiting.pod.uid else "after backoff"
        willing = {
            plugin
            for r, plugin, hint, *_ in HINTS[waiting.pod.scheduler_name]
            if r.covers(event)
            and plugin in waiting.rejected | waiting.pending
            and (hint is None or hint(waiting.pod, old, new) is QueueingHint.QUEUE)
        }
        return "immediately" if willing & waiting.pending else "after backoff" if willing else "skip"

    def concerns(self, plugin: str, event: ClusterEvent) -> bool:
        return any(p == plugin and r.covers(event) for entries in HINTS.values() for r, p, *_ in entries)

    def requeue(self, waiting: Waiting, strategy: str, now: float) -> None:
        if strategy == "skip":
            self.enter(waiting, "unschedulable")
        elif self.passes_gates(waiting):
            backs_off = strategy == "after backoff" and waiting.backoff_end >= math.floor(now)
            kind = "backoff" if waiting.rejected or waiting.pending else "error backoff"
            self.enter(waiting, kind if backs_off else "active")

    def passes_gates(self, waiting: Waiting) -> bool:
        waiting.gate = first_gate(self.gates, waiting.pod.name, waiting.gate)
        if waiting.gate:
            waiting.rejected.add(waiting.gate)
            if waiting.place != "unschedulable":
                self.enter(waiting, "unschedulable")
        return not waiting.gate

    def enter(self, waiting: Waiting, place: str) -> None:
        self.remove(waiting.pod.name)
        self.arrivals += 1
        waiting.place, waiting.arrival = place, self.arrivals
        self.waiting.append(waiting)


def first_gate(gates: set[tuple[str, str]], name: str, first: str) -> str:
    """The plugin that gates the pod: the one asked first if it does, else the first by name; empty for none."""
    closed = sorted(plugin for plugin, gated in gates if gated == name)
    return first if first in closed else next(iter(closed), "")


names = st.sampled_from(NAMES)
events_of_cluster = st.sampled_from([POD_ADD, POD_DELETE, NODE_ADD, NODE_LABEL])
updates = st.lists(st.sampled_from([LABELS, TOLERATIONS]), max_size=2, unique=True)
plugin_sets = st.sets(st.sampled_from(PLUGINS), max_size=2)
rarely_pending = st.builds(set) | st.builds(set) | plugin_sets
nodes = st.sampled_from(["", "", "n1", "n2"])


class QueueMachine(RuleBasedStateMachine):
    """Does the same to both and compares all there is to see."""

    @initialize(use_less=st.booleans(), at_once=st.sampled_from([math.inf, 1, 3]))
    def start(self, use_less: bool, at_once: float) -> None:
        self.gates: set[tuple[str, str]] = set()
        self.model = Model(self.gates)
        self.now = 0.0
        self.serial = 0
        self.cluster: dict[str, Pod] = {}
        self.popped: list[tuple[QueuedPodInfo, Waiting]] = []

        def rank(info: QueuedPodInfo) -> tuple[int, float]:
            return -info.pod.priority, info.timestamp

        order = {"less": lambda a, b: rank(a) < rank(b)} if use_less else {"sort_key": rank}
        self.queue = SchedulingQueue(pre_enqueue=self.pre_enqueue, hints=HINTS, at_once=at_once, **order)
        self.queue._places.active._patience = math.inf  # the model has one order

    def pre_enqueue(self, pod: Pod, first: str) -> Status:
        gate = first_gate(self.gates, pod.name, first)
        return Status.unresolvable("closed").by(gate) if gate else Status.SUCCESS

    def make_pod(self, name: str, uid: str, priority: int, nominated: str) -> Pod:
        self.serial += 1
        return Pod(
            metadata=ObjectMeta(name=name, namespace="ns", uid=uid, resource_version=str(self.serial)),
            spec=PodSpec(priority=priority, scheduler_name=PROFILES[NAMES.index(name) % 2]),
            status=PodStatus(nominated_node_name=nominated),
        )

    @rule(pods=st.lists(st.tuples(names, st.integers(0, 2), nodes), min_size=1, max_size=4))
    def add(self, pods: list[tuple[str, int, str]]) -> None:
        for name, priority, nominated in pods:
            self.add_one(name, priority, nominated)

    def add_one(self, name: str, priority: int, nominated: str) -> None:
        known = self.cluster.get(name)
        pod = known or self.make_pod(name, f"{name}{self.serial}", priority, nominated)
        self.cluster[name] = pod
        self.queue.add(pod, self.now)
        self.model.add(pod, self.now)

    @precondition(lambda self: self.cluster)
    @rule(data=st.data(), priority=st.integers(0, 2), nominated=nodes, events=updates)
    def update(self, data, priority: int, nominated: str, events: list[ClusterEvent]) -> None:
        old = self.cluster[data.draw(st.sampled_from(sorted(self.cluster)))]
        new = self.cluster[old.name] = self.make_pod(old.name, old.uid, priority, nominated)
        self.queue.update(old, new, events, self.now)
        self.model.update(old, new, events, self.now)

    @precondition(lambda self: self.cluster)
    @rule(data=st.data())
    def delete(self, data) -> None:
        pod = self.cluster.pop(data.draw(st.sampled_from(sorted(self.cluster))))
        self.queue.delete(pod)
        self.model.delete(pod)

    @rule(count=st.integers(1, 3))
    def pop(self, count: int) -> None:
        for _ in range(count):
            self.pop_one()

    def pop_one(self) -> None:
        info, waiting = self.queue.pop(), self.model.pop()
        assert (info and info.pod) == (waiting and waiting.pod)
        if info is not None and waiting is not None:
            assert info.attempts == waiting.attempts
            self.popped.append((info, waiting))

    @precondition(lambda self: self.popped)
    @rule(data=st.data(), rejected=plugin_sets, pending=rarely_pending, nominated=st.none() | nodes)
    def fail(self, data, rejected: set[str], pending: set[str], nominated: str | None) -> None:
        self.fail_one(data.draw(st.integers(0, len(self.popped) - 1)), rejected, pending, nominated)

    @rule(outcomes=st.lists(st.tuples(plugin_sets, rarely_pending), min_size=1, max_size=5))
    def try_and_fail(self, outcomes: list[tuple[set[str], set[str]]]) -> None:
        for rejected, pending in outcomes:
            before = len(self.popped)
            self.pop_one()
            if len(self.popped) > before:
                self.fail_one(before, rejected, pending, None)

    def fail_one(self, index: int, rejected: set[str], pending: set[str], nominated: str | None) -> None:
        info, waiting = self.popped.pop(index)
        current = self.cluster.get(waiting.pod.name)
        if current is None or current.uid != info.pod.uid:
            self.end(info, waiting)
            return
        info.replace_pod(current)
        info.unschedulable_plugins |= rejected
        info.pending_plugins |= pending
        waiting.pod, waiting.rejected, waiting.pending = current, set(rejected), set(pending)
        if self.model.find(current.name):
            with pytest.raises(StateError, match="is already present in"):
                self.queue.add_unschedulable_if_not_present(info, self.now)
        else:
            self.queue.add_unschedulable_if_not_present(info, self.now)
            self.model.hand_back(waiting, self.now)
            self.queue.nominator.add(info, nominated)
            self.model.nominate(current, nominated)
        self.model.done(current.uid)

    @precondition(lambda self: self.popped)
    @rule(data=st.data())
    def bind(self, data) -> None:
        info, waiting = self.popped.pop(data.draw(st.integers(0, len(self.popped) - 1)))
        self.end(info, waiting)
        if self.cluster.get(info.pod.name, info.pod).uid == info.pod.uid:
            self.cluster.pop(info.pod.name, None)
            self.queue.delete(info.pod)
            self.model.delete(waiting.pod)

    def end(self, info: QueuedPodInfo, waiting: Waiting) -> None:
        self.queue.done(info.pod.uid)
        self.model.done(waiting.pod.uid)

    @rule(event=events_of_cluster, name=names)
    def happen(self, event: ClusterEvent, name: str) -> None:
        thing = self.make_pod(name, "other", 0, "")
        old, new = (thing, None) if event.action == ActionType.DELETE else (None, thing)
        self.queue.move_all_to_active_or_backoff_queue(event, old, new, self.now)
        self.catch_up(self.now)
        self.model.happen(event, old, new, self.now)

    @precondition(lambda self: self.cluster)
    @rule(data=st.data())
    def activate(self, data) -> None:
        pod = self.cluster[data.draw(st.sampled_from(sorted(self.cluster)))]
        self.queue.activate([pod], self.now)
        self.model.activate(pod)

    @rule(gate=st.tuples(st.sampled_from(PLUGINS), names))
    def close_gate(self, gate: tuple[str, str]) -> None:
        self.gates.add(gate)

    @precondition(lambda self: self.gates)
    @rule(data=st.data())
    def open_gate(self, data) -> None:
        self.gates.discard(data.draw(st.sampled_from(sorted(self.gates))))

    @rule(quarters=st.integers(1, 6) | st.integers(1, 60) | st.just(120) | st.integers(1200, 1400))
    def wait(self, quarters: int) -> None:
        start, self.now = self.now, self.now + quarters / 4
        while (deadline := self.queue.next_deadline()) is not None and deadline <= self.now:
            assert deadline > start
            start = deadline
            self.queue.advance(deadline)
            self.catch_up(deadline)
        for second in range(math.floor(self.now - quarters / 4) + 1, math.floor(self.now) + 1):
            self.model.second(second)

    def catch_up(self, now: float) -> None:
        """Let the queue do in steps what it would do at once otherwise."""
        while self.queue._backlog._ask():  # pods of one turn move in order only when all are known
            self.queue.check_invariants()
        while self.queue.has_backlog:
            self.queue.catch_up(now)

    @invariant()
    def both_are_the_same(self) -> None:
        self.queue.check_invariants()
        assert [(p.key, p.queue) for p in self.queue.pending().pods] == list(self.expected())
        assert {uid: node for node, infos in self.queue.nominator for uid in (i.pod.uid for i in infos)} == (
            self.model.nominated
        )
        pods_in_flight = sum(isinstance(entry, str) for entry in self.model.in_flight)
        counts = self.queue.in_flight_events()
        assert counts["PodPopped"] == pods_in_flight == len(self.popped)
        assert sum(counts.values()) == len(self.model.in_flight)

    def expected(self) -> Iterable[tuple[str, str]]:
        places = [self.model.in_place(place) for place in ("active", "backoff", "error backoff", "unschedulable")]
        for waiting in places[0]:
            yield waiting.pod.key, "active"
        for waiting in places[1] + places[2]:
            yield waiting.pod.key, "backoff"
        for waiting in sorted(places[3], key=lambda w: bool(w.gate)):
            yield waiting.pod.key, "gated" if waiting.gate else "unschedulable"


TestSchedulingQueue = QueueMachine.TestCase
TestSchedulingQueue.settings = examples(40, stateful_step_count=100)
