"""The best fix of each pending pod of the example answers the cause that its README gives."""

import re

import pytest

from kubesched.explanation import Explainer
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from tests.examples.record_shop import SHOP

POOL, ZONE = "shop.example.com/pool", "topology.kubernetes.io/zone"
# Workload as in the README -> what its best fix says, up to the names of nodes; how many nodes it opens at least.
BEST = {
    "search/reindex": ("add a node like ip-", 1),
    "recommendations/train-ranking": ("add a node like ip-", 1),
    "recommendations/train-foundation": (r"add a node like ip-\S+ with at least 8 nvidia.com/gpu$", 1),
    "warehouse/route-solver": (r"add a node like ip-\S+ with at least .*\d+Gi memory$", 1),
    "orders/nightly-vacuum": (f"tolerate {POOL}=database:NoSchedule$", 18),
    "dev/preview-1439": (f"correct the node selector {POOL}=genral \\(no node has it\\) to general$", 100),
    "checkout/session-redis-3": ("make the required pod anti-affinity preferred, or run 3 replicas$", 18),
    "edge/gateway": ("set nodeTaintsPolicy: Honor for the spread over hostname, so that nodes with taints do not", 5),
    "edge/tls-canary": (r"make ip-\S+ ready$", 1),
    "storefront/edge-cache": ("start a pod with app.kubernetes.io/name=edge-sessions in namespace storefront", 1),
    "platform/node-debugger": (r"uncordon ip-\S+$", 1),
    "backoffice/report-export": ("create PersistentVolumeClaim backoffice/reports-archive$", 100),
    "platform/scratch-space": ("bind PersistentVolumeClaim platform/scratch to a volume", 100),
    "orders/restore-check": (f"change the node selector {ZONE}=eu-west-1a to {ZONE}=eu-west-1c$", 50),
    "platform/wiki": (f"change the node selector {ZONE}=eu-west-1a to {ZONE}=eu-west-1b$", 50),
    "payments/settlement": ("let the controller of the scheduling gate shop.example.com/daily-close remove it", 100),
    "catalog/pricing-engine": ("add a node like ip-", 1),
}
OTHER_SCHEDULERS = {"warehouse/gang-simulation", "batch/thumbnailer"}


@pytest.fixture(scope="module")
def best() -> dict:
    """Workload -> the fixes of one of its pods."""
    by_workload = {}
    with Explainer(load_snapshot(SHOP / "cluster.json.gz"), set_up()) as explainer:
        for pod in explainer.pending:
            for workload in BEST:
                if pod.key.startswith(workload) and workload not in by_workload:
                    by_workload[workload] = explainer.fixes(explainer.explain(pod, preempt=False))
    return by_workload


def test_every_pod_of_the_readme_is_looked_at():
    rows = re.findall(r"^\| `([a-z]+/[a-z0-9-]+)`", (SHOP / "README.md").read_text(), re.MULTILINE)
    assert set(rows) == BEST.keys() | OTHER_SCHEDULERS


@pytest.mark.parametrize("workload", BEST)
def test_the_best_fix_answers_the_cause(best, workload):
    text, n_nodes = BEST[workload]
    first = best[workload][0]
    assert re.match(text, first.text), first.text
    assert first.n_nodes >= n_nodes


def test_smaller_requests_are_offered_too(best):
    assert any(re.match(r"lower the request to [0-9.]+ cpu$", fix.text) for fix in best["search/reindex"])
