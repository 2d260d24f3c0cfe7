"""Pods of which a LimitRange, a namespace or a webhook made something else than their template says."""

import io
import json
import shlex
from typing import Any

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.explanation import Explainer, Fix, with_reasons
from kubesched.planning import fit
from kubesched.session import Session
from kubesched.snapshot import ClusterObjects, only_read_fields
from kubesched.testing import make_node, make_object, make_pod

POOL = "cloud.example.com/nodepool"
SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
HAND_OUT = {"kind": "ReplicaSet", "apiVersion": "apps/v1", "name": "web-5d", "uid": "rs", "controller": True}
HASH = {"pod-template-hash": "5d"}
DEPLOYMENT = {"kind": "Deployment", "apiVersion": "apps/v1", "name": "web", "uid": "d", "controller": True}


def container(cpu: str = "", name: str = "app") -> dict[str, Any]:
    return {"name": name, "image": "x", **({"resources": {"requests": {"cpu": cpu}}} if cpu else {})}


def pod(name: str, *containers: dict[str, Any], annotations: dict[str, str] = {}, **more: Any) -> Pod:  # noqa: B006
    spec = {"containers": list(containers), **more.pop("spec", {})}
    owner = {"ownerReferences": [HAND_OUT]}
    return make_pod(name, labels=HASH, annotations=annotations, metadata=owner, spec=spec, **more)


def replica_set(*containers: dict[str, Any], replicas: int = 3, **spec: Any) -> KubeObject:
    template = {"metadata": {"labels": HASH}, "spec": {"containers": list(containers), **spec}}
    return make_object(
        "ReplicaSet",
        "web-5d",
        metadata={"ownerReferences": [DEPLOYMENT], "uid": "rs"},
        spec={"replicas": replicas, "selector": {"matchLabels": HASH}, "template": template},
    )


def node(name: str, cpu: str = "4", **labels: str) -> KubeObject:
    return make_node(name, labels={POOL: "blue-2", **labels}, allocatable={"cpu": cpu, "pods": "9"})


def fixes_of(*objects: KubeObject) -> tuple[Fix, ...]:
    with Explainer(objects) as explainer:
        return explainer.fixes(explainer.evaluate(explainer.pending[0]))


def commands(fix: Fix) -> list[str]:
    return [line for patch in fix.patches for line in patch.commands if not line.startswith("#")]


# --- LimitRange ---

SET = {"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container app"}


def limit_range(**limit: Any) -> KubeObject:
    return make_object("LimitRange", "defaults", spec={"limits": [{"type": "Container", **limit}]})


def of_limit_range(**limit: Any) -> list[KubeObject]:
    return [node("n1"), limit_range(**limit), pod("old", container("500m"), node="n1")]


@pytest.mark.parametrize("limit", [{"defaultRequest": {"cpu": "8"}}, {"default": {"cpu": "8000m"}}])
def test_the_default_of_a_limit_range_is_corrected_there_to_what_runs(limit):
    pending = pod("new", container("8"))
    fix = fixes_of(*of_limit_range(**limit), replica_set(container()), pending)[0]
    assert fix.text == (
        "correct defaultRequest of LimitRange default/defaults from 8 to 500m cpu, "
        "which running pods of this workload have"
    )
    patch, delete = commands(fix)
    assert patch.startswith("kubectl patch limitrange defaults -n default --type merge")
    assert json.loads(patch.partition("-p ")[2].strip("'"))["spec"]["limits"][0]["defaultRequest"] == {"cpu": "500m"}
    assert delete == "kubectl delete pod new -n default"


def test_the_annotation_of_the_limit_ranger_stands_in_for_a_template():
    pending = pod("new", container("8"), annotations=SET)
    assert fixes_of(*of_limit_range(defaultRequest={"cpu": "8"}), pending)[0].kind == "admission"


def test_a_request_of_the_template_is_not_that_of_a_limit_range():
    fixes = fixes_of(
        *of_limit_range(defaultRequest={"cpu": "8"}), replica_set(container("8")), pod("new", container("8"))
    )
    assert "admission" not in {fix.kind for fix in fixes}


def test_a_smaller_snapshot_keeps_what_tells_who_gave_a_request():
    pending = pod("new", container("8"), annotations={**SET, "team": "x"})
    objects = (*of_limit_range(defaultRequest={"cpu": "8"}), pending)
    (kept,) = (one for one in only_read_fields(ClusterObjects(objects)).objects if one.name == "new")
    assert kept.annotations == SET


# --- webhooks ---


def injected(name: str, cpu: str, **more: Any) -> Pod:
    return pod(name, container("500m"), container(cpu, "istio-proxy"), **more)


