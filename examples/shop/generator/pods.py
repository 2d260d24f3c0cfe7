"""Pods as the API server returns them: the template and what admission and controllers add to it."""

from datetime import timedelta

from generator.identity import NOW, digest, hex_id, metadata, moment, number, stamp, suffix, uid
from generator.images import image_name
from generator.nodes import NodeDraft
from generator.status import pending_status, running_status
from generator.workload import PRIORITIES, Workload

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
PROXY_CPU, PROXY_MEMORY = 100, 128
DAEMON_TOLERATIONS = [
    {"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists"},
    {"effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists"},
    {"effect": "NoSchedule", "key": "node.kubernetes.io/disk-pressure", "operator": "Exists"},
    {"effect": "NoSchedule", "key": "node.kubernetes.io/memory-pressure", "operator": "Exists"},
    {"effect": "NoSchedule", "key": "node.kubernetes.io/pid-pressure", "operator": "Exists"},
    {"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
]
DEFAULT_TOLERATIONS = [
    {"effect": "NoExecute", "key": f"node.kubernetes.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]


def pod_name(workload: Workload, place: int | str) -> str:
    """The name that the controller gives to its pod number `place`, or for a DaemonSet to that on node `place`."""
    if workload.kind == "StatefulSet":
        return f"{workload.name}-{place}"
    if workload.kind == "Deployment":
        return f"{owner_name(workload)}-{suffix(5, 'pod', *workload.app, place)}"
    return f"{workload.name}-{suffix(5, 'pod', *workload.app, place)}"


def owner_name(workload: Workload) -> str:
    """The controller of the pods; a Deployment owns them through its ReplicaSet."""
    if workload.kind == "Deployment":
        return f"{workload.name}-{template_hash(workload)}"
    return workload.name


def template_hash(workload: Workload) -> str:
    return suffix(9 if digest(*workload.app)[0] % 3 else 10, "template", *workload.app)


def build_pod(workload: Workload, place: int | str, node: NodeDraft | None) -> dict:
    """The pod number `place` of a workload: running on `node`, or pending where there is none."""
    name = pod_name(workload, place)
    created = moment(21, "pod", workload.namespace, name) if node else NOW - timedelta(seconds=5 + number(900, name))
    meta = metadata("Pod", name, workload.namespace, created=created, labels=_labels(workload, place))
    meta["generation"] = 1
    meta["annotations"] = _annotations(workload)
    meta["ownerReferences"] = [_owner(workload)]
    if workload.kind != "StatefulSet":
        meta["generateName"] = name[:-5]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": _spec(workload, place, name)}
    if node:
        pod["spec"]["nodeName"] = node.name
    pod["status"] = running_status(pod, node, created) if node else pending_status(pod)
    return pod


def _labels(workload: Workload, place: int | str) -> dict[str, str]:
    labels = dict(workload.labels)
    if workload.kind == "Deployment":
        labels["pod-template-hash"] = template_hash(workload)
    if workload.kind == "StatefulSet":
        labels["apps.kubernetes.io/pod-index"] = str(place)
        labels["controller-revision-hash"] = f"{workload.name}-{template_hash(workload)}"
        labels["statefulset.kubernetes.io/pod-name"] = pod_name(workload, place)
    if workload.kind == "DaemonSet":
        labels["controller-revision-hash"] = template_hash(workload)
        labels["pod-template-generation"] = str(1 + number(9, "generation", *workload.app))
    if workload.kind == "Job":
        labels["batch.kubernetes.io/controller-uid"] = uid("Job", *workload.app)
        labels["batch.kubernetes.io/job-name"] = labels["job-name"] = workload.name
        labels["controller-uid"] = uid("Job", *workload.app)
    return labels


def _annotations(workload: Workload) -> dict[str, str]:
    annotations = {"checksum/config": hex_id("config", *workload.app)}
    if workload.namespace != "kube-system":
        annotations |= {"prometheus.io/port": "9090", "prometheus.io/scrape": "true"}
    if number(4, "restarted", *workload.app) == 0:
        annotations["kubectl.kubernetes.io/restartedAt"] = stamp(moment(20, "restarted", *workload.app))
    return annotations


def _owner(workload: Workload) -> dict:
    kind = "ReplicaSet" if workload.kind == "Deployment" else workload.kind
    name = owner_name(workload)
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": kind,
        "name": name,
        "uid": uid(kind, workload.namespace, name),
    }


def _spec(workload: Workload, place: int | str, name: str) -> dict:
    token = f"kube-api-access-{suffix(5, 'token', workload.namespace, name)}"
    spec: dict = {
        "containers": [_container(workload, token)],
        "dnsPolicy": "ClusterFirstWithHostNet" if workload.host_network else "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": PRIORITIES[workload.priority],
        "priorityClassName": workload.priority,
        "restartPolicy": "Never" if workload.kind == "Job" else "Always",
        "schedulerName": workload.scheduler,
        "securityContext": {"fsGroup": 10001, "runAsNonRoot": True} if workload.claims else {},
        "serviceAccount": workload.name,
        "serviceAccountName": workload.name,
        "terminationGracePeriodSeconds": 60 if workload.kind == "StatefulSet" else 30,
        "tolerations": workload.tolerations + DEFAULT_TOLERATIONS,
        "volumes": _volumes(workload, name, token),
    }
    if workload.kind == "DaemonSet":
        own = [{"operator": "Exists"}] if workload.pool == "any" else workload.tolerations
        spec["tolerations"] = own + DAEMON_TOLERATIONS
        if workload.host_network:
            network = {"effect": "NoSchedule", "key": "node.kubernetes.io/network-unavailable", "operator": "Exists"}
            spec["tolerations"] = spec["tolerations"] + [network]
    if workload.kind == "StatefulSet":
        spec["hostname"], spec["subdomain"] = name, f"{workload.name}-headless"
    if workload.host_network:
        spec["hostNetwork"] = True
    if workload.proxied:
        spec["initContainers"] = [_proxy(token)]
    if selector := workload.node_selector:
        spec["nodeSelector"] = selector
    if affinity := _affinity(workload, place):
        spec["affinity"] = affinity
    if spread := _spread(workload):
        spec["topologySpreadConstraints"] = spread
    if workload.gates:
        spec["schedulingGates"] = [{"name": gate} for gate in workload.gates]
    return spec


def _container(workload: Workload, token: str) -> dict:
    requests = {
        k: v for k, v in (("cpu", cpu_text(workload.cpu)), ("memory", memory_text(workload.memory))) if v != "0"
    }
    limits = {k: v for k, v in requests.items() if k == "memory" or workload.pool == "database"}
    if workload.gpus:
        requests["nvidia.com/gpu"] = limits["nvidia.com/gpu"] = str(workload.gpus)
    port = {"containerPort": workload.host_port or 8080, "name": "http", "protocol": "TCP"}
    if workload.host_port:
        port["hostPort"] = workload.host_port
    ports = [port] if workload.host_network else [port, {"containerPort": 9090, "name": "metrics", "protocol": "TCP"}]
    mounts = [{"mountPath": "/etc/config", "name": "config", "readOnly": True}, {"mountPath": "/tmp", "name": "tmp"}]
    mounts += [{"mountPath": f"/var/lib/{claim.name}", "name": claim.name} for claim in workload.claims]
    return {
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "SERVICE", "value": workload.name},
            {"name": "ENVIRONMENT", "value": "production"},
        ],
        "envFrom": [{"configMapRef": {"name": f"{workload.name}-environment"}}],
        "image": image_name(workload.image),
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": _probe("/livez", 20),
        "name": workload.name,
        "ports": ports,
        "readinessProbe": _probe("/readyz", 5),
        "resources": {k: v for k, v in (("limits", limits), ("requests", requests)) if v},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [*mounts, _token_mount(token)],
    }


