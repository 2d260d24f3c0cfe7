"""Explanations of one pod in a small cluster."""

from collections.abc import Iterable
from typing import Any

from kubesched.api import KubeObject, Pod
from kubesched.explanation import Evaluation, Explainer, Explanation, Fix, explain
from kubesched.testing import make_node, make_object, make_pod

ZONE = "topology.kubernetes.io/zone"
SMALL = {"cpu": "2", "memory": "4Gi", "pods": "3"}


def ask(pod: Pod, *objects: KubeObject, config: str | None = None, plugins: Iterable[type] = ()) -> Explanation:
    return explain([*objects, pod], pod.key, config.encode() if config else None, plugins, nodes=None)


def evaluated(pod: Pod, *objects: KubeObject, config: str | None = None, plugins: Iterable[type] = ()) -> Evaluation:
    with Explainer(objects, config.encode() if config else None, plugins) as explainer:
        evaluation = explainer.evaluate(pod)
        explainer.fixes(evaluation)
        return evaluation


def why(pod: Pod, *objects: KubeObject) -> dict[str, str]:
    """Plugin -> what stands in the way on the first node."""
    return {obstacle.plugin: obstacle.text for obstacle in ask(pod, *objects).obstacles(0)}


def profile(plugins: str) -> str:
    """A configuration whose only profile has these plugin sets."""
    kind = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    return f"{kind}profiles:\n- schedulerName: default-scheduler\n  plugins: {plugins}\n"


def three_nodes() -> list[KubeObject]:
    return [make_node(name, allocatable=SMALL, zone=zone) for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b"))]


def replica(name: str, owner: str = "", **more: Any) -> Pod:
    """A pod that a ReplicaSet, by default one of its name, creates again."""
    of = owner or name
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": of, "uid": of, "controller": True}
    return make_pod(name, metadata={"ownerReferences": [reference]}, **more)


def filling(node: str, **requests: str) -> Pod:
    """A running pod that takes room on a node."""
    return make_pod(f"on-{node}", node=node, requests=requests)


def fixes_of(pod, *objects, **more) -> dict[str, Fix]:
    """Text -> fix, best first, each of which was applied and made the pod fit on the nodes that it names."""
    objects = list(objects)
    fixes = ask(pod, *objects, **more).fixes
    for fix in fixes:
        changed, changed_pod = fix.change.apply(objects, pod)
        after = explain(changed, changed_pod, more.get("config"), more.get("plugins", ()))
        assert not after.held_back, fix.text
        assert (len(after.feasible), tuple(after.feasible[:5])) == (fix.n_nodes, fix.nodes), fix.text
    return {fix.text: fix for fix in fixes}


def texts(pod, *objects, **more) -> list[str]:
    return list(fixes_of(pod, *objects, **more))


def affinity(kind: str, labels: dict[str, str], key: str = ZONE) -> dict:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def with_claim(name: str, **spec: object) -> object:
    return make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}], **spec})


def claim(**spec: object) -> object:
    return make_object("PersistentVolumeClaim", "data", spec={"accessModes": ["ReadWriteOnce"], **spec})


def bound_claim(**spec: object) -> object:
    return make_object(
        "PersistentVolumeClaim",
        "data",
        annotations={"pv.kubernetes.io/bind-completed": "yes"},
        spec={"accessModes": ["ReadWriteOnce"], "volumeName": "pv-1", **spec},
        status={"phase": "Bound"},
    )
