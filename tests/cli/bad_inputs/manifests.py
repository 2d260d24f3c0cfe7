"""Manifests that cannot be expanded, and files with a pod to explain that hold no pod."""

from typing import Any

from tests.cli.bad_inputs.case import Case, text_of
from tests.snapshot.builders import listed, node, pod, workload

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
TERM = {"topologyKey": "zone"}
INN = {"key": "pool", "operator": "Inn", "values": ["gen"]}


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
    "requests that nobody reads": manifest(
        template(containers=[{"name": "c", "resources": {"request": {"cpu": "2"}}}]),
        'spec.template.spec.containers[0].resources.request: unknown field; did you mean "requests"?',
    ),
    "an unknown field of a class": manifest(
        {"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": "high"}, "valeu": 9},
        '(PriorityClass high): valeu: unknown field; did you mean "value"?',
    ),
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
    "a field in lower case": manifest(
        template(nodeselector={"pool": "gen"}),
        'spec.template.spec.nodeselector: unknown field; did you mean "nodeSelector"?',
    ),
    "a field of a container in upper case": manifest(
        template(containers=[{"name": "c", "Resources": {}}]),
        "spec.template.spec.containers[0].Resources: unknown field",
    ),
    "a request above its limit": manifest(
        template(containers=[{"name": "c", "resources": {"requests": {"cpu": 1}, "limits": {"cpu": "500m"}}}]),
        "spec.template.spec.containers[0].resources.requests: "
        'Invalid value: "1": must be less than or equal to cpu limit of 500m',
    ),
    "an extended resource below its limit": manifest(
        pod(containers=[{"name": "c", "resources": {"requests": {"x.io/gpu": "1"}, "limits": {"x.io/gpu": "2"}}}]),
        'spec.containers[0].resources.requests: Invalid value: "1": must be equal to x.io/gpu limit of 2',
    ),
    "an extended resource without a limit": manifest(
        template(containers=[{"name": "c", "resources": {"requests": {"x.io/gpu": "1"}}}]),
        "spec.template.spec.containers[0].resources.limits: Required value: Limit must be set",
    ),
    "a spread constraint that allows no skew": manifest(
        template(topologySpreadConstraints=[SPREAD | {"maxSkew": 0}]),
        "spec.template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
    ),
    "a spread constraint without a key": manifest(
        pod(topologySpreadConstraints=[SPREAD | {"topologyKey": ""}]),
        "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
    ),
    "an unknown whenUnsatisfiable": manifest(
        pod(topologySpreadConstraints=[SPREAD | {"whenUnsatisfiable": "Maybe"}]),
        "spec.topologySpreadConstraints[0].whenUnsatisfiable: "
        'Unsupported value: "Maybe": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ),
    "minDomains of a soft constraint": manifest(
        pod(topologySpreadConstraints=[SPREAD | {"whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}]),
        "minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
    ),
    "an unknown policy of a constraint": manifest(
        pod(topologySpreadConstraints=[SPREAD | {"nodeTaintsPolicy": "honour"}]),
        'nodeTaintsPolicy: Unsupported value: "honour": supported values: "Honor", "Ignore"',
    ),
    "an unknown operator of a node selector": manifest(
        pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [INN]}]}}}),
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]: "
        'matchExpressions[0].operator: Unsupported value: "Inn": supported values: "In", "NotIn"',
    ),
    "a node affinity without terms": manifest(
        pod(affinity={"nodeAffinity": {REQUIRED: {}}}), "Required value: must have at least one node selector term"
    ),
    "a weight of 0": manifest(
        pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 0, "preference": {}}]}}),
        f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 0: must be in the range 1-100",
    ),
    "a pod affinity without a topology key": manifest(
        pod(affinity={"podAffinity": {REQUIRED: [{}]}}),
        f"spec.affinity.podAffinity.{REQUIRED}[0].topologyKey: Required value: can not be empty",
    ),
    "an unknown operator of a label selector": manifest(
        pod(affinity={"podAntiAffinity": {REQUIRED: [{"labelSelector": {"matchExpressions": [INN]}, **TERM}]}}),
        f'spec.affinity.podAntiAffinity.{REQUIRED}[0].labelSelector: "Inn" is not a valid label selector operator',
    ),
    "an unknown operator of a toleration": manifest(
        pod(tolerations=[{"key": "gpu", "operator": "Exist"}]),
        'spec.tolerations[0].operator: Unsupported value: "Exist": supported values: "Equal", "Exists"',
    ),
    "a toleration of every key that compares": manifest(
        pod(tolerations=[{"value": "x"}]), "spec.tolerations[0].operator: Invalid value", "must be Exists when `key`"
    ),
    "a toleration with a value that does not compare": manifest(
        pod(tolerations=[{"key": "a", "operator": "Exists", "value": "x"}]), "value must be empty when `operator`"
    ),
    "an unknown effect of a toleration": manifest(
        pod(tolerations=[{"key": "a", "operator": "Exists", "effect": "Never"}]), 'effect: Unsupported value: "Never"'
    ),
    "an unknown preemption policy": manifest(
        pod(preemptionPolicy="Always"), 'spec.preemptionPolicy: Unsupported value: "Always"'
    ),
    "an unknown protocol": manifest(
        pod(containers=[{"name": "c", "ports": [{"containerPort": 80, "protocol": "tcp"}]}]),
        'spec.containers[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
    ),
    "a workload twice": manifest(
        listed(workload("Deployment"), workload("Deployment")),
        ", item 2 (Deployment shop/web): Deployment shop/web already exists, from m.yaml, item 1; rename one",
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
