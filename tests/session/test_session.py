"""A session is changed, scheduled and forked any number of times, and each run equals one on a new cluster."""

from random import Random

import pytest

from kubesched.api import KubeObject, Node, Pod
from kubesched.framework import Decision, Plugin, Status
from kubesched.scheduler import TieBreak
from kubesched.session import PodState, Preempt, Report, Session, Simulator
from kubesched.testing import make_node, make_pod, minimal_profile
from tests.planning.drain_clusters import random_cluster
from tests.trials import seeds

NODES = [make_node("n1", allocatable={"cpu": "2"}), make_node("n2", allocatable={"cpu": "1"})]


def pending(name: str, cpu: str = "1", **more: object) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, **more)


def nodes_of(report: Report) -> dict[str, str]:
    return {one.pod.partition("/")[2]: one.node for one in report.placements}


def rows(session: Session) -> dict[str, list[str]]:
    columns = session.cluster_state.columns
    return {name: [info.pod.key for info in columns.pods[row]] for name, row in columns.row_of.items()}


def test_what_changes_in_a_fork_is_taken_back() -> None:
    with Session([*NODES, pending("a")]) as session:
        with session.fork():
            session.change([make_node("n3"), pending("b", "2")])
            assert nodes_of(session.schedule()) == {"a": "n3", "b": "n3"}
        assert [one.name for one in session.objects()] == ["n1", "n2", "a"]
        assert [pod.name for pod in session.waiting()] == ["a"]
        assert nodes_of(session.schedule()) == {"a": "n1"}


def test_a_fork_is_reverted_early_or_kept() -> None:
    with Session(NODES) as session:
        with session.fork() as fork:
            session.change([pending("a")])
            fork.revert()
            session.change([pending("b")])
            fork.revert()
        assert [pod.name for pod in session.waiting()] == ["b"]
        with session.fork() as fork:
            session.change([pending("c")])
            fork.commit()
        assert [pod.name for pod in session.waiting()] == ["b", "c"]


def test_an_outer_fork_takes_back_what_an_inner_one_keeps() -> None:
    with Session([*NODES, pending("a")]) as session:
        with session.fork():
            with session.fork() as inner:
                session.schedule()
                inner.commit()
            assert [pod.name for pod in session.pods_on("n1")] == ["a"]
        assert session.pods_on("n1") == []
        assert [pod.name for pod in session.waiting()] == ["a"]


class Interrupted(Plugin):
    """Ctrl-C comes while `b` is tried for the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.is_over = False

    def filter(self, state, pod, node):
        if pod.name == "b" and not self.is_over:
            self.is_over = True
            raise KeyboardInterrupt
        return Status.SUCCESS


def test_a_fork_is_reverted_when_a_hook_is_interrupted() -> None:
    with Session([*NODES, pending("a"), pending("b")], [minimal_profile(Interrupted())]) as session:
        with pytest.raises(KeyboardInterrupt), session.fork():
            session.schedule()
        session.cluster_state.check_invariants()
        session.scheduler.queue.check_invariants()
        assert session.cluster_state.assumed_uids == []
        assert nodes_of(session.schedule()) == {"a": "n1", "b": "n1"}


class Late(Plugin):
    def pre_bind_pre_flight(self, state, pod, node_name):
        return Status.SUCCESS

    async def pre_bind(self, state, pod, node_name):
        await self.handle.wait(lambda: False, 30.0)
        return Status.SUCCESS


def test_time_passes_in_a_fork_alone() -> None:
    with Session([*NODES, pending("p")], [minimal_profile(Late())]) as session:
        for _ in range(2):
            with session.fork():
                assert session.schedule().seconds == 30.0
        assert session.clock.seconds == 0.0


def test_an_attempt_has_no_effect() -> None:
    with Session([*NODES, pending("other", "2")]) as session:
        before = rows(session)
        tried = session.attempt(pending("p", "2"))
        assert tried.fits
        assert session.attempt(pending("p", "3"), Preempt.UNLESS_FAILED).diagnosis.message.startswith("0/2 nodes are")
        assert rows(session) == before
        assert nodes_of(session.schedule()) == {"other": "n1"}


def test_pods_that_arrive_during_a_run_are_tried_in_their_order() -> None:
    with Session([*NODES, pending("low", priority=-1)]) as session:
        coming = iter([pending("b"), pending("c"), pending("d")])

        def arrives(decision: Decision) -> bool:
            if decision.pod.name in ("a", "b", "c") and decision.node_name:
                session.arrive([next(coming)])
            return False

        session.change([pending("a")])
        report = session.schedule(until=arrives)
        alone = Simulator([*NODES, pending("low", priority=-1), *[pending(name) for name in "abcd"]]).run()
        assert report.placements == alone.placements
        assert report.count(PodState.SCHEDULED) == 3


@pytest.mark.parametrize("tie_break", TieBreak)
@pytest.mark.parametrize("seed", seeds(6))
def test_after_any_changes_runs_and_forks_a_session_is_like_a_new_one(seed: int, tie_break: TieBreak) -> None:
    rng = Random(seed)
    objects = random_cluster(seed)
    with Session(objects, tie_break=tie_break, seed=3) as session:
        for _ in range(3):
            with session.fork() as fork:
                _change_somehow(session, rng)
                if rng.random() < 0.5:
                    session.schedule()
                with session.fork():
                    _change_somehow(session, rng)
                    session.schedule()
                if rng.random() < 0.5:
                    fork.commit()
        session.cluster_state.check_invariants()
        known = session.objects()
        with Session(known, tie_break=tie_break, seed=3) as new:
            session.pods_on("n0")  # which puts the pods in order
            assert rows(session) == rows(new)
            assert session.schedule().placements == new.schedule().placements


def _change_somehow(session: Session, rng: Random) -> None:
    """Remove some pods, perhaps a node with its pods, and add some."""
    placed = [one for one in session.of("Pod") if isinstance(one, Pod) and one.node_name]
    gone: list[KubeObject] = rng.sample(placed, min(2, len(placed)))
    if rng.random() < 0.3:
        node = rng.choice([one for one in session.of("Node") if isinstance(one, Node)])
        gone = [node, *(pod for pod in placed if pod.node_name == node.name)]
    number = rng.randrange(10**9)
    added = [pending(f"new-{number}-{i}", str(rng.randint(1, 3)), priority=rng.randint(0, 9)) for i in range(3)]
    session.change([make_node(f"m{number}", allocatable={"cpu": "4", "pods": "9"}), *added], gone)
