"""No pod that the newest state helps is left waiting, however events, questions and attempts interleave."""

import math
from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import ActionType, ClusterEvent, EventResource, Node, ObjectMeta, Pod, PodSpec
from kubesched.framework import QueueingHint
from kubesched.queue import Registration, SchedulingQueue
from tests.trials import examples

NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
RACKS = ["a", "b", "c"]
NODES = ["n1", "n2"]


def rack_of(pod: Pod) -> str:
    return RACKS[crc32(pod.name.encode()) % len(RACKS)]


def appears(pod: Pod, old: Node, new: Node) -> QueueingHint:
    """Says Queue only when a node gets the rack, as hints of labels do."""
    helps = new.labels["rack"] == rack_of(pod) != old.labels["rack"]
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def node(name: str, rack: str) -> Node:
    return Node(metadata=ObjectMeta(name=name, labels={"rack": rack}))


def pod(i: int) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=f"p{i}", namespace="ns", uid=f"u{i}"),
        spec=PodSpec(priority=i % 3, scheduler_name="default-scheduler"),
    )


class Cluster:
    """Nodes in racks, and a queue of pods that each fit on the nodes of one rack."""

    def __init__(self, with_part: bool, at_once: int) -> None:
        registered = Registration(NODE_LABEL, "P", appears, rack_of if with_part else None)
        self.queue = SchedulingQueue(
            sort_key=lambda info: (-info.pod.priority, info.timestamp),
            hints={"default-scheduler": [registered]},
            at_once=at_once,
        )
        self.racks = dict.fromkeys(NODES, RACKS[0])
        self.now = 0.0
        self.n_pods = 0

    def come(self) -> None:
        self.queue.add(pod(self.n_pods), self.now)
        self.n_pods += 1

    def relabel(self, name: str, rack: str) -> None:
        old, self.racks[name] = self.racks[name], rack
        if old != rack:
            self.queue.move_all_to_active_or_backoff_queue(NODE_LABEL, node(name, old), node(name, rack), self.now)

    def attempt(self) -> None:
        info = self.queue.pop()
        if info is not None and rack_of(info.pod) in self.racks.values():
            self.queue.done(info.pod.uid)
        elif info is not None:
            info.unschedulable_plugins.add("P")
            self.queue.add_unschedulable_if_not_present(info, self.now)

    def settle(self) -> None:
        while self.queue.has_backlog or self.queue.can_pop:
            self.now += 20.0
            self.queue.advance(self.now)
            self.queue.catch_up(self.now)
            self.attempt()
            self.queue.check_invariants()


steps = st.one_of(
    st.just(("come",)),
    st.just(("attempt",)),
    st.just(("catch up",)),
    st.tuples(st.just("relabel"), st.sampled_from(NODES), st.sampled_from(RACKS)),
)


@examples(60)
@given(st.booleans(), st.integers(1, 3), st.lists(steps, max_size=60))
def test_every_pod_that_fits_is_tried_on_the_newest_state(with_part, at_once, story):
    cluster = Cluster(with_part, at_once)
    for name, *given_ in story:
        cluster.now += 0.1
        if name == "catch up":
            cluster.queue.catch_up(cluster.now)
        else:
            getattr(cluster, name)(*given_)
        cluster.queue.check_invariants()
    cluster.settle()
    keys = cluster.queue.keys()
    left = {rack_of(pod(int(key.removeprefix("ns/p")))) for key in keys}
    assert left.isdisjoint(cluster.racks.values())
    assert cluster.queue.next_deadline() != -math.inf
