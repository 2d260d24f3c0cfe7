"""The best fix of a row of the list, applied to the file, places its pod in a simulation of that file, at its turn."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle import more
from kubesched.api import KubeObject, Pod, kind_of
from kubesched.explanation import Fix, State
from kubesched.planning import PendingPods
from kubesched.session import Placement, Simulator
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from tests.clusters import MIN_NODES, SHAPES, realistic
from tests.properties.cluster_walk import generated, read
from tests.tasks.clusters import cloud, home
from tests.trials import examples

FEATURES = sorted(set(more.USUAL) - {"profiles"})


def best_fixes(cluster: list[KubeObject]) -> tuple[tuple[Placement, ...], dict[str, Fix]]:
    """What a simulation makes of the pods, and the best fix of the first pod of each row that no node is left for."""
    fixes: dict[str, Fix] = {}
    with PendingPods(cluster, set_up(), str) as pending:
        seen = set()
        for answer in pending.answers():
            told = answer.tell()
            if answer.state is State.NOWHERE and told.fixes and (told.outcome.why, told.fix) not in seen:
                fixes[answer.pod] = told.fixes[0]
            seen.add((told.outcome.why, told.fix))
        return pending.report.placements, fixes


def after(cluster: list[KubeObject], key: str, fix: Fix) -> list[KubeObject]:
    """The objects with the fix, each in its place in the file, which is its place in the queue among equals."""
    pod = next(one for one in cluster if isinstance(one, Pod) and one.key == key)
    objects, changed = fix.change.apply([one for one in cluster if one is not pod], pod)
    known = {(kind_of(one), one.key): one for one in (*objects, changed)}
    there = [known.pop(name) for one in cluster if (name := (kind_of(one), one.key)) in known]
    return [*there, *known.values()]


def check(cluster: list[KubeObject]) -> set[str]:
    """Returns: the kinds of the fixes that were tried."""
    before, fixes = best_fixes(cluster)
    places = {one.pod: one.node for one in before}
    tried = set()
    for key, fix in fixes.items():
        report = Simulator(after(cluster, key, fix), set_up()).run()
        now = {one.pod: one for one in report.placements}
        earlier = report.placements[: list(now).index(key)]
        stands_back = fix.fault is not None or fix.leaves_pending  # a pod of the fix takes the room again
        if not stands_back and all(places.get(one.pod) == one.node for one in earlier):  # none takes what it opens
            assert now[key].node or now[key].is_not_created, (key, fix.text, now[key].message)
            tried.add(fix.kind)
    return tried


@pytest.mark.parametrize("cluster", [cloud, home])
def test_the_fixes_of_the_tasks_place_their_pods(cluster) -> None:
    assert len(check(cluster())) >= 4


@pytest.mark.parametrize("shape", SHAPES)
def test_the_fixes_of_a_generated_cluster_place_their_pods(shape: str) -> None:
    assert len(check(list(load_snapshot(io.BytesIO(realistic(shape, MIN_NODES, seed=5)))))) >= 8


@examples(10)
@given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(1, 6),
    bound=st.integers(0, 25),
    pending=st.integers(1, 12),
    features=st.lists(st.sampled_from(FEATURES), max_size=3, unique=True),
)
def test_the_fixes_of_a_random_cluster_place_their_pods(seed, nodes, bound, pending, features) -> None:
    items = generated(seed, nodes=nodes, bound=bound, pending=pending, features=tuple(features))
    check([read(item) for item in items])
