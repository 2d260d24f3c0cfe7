"""Every fix that explain offers, applied to the cluster, makes the pod fit on the nodes that it names.

Preemption is left out: the filters alone decide. The clusters are those of the recorded evaluations of kube-scheduler.
"""

import io
import json
from pathlib import Path

import pytest

from kubesched.api import Pod
from kubesched.explanation import Explainer
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from tests.oracle.compare import read_case

CASES = sorted((Path(__file__).parents[1] / "golden/cases").glob("*.json.gz"))[::14]
MAX_FIXES = 5  # of each case, of different kinds


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_fix_that_is_applied_makes_the_pod_fit(path: Path) -> None:
    case = read_case(path)
    cluster = list(load_snapshot(io.BytesIO(json.dumps(case["snapshot"]).encode())))
    setup = set_up(case["config"].encode() if case["config"] else None)
    offered = []
    with Explainer(cluster, setup, nominations=False) as explainer:
        for pod in explainer.pending:
            before = explainer.explain(pod, preempt=False)
            offered += [(pod, fix) for fix in explainer.fixes(before)]
            assert explainer.explain(pod, preempt=False).rejections == before.rejections
        explainer.cluster_state.check_invariants()
    kinds = {fix.kind: (pod, fix) for pod, fix in offered}
    for pod, fix in list(kinds.values())[:MAX_FIXES]:
        others = [obj for obj in cluster if not (isinstance(obj, Pod) and obj.key == pod.key)]
        objects, changed = fix.change.apply(others, pod)
        setup = set_up(case["config"].encode() if case["config"] else None)
        with Explainer(objects, setup, nominations=False) as explainer:
            after = explainer.explain(changed, preempt=False)
        assert not after.held_back, fix.text
        assert (len(after.feasible), tuple(after.feasible[:5])) == (fix.n_nodes, fix.nodes), fix.text