@pytest.mark.parametrize("template", [[], [replica_set(container("500m"))]])
def test_an_injected_container_is_no_part_of_a_template(template):
    fixes = fixes_of(node("n1"), injected("old", "100m", node="n1"), *template, injected("new", "5"))
    where = "is not" if template else "may not be"
    assert fixes[0].text == (
        "correct what injects istio-proxy to 100m cpu (annotation sidecar.istio.io/proxyCPU), which running pods of "
        f"this workload have: istio-proxy (5 of 5.5 cpu) {where} in the template, it is injected at admission"
    )
    for fix in fixes:
        assert not [line for line in commands(fix) if "istio-proxy" in line], fix.text


def test_a_request_that_a_webhook_changed_is_mended_where_it_comes_from():
    old, new = pod("old", container("500m"), node="n1"), pod("new", container("8"))
    fix = fixes_of(node("n1"), old, replica_set(container("500m")), new)[0]
    assert fix.text.startswith("correct what changes app to 500m cpu at admission"), fix.text
    assert commands(fix) == []


def test_what_the_template_has_is_patched_there_as_before():
    fixes = fixes_of(node("n1"), replica_set(container("8")), pod("new", container("8")))
    (fix,) = (fix for fix in fixes if fix.kind == "requests")
    assert commands(fix)[0].startswith("kubectl patch deployment web")


# --- namespaces ---


def namespace(selector: str) -> KubeObject:
    return make_object("Namespace", "default", annotations={SELECTOR: selector})


def selecting(name: str = "new") -> Pod:
    return pod(name, container("1"), spec={"nodeSelector": {POOL: "blue-1", "team": "a"}})


@pytest.mark.parametrize("template", [[], [replica_set(container("1"), nodeSelector={"team": "a"})]])
def test_the_selector_of_a_namespace_is_corrected_there(template):
    nodes = [node("n1", team="a"), node("n2", team="a", **{POOL: "green-7"})]
    fixes = fixes_of(*nodes, namespace(f"{POOL}=blue-1"), *template, selecting())
    what = f"the node selector {POOL}=blue-1 (no node has it) that namespace default gives its pods"
    assert fixes[0].text == f"correct {what} to blue-2"
    annotate, delete = commands(fixes[0])
    assert annotate == f"kubectl annotate namespace default {SELECTOR}={POOL}=blue-2 --overwrite"
    assert delete == "kubectl delete pod new -n default"
    assert not [fix.text for fix in fixes for line in commands(fix) if "patch deployment" in line]


def test_other_pairs_of_the_namespace_stay():
    fix = fixes_of(node("n1", team="a"), namespace(f"team=a,{POOL}=blue-1"), selecting())[0]
    assert commands(fix)[0].endswith(f"{SELECTOR}=team=a,{POOL}=blue-2 --overwrite")


def test_a_pair_that_the_pod_has_by_itself_is_changed_in_its_template():
    template = replica_set(container("1"), nodeSelector={POOL: "blue-1", "team": "a"})
    fixes = fixes_of(node("n1", team="a"), namespace(f"{POOL}=blue-1"), template, selecting())
    assert "admission" not in {fix.kind for fix in fixes}


TOLERATIONS = "scheduler.alpha.kubernetes.io/defaultTolerations"
OLD = {"key": "dedicated", "operator": "Equal", "value": "blue-1", "effect": "NoSchedule"}


def tolerating(**template: Any) -> tuple[Fix, ...]:
    """The fixes of a pod in whose namespace pods get a toleration of an old pool."""
    tainted = make_node("n1", allocatable={"cpu": "4", "pods": "9"}, taints=["dedicated=blue-2:NoSchedule"])
    space = make_object("Namespace", "default", annotations={TOLERATIONS: json.dumps([OLD])})
    pending = pod("new", container("1"), spec={"tolerations": [OLD]})
    return fixes_of(tainted, space, replica_set(container("1"), **template), pending)


def test_the_default_tolerations_of_a_namespace_are_corrected_there():
    fix = tolerating()[0]
    what = "the toleration dedicated=blue-1 that namespace default gives its pods"
    assert fix.text == f"correct {what} to dedicated=blue-2:NoSchedule"
    annotate, delete = commands(fix)
    right = json.dumps([{**OLD, "value": "blue-2"}], separators=(",", ":"))
    assert shlex.split(annotate)[-2:] == [f"{TOLERATIONS}={right}", "--overwrite"]
    assert delete == "kubectl delete pod new -n default"


def test_a_toleration_of_the_template_is_corrected_in_the_template():
    assert "admission" not in {fix.kind for fix in tolerating(tolerations=[OLD])}


# --- steps of several pods ---


