"""Every fix that explain offers, applied to the cluster, makes the pod fit on the nodes that it names.

A pod that it moves fits on its new node, once the other one is placed.

Preemption is left out: the filters alone decide. The clusters are those of the recorded evaluations of kube-scheduler,
and generated ones.
"""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from campaigns.oracle.compare import read_case
from kubesched.admission.pod_checks import pod_faults
from kubesched.api import KubeObject, Pod
from kubesched.explanation import Explainer, Fix, explain
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_pod
from tests.clusters import MIN_NODES, SHAPES, realistic

CASES = sorted((Path(__file__).parents[1] / "golden/cases").glob("*.json.gz"))[::20]
MAX_FIXES = 5  # of each recorded cluster, of different kinds
KINDS = {
    "addNode",
    "claimMissing",
    "claimUnbound",
    "hostPort",
    "maxSkew",
    "movePod",
    "recreateClaim",
    "nodeAffinity",
    "nodeSelector",
    "podAffinity",
    "requests",
    "scheduleAnyway",
    "schedulingGate",
    "spreadPolicy",
    "startPod",
    "taint",
    "toleration",
    "uncordon",
}
"""What every generated cluster needs."""


def offered(cluster: list[KubeObject], config: bytes | None) -> Iterator[tuple[Pod, Fix]]:
    """Every fix of every pending pod; afterwards the cluster is as it was."""
    with Explainer(cluster, set_up(config), nominations=False) as explainer:
        for pod in explainer.pending:
            before = explainer.explain(pod, preempt=False)
            for fix in explainer.fixes(before):
                yield pod, fix
            assert explainer.explain(pod, preempt=False).rejections == before.rejections
        explainer.cluster_state.check_invariants()


def check(cluster: list[KubeObject], config: bytes | None, fixes: Iterable[tuple[Pod, Fix]]) -> None:
    for pod, fix in fixes:
        others = [obj for obj in cluster if not (isinstance(obj, Pod) and obj.key == pod.key)]
        objects, changed = fix.change.apply(others, pod)
        assert list(pod_faults(pod.spec)) or not list(pod_faults(changed.spec)), fix.text
        with Explainer(objects, set_up(config), nominations=False) as explainer:
            after = explainer.explain(changed, preempt=False)
        assert not after.held_back, fix.text
        assert (len(after.feasible), tuple(after.feasible[:5])) == (fix.n_nodes, fix.nodes), fix.text
        settled = [*objects, on_node(changed, fix.nodes[0])]
        for moved in moved_pods(cluster, objects):
            assert moved.node_name in explain(settled, moved, config).feasible, fix.text


def on_node(pod: Pod, node: str) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_name=node))


def moved_pods(before: list[KubeObject], after: list[KubeObject]) -> list[Pod]:
    """The pods that are on another node than before."""
    nodes = {obj.key: obj.node_name for obj in before if isinstance(obj, Pod)}
    pods = [obj for obj in after if isinstance(obj, Pod)]
    return [pod for pod in pods if pod.node_name != nodes.get(pod.key, pod.node_name)]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_fix_for_a_recorded_cluster_makes_the_pod_fit(path: Path) -> None:
    case = read_case(path)
    cluster = list(load_snapshot(io.BytesIO(json.dumps(case["snapshot"]).encode())))
    config = case["config"].encode() if case["config"] else None
    by_kind = {fix.kind: (pod, fix) for pod, fix in offered(cluster, config)}
    check(cluster, config, list(by_kind.values())[:MAX_FIXES])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_fix_for_a_generated_cluster_makes_the_pod_fit(shape: str) -> None:
    cluster = list(load_snapshot(io.BytesIO(realistic(shape, MIN_NODES, seed=3))))
    by_kind = {fix.kind: (pod, fix) for pod, fix in offered(cluster, None)}
    assert set(by_kind) >= KINDS - ({"recreateClaim"} if shape == "bare-metal" else set())  # no local volume is free
    check(cluster, None, by_kind.values())


SIZES = st.sampled_from(("500m", "1", "2", "500"))
TAINTS = st.sets(st.sampled_from(("a=x:NoSchedule", "b:NoExecute", "a=y:NoSchedule")), max_size=2).map(sorted)
TOLERATIONS = st.lists(
    st.builds(
        lambda key, value, effect: {"key": key, "value": value, "effect": effect},
        st.sampled_from("ab"),
        st.sampled_from(("", "x", "X", "y")),
        st.sampled_from(("NoSchedule", "NoExecute")),
    ),
    max_size=2,
)
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}
HOST = "kubernetes.io/hostname"
SELECTORS = st.sampled_from(({}, {}, {HOST: "n0"}, {"pool": "web"}, {"example.com/pool": "wbe"}))


@st.composite
def small_clusters(draw: st.DrawFn) -> list[KubeObject]:
    """Some nodes with taints and cordons, full to a degree, and a pod that may lack several things at once."""
    objects: list[KubeObject] = []
    for i in range(draw(st.integers(1, 4))):
        labels = {"example.com/pool": draw(st.sampled_from(("web", "db")))}
        taints, is_cordoned = draw(TAINTS), draw(st.booleans())
        allocatable = {"cpu": "2", "pods": "9"}
        objects.append(
            make_node(f"n{i}", allocatable=allocatable, labels=labels, taints=taints, unschedulable=is_cordoned)
        )
        ports = [80] if draw(st.booleans()) else []
        owners = {"ownerReferences": [OWNER]} if draw(st.booleans()) else {}
        cpu = {"cpu": draw(SIZES)}
        objects.append(make_pod(f"on-{i}", node=f"n{i}", requests=cpu, host_ports=ports, metadata=owners))
    selector, tolerations, ports = draw(SELECTORS), draw(TOLERATIONS), draw(st.sampled_from(([], [80])))
    wanted = {"cpu": draw(SIZES)}
    pod = make_pod("p", requests=wanted, node_selector=selector, tolerations=tolerations, host_ports=ports)
    return [*objects, pod]


@given(small_clusters())
def test_every_fix_for_a_pod_with_several_obstacles_makes_it_fit(cluster: list[KubeObject]) -> None:
    check(cluster, None, list(offered(cluster, None)))
