"""Manifests that cannot be expanded, and files with a pod to explain that hold no pod."""

from typing import Any

from tests.cli.bad_inputs.case import Case, text_of
from tests.snapshot.builders import listed, node, pod, workload

KINDS = "expected Pod, Deployment, ReplicaSet, StatefulSet, DaemonSet, Job"


def manifest(document: Any, *words: str) -> Case:
    return Case(
        "simulate cluster.json --manifest m.yaml", ("kubesched: error: m.yaml", *words), {"m.yaml": text_of(document)}
    )


def template(**spec: Any) -> dict[str, Any]:
    return workload("Deployment", template=spec)


def without(document: dict[str, Any], field: str) -> dict[str, Any]:
    return {**document, "spec": {key: value for key, value in document["spec"].items() if key != field}}


MANIFESTS = {
    "no manifest": Case("simulate cluster.json --manifest gone.yaml", ("gone.yaml: no such file or folder",)),
    "a kind that is no workload": manifest(node(), "(Node n1): found kind Node", KINDS),
    "a kind of somebody else's": manifest({"kind": "Rollout", "apiVersion": "argoproj.io/v1"}, "found kind Rollout"),
    "an old apiVersion": manifest(
        {**workload("Deployment"), "apiVersion": "extensions/v1beta1"},
        '(Deployment shop/web): apiVersion: found "extensions/v1beta1"; expected apps/v1',
    ),
    "no template": manifest(
        without(workload("Deployment"), "template"), "(Deployment shop/web): spec.template.spec.containers is missing"
    ),
    "a template without containers": manifest(template(containers=[]), "spec.template.spec.containers is missing"),
    "no selector": manifest(without(workload("Deployment"), "selector"), "spec.selector is missing"),
    "a selector of other pods": manifest(
        workload("Deployment", labels={"app": "api"}), "`selector` does not match template `labels`"
    ),
    "negative replicas": manifest(workload("ReplicaSet", replicas=-1), "spec.replicas: found -1; expected 0 to "),
    "too many replicas": manifest(workload("ReplicaSet", replicas=10**9), "spec.replicas: found 1000000000; expected"),
    "replicas that are a text": manifest(
        workload("StatefulSet", replicas="3"), 'spec.replicas: expected an integer, found "3"'
    ),
    "a request that is no quantity": manifest(
        template(containers=[{"name": "c", "resources": {"requests": {"cpu": "1 core"}}}]),
        "spec.template.spec.containers[0].resources.requests.cpu: '1 core' is not a quantity",
    ),
    "an unknown priority class": manifest(
        template(priorityClassName="urgent"),
        "spec.template.spec.priorityClassName: no PriorityClass with name urgent was found",
    ),
    "a claim template without a name": manifest(
        workload("StatefulSet", volumeClaimTemplates=[{"spec": {}}]),
        "spec.volumeClaimTemplates[0].metadata.name is missing",
    ),
    "a pod without a name": manifest(pod(""), "metadata.name is missing; every object has a name"),
    "a pod that is there already": manifest(pod("web-1"), "Pod shop/web-1 already exists, from cluster.json, item 3"),
    "a pod file that is not there": Case("explain cluster.json --pod gone.yaml", ("gone.yaml: no such file",)),
    "a pod file without a pod": Case(
        "explain cluster.json --pod n.yaml",
        ("n.yaml (Node n1): found kind Node; expected Pod here",),
        {"n.yaml": text_of(node())},
    ),
    "a pod file with two pods": Case(
        "explain cluster.json --pod two.json",
        ("two.json: found 2 pods; expected a file with one Pod",),
        {"two.json": text_of(listed(pod("a"), pod("b")))},
    ),
}
