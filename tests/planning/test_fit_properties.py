"""The largest number that fits, and what a rollout keeps running: on generated clusters, and for drawn strategies."""

import functools
import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kubesched import load_snapshot
from kubesched.planning import fit
from kubesched.testing import make_pod
from tests.clusters import MIN_NODES, SHAPES, realistic
from tests.planning.test_rollout import nodes, running, stream, workload
from tests.trials import examples

LABELS = {"app": "asked"}
SELECTOR = {"labelSelector": {"matchLabels": LABELS}}
APART = [SELECTOR | {"topologyKey": "kubernetes.io/hostname"}]
APART_SPEC = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": APART}}}


def asked(kind, shape):
    """A pod to ask about."""
    if kind == "spread":
        skew = {"maxSkew": 1, "topologyKey": SHAPES[shape].domain_key, "whenUnsatisfiable": "DoNotSchedule"}
        spec = {"topologySpreadConstraints": [SELECTOR | skew]}
        return make_pod("asked", labels=LABELS, requests={"cpu": "2"}, spec=spec)
    if kind == "apart":
        return make_pod("asked", labels=LABELS, requests={"cpu": "100m"}, spec=APART_SPEC)
    if kind == "preempting":
        return make_pod("asked", requests={"cpu": "6", "memory": "8Gi"}, priority=1_000_000)
    return make_pod("asked", requests={"cpu": "1", "memory": "6Gi"})


@functools.cache
def cluster_of(shape):
    return load_snapshot(io.BytesIO(realistic(shape, MIN_NODES)))


@pytest.mark.parametrize(
    ("shape", "kind"),
    [*((shape, kind) for shape in SHAPES for kind in ("spread", "preempting")), ("eks", "apart"), ("gke", "large")],
)
def test_the_largest_number_fits_and_one_more_does_not(shape, kind):
    cluster, pod = cluster_of(shape), asked(kind, shape)
    answer = fit(cluster, [pod], maximum=True)
    assert answer.n_fit > 0
    assert answer.next_left is not None
    assert kind != "preempting" or len(answer.report.victims) > 1
    as_many = fit(cluster, [pod], replicas=answer.n_fit)
    assert as_many.all_fit
    assert as_many.report.placements == answer.report.placements
    assert as_many.report.victims == answer.report.victims
    assert not fit(cluster, [pod], replicas=answer.n_fit + 1).all_fit


@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from([0, 1, 3, "25%", "100%"]),
    st.sampled_from([0, 1, 2, "50%", "100%"]),
    st.sampled_from(["1", "2"]),
)
@examples(5)
def test_a_rollout_keeps_as_many_pods_running_as_its_strategy_says(n_old, n, surge, unavailable, cpu):
    assume(surge != 0 or unavailable != 0)
    strategy = {"strategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}
    old = running(n_old)
    answer = fit([*nodes(6, cpu="2"), *old], stream(workload(replicas=n, cpu=cpu, **strategy)), rollout=True)
    (rollout,) = answer.rollouts
    missing = n * int(unavailable[:-1]) // 100 if isinstance(unavailable, str) else unavailable
    missing = missing if missing or surge else 1
    assert rollout.n_lowest >= min(n_old, n - missing)
    assert answer.all_fit == (rollout.n_old_left == 0)
    n_running = sum(one.after["pods"] for one in answer.report.nodes)
    assert n_running == answer.n_fit + rollout.n_old_left
