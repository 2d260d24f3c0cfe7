"""Puts the cluster together: nodes, what runs on them, what waits, and the objects around them."""

from collections.abc import Iterable
from datetime import timedelta

from generator import companions, storage
from generator.control_plane import static_pods
from generator.identity import NOW, number, stamp
from generator.images import PUBLIC, node_images
from generator.nodes import NodeDraft, build_drafts, node_object
from generator.pending import CLAIMS, Waiting, waiting
from generator.placement import find_node, take
from generator.pods import build_pod, claim_name
from generator.workload import PRIORITIES, Claim, Workload
from generator.workloads import ADD_ONS, BATCH, DAEMONS, DATABASES, EDGE, PREVIEWS, SERVICES

# Large ones first, as a cluster that has been running for long has them.
RUNNING = [*DATABASES, *BATCH, *EDGE, *ADD_ONS, *SERVICES, *PREVIEWS]
# kubectl get nodes,... -A gives the kinds in the order asked for, each sorted by namespace and name.
KINDS = (
    "Node", "Namespace", "Pod", "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver",
    "VolumeAttachment", "Service", "ReplicaSet", "StatefulSet", "PodDisruptionBudget", "PriorityClass",
)  # fmt: skip


class Cluster:
    """The objects so far, and the nodes with what is left on them."""

    def __init__(self) -> None:
        self.nodes = build_drafts()
        self.objects: list[dict] = []
        self.images: dict[str, set[str]] = {node.name: set() for node in self.nodes}
        self.claimed: set[tuple[str, str]] = set()

    def build(self) -> list[dict]:
        """All objects, in the order in which kubectl lists them."""
        for daemon in DAEMONS:
            self.run_daemon(daemon)
        for node in self.nodes:
            if node.pool.name == "control-plane":
                node.pods += static_pods(node)
        for workload in RUNNING:
            self.run(workload)
        self.finish_jobs()
        self.leave_stragglers()
        cordoned = next(node.name for node in self.nodes if node.trouble == "cordoned")
        queue = waiting(cordoned)
        for item in queue:
            self.wait(item)
        self.add_waiting_claims()
        self.add_companions([w.workload for w in queue])
        for node in self.nodes:
            self.objects += node.pods
        catalogue = sorted({w.image for w in [*DAEMONS, *RUNNING]} | set(PUBLIC))
        self.objects += [node_object(n, node_images(n.name, self.images[n.name], catalogue)) for n in self.nodes]
        return sorted(self.objects, key=_listing_order)

    def run_daemon(self, workload: Workload) -> None:
        """One pod on each node of its pool; on the node that has just joined, one still waits."""
        for node in self.nodes:
            if workload.pool not in ("any", node.pool.name):
                continue
            take(node, workload)
            if node.trouble == "fresh" and workload.name == "node-exporter":
                self.objects.append(build_pod(workload, node.name, None))
            else:
                self.start(workload, node.name, node)

    def run(self, workload: Workload) -> None:
        for place in range(workload.replicas):
            if place >= workload.running_pods:
                self.objects.append(build_pod(workload, place, None))
                continue
            node = find_node(self.nodes, workload)
            take(node, workload)
            self.start(workload, place, node)

    def start(self, workload: Workload, place: int | str, node: NodeDraft) -> None:
        """Put one pod on its node, with its image and its volumes."""
        pod = build_pod(workload, place, node)
        node.pods.append(pod)
        self.images[node.name] |= {workload.image} | ({"envoy"} if workload.proxied else set())
        for claim in workload.claims:
            name = claim_name(claim.name, claim.shared, pod["metadata"]["name"])
            self.bind_claim(workload.namespace, name, claim, node)

    def bind_claim(self, namespace: str, name: str, claim: Claim, node: NodeDraft) -> None:
        if (namespace, name) in self.claimed:
            return
        self.claimed.add((namespace, name))
        shared = claim.storage_class == "efs"
        selected = "" if shared else node.name
        bound = storage.claim_object(namespace, name, claim.size, claim.storage_class, bound=True, node=selected)
        volume = storage.volume_object(bound, "" if shared else node.zone)
        self.objects += [bound, volume]
        if not shared:
            self.objects.append(storage.attachment_object(volume, node))

    def finish_jobs(self) -> None:
        """Pods of nightly jobs that have ended; they are still listed and hold nothing any more."""
        for day in range(8):
            for name, cpu in (("sitemap", 500), ("stock-report", 1000), ("cleanup", 250)):
                run = Workload("Job", "batch", f"{name}-{29_390_000 + 1440 * day}", 1, cpu, 1024, f"batch/{name}")
                node = self.nodes[20 + number(120, "finished", run.name)]
                pod = build_pod(run, 0, node)
                _finish(pod, NOW - timedelta(hours=24 * (8 - day) - 5), failed=(name, day) == ("cleanup", 5))
                node.pods.append(pod)

    def leave_stragglers(self) -> None:
        """On a node that stopped answering, evicted pods stay: nobody is there to end them."""
        node = next(n for n in self.nodes if n.trouble == "not-ready" and n.pool.name == "general")
        for name in ("fulfilment", "returns"):
            workload = next(w for w in SERVICES if w.app == ("orders", name))
            pod = build_pod(workload, f"straggler-{name}", node)
            take(node, workload)
            pod["metadata"]["deletionGracePeriodSeconds"] = 30
            pod["metadata"]["deletionTimestamp"] = stamp(NOW - timedelta(minutes=11))
            node.pods.append(pod)

    def wait(self, item: Waiting) -> None:
        for place in range(item.workload.replicas):
            pod = build_pod(item.workload, place, None)
            if item.change:
                item.change(pod)
            self.objects.append(pod)

    def add_waiting_claims(self) -> None:
        for item in CLAIMS:
            claim = item.claim
            waits = storage.claim_object(
                item.namespace, claim.name, claim.size, claim.storage_class, bound=bool(item.zone)
            )
            self.objects.append(waits)
            if item.zone:
                self.objects.append(storage.volume_object(waits, item.zone, labelled=item.labelled))

    def add_companions(self, queued: Iterable[Workload]) -> None:
        workloads = [*DAEMONS, *RUNNING, *queued]
        spaces = {w.namespace for w in workloads} | {"default", "kube-node-lease", "kube-public", "kube-system"}
        self.objects += map(companions.namespace_object, sorted(spaces))
        self.objects += map(companions.priority_class, PRIORITIES)
        for workload in workloads:
            if workload.kind in ("Deployment", "StatefulSet"):
                self.objects += [companions.owner_object(workload), companions.service_object(workload)]
            if workload.budget:
                self.objects.append(companions.disruption_budget(workload))
        self.objects += storage.storage_classes() + storage.csi_drivers()
        self.objects += map(storage.csi_node, self.nodes)


def _finish(pod: dict, ended, *, failed: bool) -> None:
    """Turn a running pod into one that has ended."""
    status = pod["status"]
    status["phase"] = "Failed" if failed else "Succeeded"
    end = {"exitCode": int(failed), "finishedAt": stamp(ended), "reason": "Error" if failed else "Completed"}
    for container in status["containerStatuses"]:
        started = {"startedAt": stamp(ended - timedelta(minutes=6))}
        container |= {"ready": False, "started": False, "state": {"terminated": end | started}}
    created = stamp(ended - timedelta(minutes=7))
    pod["metadata"]["creationTimestamp"] = status["startTime"] = created
    for condition in status["conditions"]:
        condition["lastTransitionTime"] = created
        if condition["type"] in ("Ready", "ContainersReady"):
            condition |= {"reason": "PodFailed" if failed else "PodCompleted", "status": "False"}


def _listing_order(obj: dict) -> tuple[int, str, str]:
    meta = obj["metadata"]
    return KINDS.index(obj["kind"]), meta.get("namespace", ""), meta["name"]
