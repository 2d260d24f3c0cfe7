"""How long load_snapshot takes, and how much memory, on a cluster of a given size: real-looking objects in one v1 List.

    python benchmarks/load.py [--nodes 5000] [--pods 100000] [--suffix .json|.json.gz|.json.zst|.yaml] [--repeat 3]

Prints one JSON object: megabytes written, seconds of each run, peak resident memory of the process that loaded.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def node(i: int) -> dict:
    """A node of about 10 KB, most of it images and managed fields, as kubelets report them."""
    name = f"node-{i:05}"
    images = [
        {
            "names": [
                f"registry.example.com/team-{k}/service-{k}@sha256:{i * 7919 + k:064x}",
                f"registry.example.com/team-{k}/service-{k}:v1.{i % 20}.{k}",
            ],
            "sizeBytes": 50_000_000 + 1000 * k,
        }
        for k in range(30)
    ]
    amounts = {
        "cpu": "31850m",
        "ephemeral-storage": "95551679124",
        "memory": f"{126_000_000 + i}Ki",
        "pods": "110",
        "hugepages-2Mi": "0",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": f"m{i % 7}.8xlarge",
                "topology.kubernetes.io/region": "region-1",
                "topology.kubernetes.io/zone": f"zone-{i % 3}",
            },
            "managedFields": managed_fields("kubelet", 45),
            "name": name,
            "resourceVersion": str(1_000_000 + i),
            "uid": f"00000000-0000-0000-0000-{i:012}",
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"example:///{name}"},
        "status": {
            "addresses": [{"address": "10.0.0.1", "type": "InternalIP"}, {"address": name, "type": "Hostname"}],
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [
                {
                    "lastHeartbeatTime": "2026-01-02T00:00:00Z",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                    "message": f"kubelet is posting {kind}",
                    "reason": f"Kubelet{kind}",
                    "status": "True" if kind == "Ready" else "False",
                    "type": kind,
                }
                for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
            ],
            "images": images,
            "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.36.3", "operatingSystem": "linux"},
        },
    }


def pod(i: int, n_nodes: int) -> dict:
    """A running pod of about 4 KB with two containers."""
    app = f"app-{i % 997}"
    name = f"{app}-7d4b9c6f58-{i:06x}"
    containers = [
        {
            "env": [{"name": f"SETTING_{k}", "value": f"value-{k}-of-{app}"} for k in range(8)],
            "image": f"registry.example.com/team-{i % 30}/{kind}:v1.{i % 20}",
            "imagePullPolicy": "IfNotPresent",
            "name": kind,
            "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
            "resources": {
                "limits": {"cpu": "1", "memory": f"{256 + i % 64}Mi"},
                "requests": {"cpu": f"{50 + i % 200}m", "memory": f"{128 + i % 64}Mi"},
            },
            "terminationMessagePath": "/dev/termination-log",
            "volumeMounts": [
                {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "token", "readOnly": True}
            ],
        }
        for kind in ("main", "proxy")
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"example.com/config-hash": f"sha256:{i:064x}"},
            "creationTimestamp": f"2026-01-01T{i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}Z",
            "generateName": f"{app}-7d4b9c6f58-",
            "labels": {"app": app, "pod-template-hash": "7d4b9c6f58", "team": f"team-{i % 30}"},
            "managedFields": managed_fields("kube-controller-manager", 2),
            "name": name,
            "namespace": f"namespace-{i % 50}",
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "blockOwnerDeletion": True,
                    "controller": True,
                    "kind": "ReplicaSet",
                    "name": f"{app}-7d4b9c6f58",
                    "uid": f"10000000-0000-0000-0000-{i % 997:012}",
                }
            ],
            "resourceVersion": str(2_000_000 + i),
            "uid": f"20000000-0000-0000-0000-{i:012}",
        },
        "spec": {
            "containers": containers,
            "nodeName": f"node-{i % n_nodes:05}",
            "priority": 0,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "tolerations": [
                {
                    "effect": "NoExecute",
                    "key": f"node.kubernetes.io/{key}",
                    "operator": "Exists",
                    "tolerationSeconds": 300,
                }
                for key in ("not-ready", "unreachable")
            ],
            "volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
        },
        "status": {
            "conditions": [
                {"lastTransitionTime": "2026-01-01T00:00:00Z", "status": "True", "type": kind}
                for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
            ],
            "containerStatuses": [
                {
                    "containerID": f"containerd://{i:064x}",
                    "image": container["image"],
                    "name": container["name"],
                    "ready": True,
                    "resources": container["resources"],
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                }
                for container in containers
            ],
            "phase": "Running",
            "startTime": "2026-01-01T00:00:00Z",
        },
    }


def service(i: int) -> dict:
    """A service of one of the apps whose pods `pod` makes."""
    metadata = {"name": f"app-{i}", "namespace": f"namespace-{i % 50}"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": {"app": f"app-{i}"}}}


def managed_fields(manager: str, n_fields: int) -> list[dict]:
    fields = {f"f:field-{k}": {".": {}, f"f:part-{k}": {}} for k in range(n_fields)}
    return [
        {
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": fields},
            "manager": manager,
            "operation": "Update",
        }
    ]


def write(path: Path, n_nodes: int, n_pods: int) -> None:
    """Write the snapshot, one item a line, without holding it in memory."""
    if path.suffix in (".yaml", ".yml"):
        import yaml

        with path.open("w") as file:
            yaml.dump_all(items(n_nodes, n_pods), file, Dumper=yaml.CSafeDumper)
        return
    from kubesched.snapshot.packing import packed_writer

    with path.open("wb") as plain, packed_writer(plain, path.suffix) as append:
        append(b'{"apiVersion":"v1","kind":"List","items":[\n')
        for i, item in enumerate(items(n_nodes, n_pods)):
            append(b",\n" * (i > 0) + json.dumps(item).encode())
        append(b"\n]}\n")


def items(n_nodes: int, n_pods: int) -> Iterator[dict]:
    yield from (node(i) for i in range(n_nodes))
    yield from (pod(i, n_nodes) for i in range(n_pods))


def measure(path: Path) -> tuple[float, float, int]:
    """Load in a process of its own, so that peak memory is the load's alone."""
    from kubesched.snapshot import load_snapshot

    before = time.perf_counter()
    loaded = load_snapshot(path)
    seconds = time.perf_counter() - before
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(loaded.objects)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--suffix", default=".json")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"cluster{options.suffix}")
        write(path, options.nodes, options.pods)
        runs = []
        for _ in range(options.repeat):
            with ProcessPoolExecutor(max_workers=1, mp_context=context) as executor:
                runs.append(executor.submit(measure, path).result())
        report = {
            "nodes": options.nodes,
            "pods": options.pods,
            "bytes_per_node": len(json.dumps(node(1))),
            "bytes_per_pod": len(json.dumps(pod(1, options.nodes))),
            "megabytes": round(path.stat().st_size / 1e6, 1),
            "objects": runs[0][2],
            "seconds": [round(seconds, 2) for seconds, _, _ in runs],
            "peak_rss_mib": round(max(mib for _, mib, _ in runs)),
        }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
