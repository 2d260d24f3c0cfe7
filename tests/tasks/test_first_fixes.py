"""The first fix of each pending workload is what a senior engineer would say, and the lies are not offered."""

import re

import pytest

from kubesched.api import Pod
from kubesched.explanation import Explainer, Fix
from kubesched.explanation.effort import Effort
from tests.tasks.clusters import GPU, MODEL, SPOT, ZONE, cloud, home

# Workload -> its first fix, and beginnings of fixes that may not be offered.
ANSWERS = {
    "reindexer": (
        r"lower the requests? to .*7\.47 cpu.*7\.91 less 438m of DaemonSets",
        ("add a node", f"tolerate {GPU}", f"remove taint {GPU}"),
    ),
    "serving-1": (r"move default/embedder-\d from prod-gpu-\d to prod-gpu-\d$", ()),
    "finetune": (
        rf"no node has {MODEL}=model-t4: select model-l4 \(\d nodes\), if that will do, or add a node with ",
        ("correct", "label"),
    ),
    "report": (f"tolerate {SPOT}=true:NoSchedule$", ()),
    "canary": (f"correct the node selector {ZONE}=north1a \\(no node has it\\) to north1-a$", ("label", "add")),
    "login-2": (r"make the required pod anti-affinity preferred, or run 2 replicas$", ("move",)),
    "mailer": (r"recreate claim default/spool with a StorageClass that exists \(premium or standard\)", ()),
    "importer": ("create PersistentVolumeClaim default/imports$", ("add", "label", "tolerate", "drop")),
    "shell": ("uncordon prod-base-north1-a-1$", ("change", "correct", "add")),
    "gateway": ("remove hostPort 8126$", ("make", "add", "free", f"tolerate {GPU}")),
    "fraud": ("uncordon prod-base-north1-a-1$", (f"tolerate {GPU}",)),
    "gated": ("let Kueue admit the pod", ("remove",)),
    "svclb-nginx": ("give the LoadBalancer Service nginx another port than 80, or delete it$", ("remove", "free")),
    "zigbee": ("recreate claim default/zigbee on pi-a", ("label", "move volume")),
    "esphome": (r"correct the node selector kubernetes.io/arch=aarch64 \(no node has it\) to arm64$", ("label",)),
    "prometheus": ("free disk space on pi-b$", ("tolerate", "move volume")),
    "postgres-3": ("make the required pod anti-affinity preferred, or run 3 replicas$", ("move",)),
    "nextcloud": (r"lower the request to 1\.2 cpu$", ("move volume",)),
}


@pytest.fixture(scope="module")
def answers() -> dict[Pod, tuple[Fix, ...]]:
    """Each pending pod with its fixes."""
    fixes: dict[Pod, tuple[Fix, ...]] = {}
    for cluster in (cloud(), home()):
        with Explainer(cluster) as explainer:
            fixes |= {pod.name: explainer.fixes(explainer.evaluate(pod)) for pod in explainer.pending}
    return fixes


def test_each_pending_workload_has_an_answer(answers):
    assert {next((name for name in ANSWERS if pod.startswith(name)), pod) for pod in answers} == set(ANSWERS)


@pytest.mark.parametrize("workload", ANSWERS)
def test_the_first_fix_is_right_and_what_is_not_true_is_not_offered(answers, workload: str):
    (fixes,) = [fixes for pod, fixes in answers.items() if pod.startswith(workload)]
    first, forbidden = ANSWERS[workload]
    texts = [fix.text for fix in fixes]
    assert re.match(first, texts[0]), texts
    assert not [text for text in texts if text.startswith(forbidden)], texts


def test_to_copy_data_costs_the_same_whatever_else_keeps_the_pod_away(answers):
    copies = {fix.effort for fixes in answers.values() for fix in fixes if fix.text.endswith("copy the data first)")}
    assert copies == {Effort.DATA}


def test_a_spot_pool_comes_before_a_reserved_one_and_says_what_it_is(answers):
    texts = [fix.text for fix in answers["reindexer-0"]]
    spot = f"tolerate {SPOT}=true:NoSchedule (spot nodes can be reclaimed at any time)"
    reserved = "tolerate dedicated=data:NoSchedule"
    (removed,) = [text for text in texts if text.startswith("remove taint dedicated")]
    assert texts.index(spot) < texts.index(reserved) < texts.index(removed)
