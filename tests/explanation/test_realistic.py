"""Clusters of three shapes: the overview has the cause of every pending pod."""

import io

import pytest

from kubesched.explanation import Explainer, answer_of
from kubesched.pages.explanations import overview_page
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from tests.clusters import SHAPES, realistic

WORDS = {
    "insufficient-cpu": "cpu is short by",
    "insufficient-gpu": "nvidia.com/gpu is short by 1",
    "too-large": "requests 1Ti memory; the whole node has",
    "daemon-without-room": "cpu is short by",
    "untolerated-taint": "is not tolerated",
    "selector-typo": "fix: correct the node selector",
    "node-affinity": "label kubernetes.io/arch is 'amd64', wanted: 'arm64'",
    "cordoned-node": "the node is cordoned",
    "pod-affinity": "no pod has app.kubernetes.io/name=absent",
    "pod-anti-affinity": "has app.kubernetes.io/name=pod-anti-affinity",
    "topology-spread": "would exceed maxSkew 1",
    "host-port": "host port 443/TCP is held by platform/ingress-nginx-",
    "missing-claim": "deleted-last-week does not exist",
    "unbound-claim": "has no volume yet: provisioner ",
    "ephemeral-claim": "does not exist yet: the ephemeral volume controller makes it",
    "volume-elsewhere": "wanted: '| is on ",
    "preemption": "Preemption would make room on",
    "scheduling-gate": "waiting for scheduling gates: [quota.example.com/approved]",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_pending_pod_has_its_cause(shape: str):
    cluster = load_snapshot(io.BytesIO(realistic(shape, 40)))
    with Explainer(cluster, set_up(), nominations=False) as explainer:
        page = overview_page(
            answer_of(one, one.pod.labels["cause"], explainer.fixes) for one in explainer.evaluations(explainer.pending)
        )
    (table,) = [table for table in page.tables if table.name == "groups"]
    told = {str(row[2]): str(row[3]) for row in table.rows}
    assert {
        cause for cause in told if cause in WORDS and not any(one in told[cause] for one in WORDS[cause].split("|"))
    } == set()
    assert set(WORDS) <= set(told)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_node_that_does_not_fit_is_in_one_row(shape: str):
    cluster = load_snapshot(io.BytesIO(realistic(shape, 40)))
    with Explainer(cluster, set_up(), nominations=False) as explainer:
        for explanation in explainer.each(explainer.pending, preempt=False):
            positions = sorted(position for row in explanation.rows for position in row.positions)
            feasible = set(explanation.feasible)
            names = explanation.nodes.names
            assert positions == [i for i, name in enumerate(names) if name not in feasible], explanation.pod.key
