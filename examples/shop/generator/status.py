"""The status of a pod: what kubelet and controllers have written into it."""

from datetime import datetime, timedelta

from generator.identity import hex_id, number, stamp
from generator.images import image_digest
from generator.nodes import NodeDraft


def pending_status(pod: dict) -> dict:
    """The status before the scheduler has looked at the pod."""
    status = {"observedGeneration": 1, "phase": "Pending", "qosClass": qos_class(pod)}
    if pod["spec"].get("schedulingGates"):
        status["conditions"] = [
            {
                "lastProbeTime": None,
                "lastTransitionTime": pod["metadata"]["creationTimestamp"],
                "message": "Scheduling is blocked due to non-empty scheduling gates",
                "observedGeneration": 1,
                "reason": "SchedulingGated",
                "status": "False",
                "type": "PodScheduled",
            }
        ]
    return status


def running_status(pod: dict, node: NodeDraft, created: datetime) -> dict:
    started = created + timedelta(seconds=2 + number(20, "start", pod["metadata"]["uid"]))
    ready = node.trouble != "not-ready"
    address = node.address if pod["spec"].get("hostNetwork") else node.pod_address()
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    status = {
        "conditions": [
            _condition(kind, started, true=ready or kind not in ("Ready", "ContainersReady")) for kind in kinds
        ],
        "containerStatuses": [_container_status(pod, c, started, ready=ready) for c in pod["spec"]["containers"]],
        "hostIP": node.address,
        "hostIPs": [{"ip": node.address}],
        "observedGeneration": 1,
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "qosClass": qos_class(pod),
        "startTime": stamp(created + timedelta(seconds=1)),
    }
    if first := pod["spec"].get("initContainers"):
        status["initContainerStatuses"] = [_container_status(pod, c, started, ready=ready) for c in first]
    return status


def _condition(kind: str, since: datetime, *, true: bool) -> dict:
    return {
        "lastProbeTime": None,
        "lastTransitionTime": stamp(since),
        "observedGeneration": 1,
        "status": "True" if true else "False",
        "type": kind,
    }


def _container_status(pod: dict, container: dict, started: datetime, *, ready: bool) -> dict:
    identity = pod["metadata"]["uid"], container["name"]
    restarts = 0 if number(9, "restarts", *identity) else 1 + number(4, "count", *identity)
    return {
        "containerID": f"containerd://{hex_id('container', *identity)}",
        "image": container["image"],
        "imageID": image_digest(container["image"]),
        "lastState": {},
        "name": container["name"],
        "ready": ready,
        "resources": container["resources"],
        "restartCount": restarts,
        "started": True,
        "state": {"running": {"startedAt": stamp(started)}},
    }


def qos_class(pod: dict) -> str:
    containers = pod["spec"]["containers"] + pod["spec"].get("initContainers", [])
    resources = [c["resources"] for c in containers]
    if not any(resources):
        return "BestEffort"
    limits = [r.get("limits", {}) for r in resources]
    whole = all(
        {"cpu", "memory"} <= set(lim) and lim == r.get("requests") for lim, r in zip(limits, resources, strict=True)
    )
    return "Guaranteed" if whole else "Burstable"
