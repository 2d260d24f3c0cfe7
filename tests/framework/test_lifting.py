"""A rule written per node answers as one written over columns."""

import numpy as np
import pytest

from kubesched.framework import Code, CycleState, Plugin, Status
from kubesched.framework.lifting import lifted_filter, lifted_score
from kubesched.testing.builders import make_node, make_pod
from kubesched.testing.fake_cluster import FakeCluster

NODES = [make_node(f"n{i}", labels={"rank": str(i)}) for i in range(4)]


class ByRank(Plugin):
    def filter(self, state, pod, node):
        rank = int(node.labels["rank"])
        return Status.SUCCESS if rank < 2 else Status.unschedulable(f"rank {rank // 3}")

    def score(self, state, pod, node):
        return int(node.labels["rank"]) * 10


def asked(plugin: Plugin):
    cluster = FakeCluster(plugin, nodes=NODES)
    pod = make_pod("p")
    return plugin, CycleState(cluster.cluster_state.pod_info(pod)), pod, cluster.nodes


def test_every_row_gets_the_status_that_the_plugin_gave_its_node() -> None:
    verdicts = lifted_filter(*asked(ByRank()))
    assert verdicts.values.tolist() == [0, 0, 1, 2]
    assert [verdicts.status(value).message for value in (1, 2)] == ["rank 0", "rank 1"]


def test_every_row_gets_the_score_of_its_node() -> None:
    scores = lifted_score(*asked(ByRank()))
    assert (scores.tolist(), scores.dtype) == ([0, 10, 20, 30], np.int64)


def test_a_lifted_rule_is_asked_only_about_nodes_that_passed_so_far() -> None:
    class First(Plugin):
        reasons = (Status.unschedulable("odd"),)

        def filter_nodes(self, state, pod, nodes):
            return np.arange(len(nodes)) % 2

    class Notes(ByRank):
        def __init__(self, args=None):
            super().__init__(args)
            self.seen = []

        def filter(self, state, pod, node):
            self.seen.append(node.name)
            return super().filter(state, pod, node)

    notes = Notes()
    statuses = FakeCluster(First(), notes, nodes=NODES).filter(make_pod("p"))
    assert notes.seen == ["n0", "n2"]
    assert [statuses[f"n{i}"].message for i in range(4)] == ["", "odd", "rank 0", "odd"]


@pytest.mark.parametrize("answer", [None, True, "no", Status.SKIP, 7])
def test_an_answer_that_is_no_verdict_is_refused(answer: object) -> None:
    class Odd(Plugin):
        def filter(self, state, pod, node):
            return answer

    verdicts = lifted_filter(*asked(Odd()))
    assert verdicts.values.tolist() == [1] * 4
    assert verdicts.status(1).code is Code.ERROR
    assert verdicts.status(1).message.startswith("TypeError: filter must return Status.SUCCESS or a rejection; found ")


def test_a_filter_that_raises_on_a_node_has_failed_there_alone() -> None:
    class Boom(ByRank):
        def filter(self, state, pod, node):
            if node.name == "n1":
                raise KeyError("x")
            return super().filter(state, pod, node)

    verdicts = lifted_filter(*asked(Boom()))
    assert (verdicts.values.tolist(), verdicts.may_fail) == ([0, 1, 2, 3], True)
    assert verdicts.status(1) == Status.error("KeyError: 'x'")


@pytest.mark.parametrize("answer", [None, True, 1.5, "7", 2**63, -(2**63) - 1])
def test_a_score_that_is_no_int64_is_refused(answer: object) -> None:
    class Odd(Plugin):
        def score(self, state, pod, node):
            return answer

    with pytest.raises(TypeError, match="score must return an int64; found "):
        lifted_score(*asked(Odd()))


def test_numpy_integers_are_scores() -> None:
    class Fine(Plugin):
        def score(self, state, pod, node):
            return np.int32(7)

    assert lifted_score(*asked(Fine())).tolist() == [7] * 4
