"""What equal pods share changes nothing but the time: every placement, victim and message is the same without it."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import KubeObject
from kubesched.framework.kept_results import KeptResults
from kubesched.scheduler import TieBreak
from kubesched.session import Report, Simulator
from kubesched.testing import make_node, make_object, make_pod
from tests.trials import examples

ZONE = "topology.kubernetes.io/zone"
APPS = ("web", "db", "batch")
PRIORITIES = (0, 0, 5, 10)


@contextmanager
def nothing_shared() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeptResults, "keep", lambda self, result: None)
        yield


def spec_of(r: Random, app: str) -> dict:
    selector = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": ZONE}
    spread = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **selector}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [selector]}}
    port = {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}
    kinds: tuple[dict, ...] = (
        {"topologySpreadConstraints": [spread]},
        {"affinity": apart},
        {"nodeSelector": {ZONE: r.choice("ab")}},
        {"preemptionPolicy": "Never"},
        {"containers": [port]},
    )
    return r.choice(kinds) if r.random() < 0.5 else {}


def cluster(seed: int) -> list[KubeObject]:
    """Nodes that are rather full, and groups of equal pods that wait."""
    r = Random(seed)
    n_nodes = r.choice((2, 5, 130))  # where there are many, preemption begins anywhere
    objects: list[KubeObject] = [
        make_node(f"n{i}", zone=r.choice("ab"), allocatable={"cpu": r.choice("24"), "memory": "8Gi", "pods": "5"})
        for i in range(n_nodes)
    ]
    for i in range(2 * n_nodes):
        about = {"priority": r.choice(PRIORITIES), "labels": {"app": r.choice(APPS)}}
        objects.append(make_pod(f"on-{i}", node=f"n{r.randrange(n_nodes)}", requests={"cpu": "1"}, **about))
    allowed = {"selector": {"matchLabels": {"app": "db"}}}
    objects.append(make_object("PodDisruptionBudget", "db", spec=allowed, status={"disruptionsAllowed": 1}))
    for group in range(r.randint(1, 5)):
        app, requests = r.choice(APPS), {"cpu": r.choice(("1", "2", "3", "9"))}
        said = {"labels": {"app": app}, "priority": r.choice(PRIORITIES), "spec": spec_of(r, app)}
        objects += [make_pod(f"p{group}-{i}", requests=requests, **said) for i in range(r.randint(1, 5))]
    r.shuffle(objects)
    return objects


def outcome(objects: list[KubeObject], tie_break: TieBreak, seed: int) -> tuple[object, ...]:
    report: Report = Simulator(objects, tie_break=tie_break, seed=seed).run()
    placements = [(one.pod, one.node, one.message, one.attempts, one.victims) for one in report.placements]
    return placements, [(one.pod, one.preemptor, one.node) for one in report.victims]


@examples(25)
@given(seed=st.integers(0, 2**32), tie_break=st.sampled_from(TieBreak))
def test_runs_are_the_same_without_what_equal_pods_share(seed: int, tie_break: TieBreak) -> None:
    objects = cluster(seed)
    shared = outcome(objects, tie_break, seed)
    with nothing_shared():
        assert outcome(objects, tie_break, seed) == shared
