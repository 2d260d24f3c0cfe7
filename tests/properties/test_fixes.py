"""Every fix that explain offers, applied to the cluster, makes the pod fit on the nodes that it names.

Preemption is left out: the filters alone decide. The clusters are those of the recorded evaluations of kube-scheduler,
and generated ones.
"""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.explanation import Explainer, Fix
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from tests.clusters import MIN_NODES, SHAPES, realistic
from tests.oracle.compare import read_case

CASES = sorted((Path(__file__).parents[1] / "golden/cases").glob("*.json.gz"))[::14]
MAX_FIXES = 5  # of each recorded cluster, of different kinds


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
        with Explainer(objects, set_up(config), nominations=False) as explainer:
            after = explainer.explain(changed, preempt=False)
        assert not after.held_back, fix.text
        assert (len(after.feasible), tuple(after.feasible[:5])) == (fix.n_nodes, fix.nodes), fix.text


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
    assert len(by_kind) > 12
    check(cluster, None, by_kind.values())
