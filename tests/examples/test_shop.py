"""The example cluster is what its generator writes, and its pods wait for the reasons that its README gives."""

import gzip
import hashlib
import json
import subprocess
import sys
from collections import Counter

import pytest

from tests.examples.record_shop import ANSWERS, SHOP, read_snapshot

# Pod name without its random end -> what the message of its last attempt has to say.
REASONS = {
    "backoffice/report-export": 'persistentvolumeclaim "reports-archive" not found',
    "catalog/pricing-engine": "48 Insufficient cpu",
    "checkout/session-redis": "18 node(s) didn't match pod anti-affinity rules",
    "dev/preview-1439": "166 node(s) didn't match Pod's node affinity/selector",
    "edge/gateway": "5 node(s) didn't match pod topology spread constraints",
    "edge/tls-canary": "5 node(s) didn't have free ports for the requested pod ports",
    "orders/nightly-vacuum": "133 node(s) had untolerated taint(s)",
    "orders/restore-check": "57 node(s) didn't match PersistentVolume's node affinity",
    "platform/node-debugger": "1 node(s) were unschedulable",
    "platform/scratch-space": "pod has unbound immediate PersistentVolumeClaims",
    "platform/wiki": "57 node(s) had no available volume zone",
    "recommendations/train-foundation": "14 Insufficient nvidia.com/gpu",
    "recommendations/train-ranking": "14 Insufficient nvidia.com/gpu",
    "search/reindex": "48 Insufficient cpu",
    "storefront/edge-cache": "166 node(s) didn't match pod affinity rules",
    "warehouse/route-solver": "166 Insufficient memory",
}


@pytest.fixture(scope="module")
def items() -> list[dict]:
    return json.loads(read_snapshot())["items"]


@pytest.fixture(scope="module")
def answers() -> dict:
    return json.loads(ANSWERS.read_text())


def pending(items: list[dict]) -> list[dict]:
    return [i for i in items if i["kind"] == "Pod" and "nodeName" not in i["spec"]]


def full_name(pod: dict) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def workload(name: str) -> str:
    return next((w for w in REASONS if name.startswith(f"{w}-")), "")


def test_the_committed_snapshot_is_what_the_generator_writes(tmp_path):
    output = tmp_path / "cluster.json.gz"
    subprocess.run([sys.executable, SHOP / "make_cluster.py", "--output", output], check=True)
    assert gzip.decompress(output.read_bytes()) == read_snapshot()


def test_the_committed_file_names_no_time_and_stays_small():
    data = (SHOP / "cluster.json.gz").read_bytes()
    assert data[4:8] == bytes(4)
    assert len(data) < 1_000_000


def test_the_snapshot_has_the_size_that_the_readme_says(items):
    kinds = Counter(item["kind"] for item in items)
    assert (kinds["Node"], kinds["Pod"], len(pending(items))) == (300, 2526, 42)


def test_no_object_stands_twice(items):
    names = Counter((i["kind"], i["metadata"].get("namespace"), i["metadata"]["name"]) for i in items)
    assert max(names.values()) == 1
    assert max(Counter(i["metadata"]["uid"] for i in items).values()) == 1


def test_references_between_objects_hold(items):
    named = {(i["kind"], i["metadata"].get("namespace", ""), i["metadata"]["name"]): i for i in items}
    for item in items:
        if item["kind"] == "PersistentVolumeClaim" and item["status"]["phase"] == "Bound":
            volume = named["PersistentVolume", "", item["spec"]["volumeName"]]
            assert volume["spec"]["claimRef"]["uid"] == item["metadata"]["uid"]
        if item["kind"] == "Pod" and "nodeName" in item["spec"]:
            assert ("Node", "", item["spec"]["nodeName"]) in named
        for owner in item["metadata"].get("ownerReferences", []):
            if owner["kind"] in ("ReplicaSet", "StatefulSet", "Node"):
                namespace = item["metadata"].get("namespace", "") if owner["kind"] != "Node" else ""
                assert named[owner["kind"], namespace, owner["name"]]["metadata"]["uid"] == owner["uid"]


def test_no_node_holds_more_than_it_has(items):
    free = {i["metadata"]["name"]: int(i["status"]["allocatable"]["cpu"][:-1]) for i in items if i["kind"] == "Node"}
    for pod in items:
        if pod["kind"] != "Pod" or "nodeName" not in pod["spec"] or pod["status"]["phase"] != "Running":
            continue
        for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
            cpu = container["resources"].get("requests", {}).get("cpu", "0")
            free[pod["spec"]["nodeName"]] -= int(cpu[:-1]) if cpu.endswith("m") else 1000 * int(cpu)
    assert min(free.values()) >= 0


def test_the_recorded_answers_are_about_this_snapshot(answers):
    assert answers["about"]["snapshot"] == hashlib.sha256(read_snapshot()).hexdigest()


def test_every_pending_pod_was_judged_but_the_gated_and_the_foreign(items, answers):
    tried = {full_name(p) for p in pending(items) if not p["spec"].get("schedulingGates")}
    foreign = {full_name(p) for p in pending(items) if p["spec"]["schedulerName"] == "volcano"}
    assert len(foreign) == 2
    assert set(answers["scheduler.yaml"]) == tried - foreign


@pytest.mark.parametrize("config", ["defaults", "scheduler.yaml"])
def test_pods_wait_for_the_intended_reasons(answers, config):
    for name, answer in answers[config].items():
        if reason := REASONS.get(workload(name)):
            assert reason in answer["message"], name
        else:
            assert answer["feasible"], name
            assert answer["placed"], name


def test_one_pod_fits_after_preemption(answers):
    helped = {workload(name): a["victims"] for name, a in answers["defaults"].items() if "victims" in a}
    assert set(helped) == {"catalog/pricing-engine"}
    assert helped["catalog/pricing-engine"][0].startswith("batch/price-recalculation-")