def _proxy(token: str) -> dict:
    """The mesh proxy: an init container that stays, so it counts for the whole life of the pod."""
    resources = {"cpu": cpu_text(PROXY_CPU), "memory": memory_text(PROXY_MEMORY)}
    return {
        "args": ["--service-cluster", "$(SERVICE)"],
        "image": image_name("envoy"),
        "imagePullPolicy": "IfNotPresent",
        "name": "mesh-proxy",
        "ports": [{"containerPort": 15090, "name": "proxy-metrics", "protocol": "TCP"}],
        "resources": {"limits": {"memory": resources["memory"]}, "requests": resources},
        "restartPolicy": "Always",
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [_token_mount(token)],
    }


def _probe(path: str, period: int) -> dict:
    return {
        "failureThreshold": 3,
        "httpGet": {"path": path, "port": "http", "scheme": "HTTP"},
        "periodSeconds": period,
        "successThreshold": 1,
        "timeoutSeconds": 2,
    }


def _token_mount(token: str) -> dict:
    return {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": token, "readOnly": True}


def _volumes(workload: Workload, name: str, token: str) -> list[dict]:
    volumes: list[dict] = [
        {"persistentVolumeClaim": {"claimName": claim_name(claim.name, claim.shared, name)}, "name": claim.name}
        for claim in workload.claims
    ]
    volumes.append({"configMap": {"defaultMode": 420, "name": f"{workload.name}-config"}, "name": "config"})
    volumes.append({"emptyDir": {}, "name": "tmp"})
    volumes.append({"name": token, "projected": {"defaultMode": 420, "sources": _token_sources()}})
    return volumes


def claim_name(claim: str, shared: bool, pod: str) -> str:
    return claim if shared else f"{claim}-{pod}"


def _token_sources() -> list[dict]:
    namespace = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}
    return [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [namespace]}},
    ]


