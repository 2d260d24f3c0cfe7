"""The objects around the pods that a scheduler reads: owners, services, budgets, priorities, namespaces."""

from generator.identity import metadata, number, uid
from generator.pods import owner_name, template_hash
from generator.workload import PRIORITIES, Workload


def namespace_object(name: str) -> dict:
    labels = {"kubernetes.io/metadata.name": name, "shop.example.com/team": name.split("-")[0]}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata("Namespace", name, labels=labels),
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def priority_class(name: str) -> dict:
    described = {
        "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
        "system-cluster-critical": "Used for system critical pods that must run in the cluster, but can be moved.",
        "business-critical": "Customers notice within seconds.",
        "standard": "Everything that says nothing else.",
        "batch-low": "Gives way to everything.",
    }
    fields = {
        "apiVersion": "scheduling.k8s.io/v1",
        "description": described[name],
        "kind": "PriorityClass",
        "metadata": metadata("PriorityClass", name),
        "preemptionPolicy": "PreemptLowerPriority",
        "value": PRIORITIES[name],
    }
    return fields | ({"globalDefault": True} if name == "standard" else {})


def owner_object(workload: Workload) -> dict:
    """The ReplicaSet or StatefulSet that owns the pods."""
    labels = dict(workload.labels)
    selector = dict(workload.match_labels)
    if workload.kind == "Deployment":
        selector["pod-template-hash"] = labels["pod-template-hash"] = template_hash(workload)
    kind = "ReplicaSet" if workload.kind == "Deployment" else workload.kind
    meta = metadata(kind, owner_name(workload), workload.namespace, labels=labels)
    meta["generation"] = 1 + number(8, "generation", *workload.app)
    spec: dict = {"replicas": workload.replicas, "selector": {"matchLabels": selector}}
    if kind == "ReplicaSet":
        meta["ownerReferences"] = [
            {
                "apiVersion": "apps/v1",
                "blockOwnerDeletion": True,
                "controller": True,
                "kind": "Deployment",
                "name": workload.name,
                "uid": uid("Deployment", *workload.app),
            }
        ]
    else:
        spec |= {"podManagementPolicy": "Parallel", "serviceName": f"{workload.name}-headless"}
    status = {
        "availableReplicas": workload.running_pods,
        "observedGeneration": meta["generation"],
        "readyReplicas": workload.running_pods,
        "replicas": workload.replicas,
    }
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec, "status": status}


def service_object(workload: Workload) -> dict:
    headless = workload.kind == "StatefulSet"
    name = f"{workload.name}-headless" if headless else workload.name
    address = (
        "None" if headless else f"172.20.{number(256, 'ip', *workload.app)}.{1 + number(254, 'ip4', *workload.app)}"
    )
    spec = {
        "clusterIP": address,
        "clusterIPs": [address],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": "http"}],
        "selector": workload.match_labels,
        "sessionAffinity": "None",
        "type": "ClusterIP",
    }
    meta = metadata("Service", name, workload.namespace, labels=workload.labels)
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec, "status": {"loadBalancer": {}}}


def disruption_budget(workload: Workload) -> dict:
    rule, _, pods = workload.budget.partition(" ")
    allowed = int(pods)
    desired = allowed if rule == "min" else workload.replicas - allowed
    meta = metadata("PodDisruptionBudget", workload.name, workload.namespace, labels=workload.labels)
    meta["generation"] = 1
    selector = {"matchLabels": workload.match_labels}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"minAvailable" if rule == "min" else "maxUnavailable": allowed, "selector": selector},
        "status": {
            "currentHealthy": workload.running_pods,
            "desiredHealthy": desired,
            "disruptionsAllowed": max(0, workload.running_pods - desired),
            "expectedPods": workload.replicas,
            "observedGeneration": 1,
        },
    }