def steps(*objects: KubeObject, has_comments: bool = False) -> list[list[str]]:
    with Session(objects) as session:
        report = with_reasons(session, session.schedule())
    commands = [[line for one in placed.patches for line in one.commands] for placed in report.placements]
    return [[line for line in lines if has_comments or line[0] != "#"] for lines in commands]


def test_each_gated_pod_has_its_own_step_which_is_a_comment():
    gated = {"schedulingGates": [{"name": "corp.example.com/approval"}]}
    pods = [pod(f"p{i}", container("1"), spec=gated) for i in range(3)]
    found = steps(node("n1"), replica_set(container("1")), *pods, has_comments=True)
    assert [lines[-1:] for lines in found] == [
        [f'# kubectl patch pod p{i} -n default --type merge -p \'{{"spec":{{"schedulingGates":null}}}}\'']
        for i in range(3)
    ]


def test_a_shared_step_is_taken_once_and_each_pod_is_created_again():
    objects = [node("n1", team="a"), namespace(f"{POOL}=blue-1"), selecting("p0"), selecting("p1")]
    annotate = f"kubectl annotate namespace default {SELECTOR}={POOL}=blue-2 --overwrite"
    assert steps(*objects) == [[annotate, "kubectl delete pod p0 -n default"], ["kubectl delete pod p1 -n default"]]


# --- fit ---


def deployment(*containers: dict[str, Any], **spec: Any) -> io.StringIO:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": list(containers), **spec}}
    selector = {"matchLabels": {"app": "web"}}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}}
    return io.StringIO(json.dumps(manifest | {"spec": {"replicas": 1, "selector": selector, "template": template}}))


def notes(manifest: io.StringIO, *objects: KubeObject) -> list[str]:
    return [note for note in fit(objects, manifest).notes if "admission" in note]


def test_fit_tries_pods_with_what_admission_adds_to_them():
    running = injected("old", "100m", node="n1", spec={"nodeSelector": {POOL: "blue-2"}})
    cluster = [node("n1"), replica_set(container("500m"), replicas=1), running]
    (note,) = notes(deployment(container("500m")), *cluster)
    assert note == (
        f"existing pods of Deployment default/web have what the template has not (node selector {POOL}=blue-2 and "
        "container istio-proxy): admission adds it to new pods, too, which are tried with it"
    )
    (placed,) = fit(cluster, deployment(container("4"))).placements
    assert "requests 4.1" in placed.diagnosis


def test_fit_tries_the_pods_of_a_new_workload_with_the_node_selector_of_the_namespace():
    """The annotation counts only where a pod shows that the plugin is on."""
    cluster = [node("n1"), namespace(f"{POOL}=blue-1")]
    other = make_pod("other", spec={"nodeSelector": {POOL: "blue-1"}})
    assert fit(cluster, deployment(container("500m"))).all_fit
    answer = fit([*cluster, other], deployment(container("500m")))
    assert (answer.n_fit, answer.all_start) == (0, False)
    assert answer.notes[0] == (
        f"namespace default gives its pods what the template of Deployment default/web has not (node selector "
        f"{POOL}=blue-1): admission adds it to new pods, too, which are tried with it"
    )


def test_pods_that_wait_are_in_question_where_the_manifest_changes_nothing():
    spec = {"containers": [container("500m")], "nodeSelector": {POOL: "blue-1"}}
    waits = make_pod("old", labels={"app": "web", **HASH}, metadata={"ownerReferences": [HAND_OUT]}, spec=spec)
    cluster = [node("n1"), namespace(f"{POOL}=blue-1"), replica_set(container("500m"), replicas=1), waits]
    answer = fit(cluster, deployment(container("500m")))
    assert not answer.placements
    assert [one.pod for one in answer.left_of_kept] == ["default/old"]
    assert not answer.all_start
    assert "No new pod is to be placed, and 1 pod that is there stays pending: " in " ".join(str(answer).split())


def test_fit_says_nothing_of_what_the_old_template_had_or_the_new_one_has():
    running = injected("old", "100m", node="n1")
    old = replica_set(container("500m"), container("100m", "istio-proxy"), replicas=1)
    assert notes(deployment(container("500m")), node("n1"), old, running) == []
    bare = replica_set(container("500m"), replicas=1)
    assert notes(deployment(container("500m"), container("1", "istio-proxy")), node("n1"), bare, running) == []


def test_a_rollout_that_a_limit_range_stops_is_mended_there():
    objects = [*of_limit_range(defaultRequest={"cpu": "8"}), replica_set(container(), replicas=1)]
    (placed,) = fit(objects, deployment(container())).placements
    assert placed.fix.startswith("correct defaultRequest of LimitRange default/defaults from 8 to 500m cpu")