def _affinity(workload: Workload, place: int | str) -> dict:
    affinity: dict = {}
    if workload.kind == "DaemonSet":
        field = {"key": "metadata.name", "operator": "In", "values": [place]}
        terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    own = {"labelSelector": {"matchLabels": workload.match_labels}}
    if workload.apart:
        term = own | {"topologyKey": workload.apart}
        affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    elif workload.kind == "StatefulSet":
        term = {"podAffinityTerm": own | {"topologyKey": HOST}, "weight": 100}
        affinity["podAntiAffinity"] = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    if workload.near:
        selector = {"matchLabels": {"app.kubernetes.io/name": workload.near}}
        term = {"podAffinityTerm": {"labelSelector": selector, "topologyKey": ZONE}, "weight": 50}
        affinity["podAffinity"] = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    return affinity


def _spread(workload: Workload) -> list[dict]:
    selector = {"matchLabels": workload.match_labels}
    rows = {
        "": [],
        "soft": [(ZONE, 1, "ScheduleAnyway"), (HOST, 3, "ScheduleAnyway")],
        "hard": [(ZONE, 1, "DoNotSchedule"), (HOST, 2, "ScheduleAnyway")],
        "host": [(HOST, 1, "DoNotSchedule")],
    }[workload.spread]
    return [
        {"labelSelector": selector, "maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": unsatisfiable}
        for key, skew, unsatisfiable in rows
    ]


def cpu_text(milli: int) -> str:
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def memory_text(mebibytes: int) -> str:
    if mebibytes == 0:
        return "0"
    return f"{mebibytes // 1024}Gi" if mebibytes % 1024 == 0 else f"{mebibytes}Mi"


def requests_of(workload: Workload) -> dict[str, int]:
    """What one pod takes from a node's free resources."""
    return {
        "cpu": workload.cpu + PROXY_CPU * workload.proxied,
        "memory": workload.memory + PROXY_MEMORY * workload.proxied,
        "gpu": workload.gpus,
        "pods": 1,
    }
