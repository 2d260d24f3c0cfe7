"""The static pods of the control plane, as mirror pods: no service account, owned by their node."""

from generator.identity import digest, metadata, moment, stamp, uid
from generator.images import image_name
from generator.nodes import NodeDraft
from generator.status import running_status

COMPONENTS = {"etcd": ("100m", "100Mi"), "kube-apiserver": ("250m", ""), "kube-controller-manager": ("200m", "")}
COMPONENTS["kube-scheduler"] = ("100m", "")


def static_pods(node: NodeDraft) -> list[dict]:
    return [_static_pod(node, name, cpu, memory) for name, (cpu, memory) in COMPONENTS.items()]


def _static_pod(node: NodeDraft, component: str, cpu: str, memory: str) -> dict:
    created = moment(40, "static", component, node.name)
    config_hash = digest("static", component, node.name).hex()[:32]
    meta = metadata(
        "Pod",
        f"{component}-{node.name}",
        "kube-system",
        created=created,
        annotations={
            "kubernetes.io/config.hash": config_hash,
            "kubernetes.io/config.mirror": config_hash,
            "kubernetes.io/config.seen": stamp(created),
            "kubernetes.io/config.source": "file",
        },
        labels={"component": component, "tier": "control-plane"},
    )
    meta["generation"] = 1
    meta["ownerReferences"] = [
        {"apiVersion": "v1", "controller": True, "kind": "Node", "name": node.name, "uid": uid("Node", "", node.name)}
    ]
    requests = {"cpu": cpu} | ({"memory": memory} if memory else {})
    container = {
        "command": [component],
        "image": image_name(component),
        "imagePullPolicy": "IfNotPresent",
        "name": component,
        "resources": {"requests": requests},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{"mountPath": "/etc/kubernetes/pki", "name": "k8s-certs", "readOnly": True}],
    }
    certificates = {"path": "/etc/kubernetes/pki", "type": "DirectoryOrCreate"}
    spec = {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "hostNetwork": True,
        "nodeName": node.name,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 2_000_001_000,
        "priorityClassName": "system-node-critical",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "terminationGracePeriodSeconds": 30,
        "tolerations": [{"effect": "NoExecute", "operator": "Exists"}],
        "volumes": [{"hostPath": certificates, "name": "k8s-certs"}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    pod["status"] = running_status(pod, node, created)
    return pod
