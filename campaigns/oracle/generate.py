#!/usr/bin/env python3
"""Write a random but valid cluster snapshot (a v1 List) that exercises the in-tree plugins.

    generate.py --seed 7 --nodes 20 --bound 60 --pending 25 [--only resources,taints,...] > snapshot.json

The same arguments always give the same snapshot. Feature groups: resources, labels, taints, ports, affinity,
spread, images, volumes, gates. Without --only every group is used. --more adds rarer features on top, `all` of them or
those named (more.py lists them); what the groups make stays the same.
"""

import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as a script this file stands outside the package
from campaigns.oracle import more

GROUPS = ("resources", "labels", "taints", "ports", "affinity", "spread", "images", "volumes", "gates")
ZONES, APPS, TEAMS = ("z1", "z2", "z3"), ("web", "db", "cache", "batch"), ("red", "blue")
IMAGES = [(f"registry.example/app/{i}:v1", (20 + 90 * i) * 1024 * 1024) for i in range(12)]


class Maker:
    def __init__(self, seed, only):
        self.r = random.Random(seed)
        self.on = {g: g in only for g in GROUPS}

    def chance(self, p):
        return self.r.random() < p

    def node(self, i):
        r = self.r
        name = f"node-{i:04d}"
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/arch": r.choice(["amd64", "amd64", "arm64"])}
        if not self.chance(0.08):
            labels["topology.kubernetes.io/zone"] = r.choice(ZONES)
        if self.on["labels"]:
            labels["disk"] = r.choice(["ssd", "hdd"])
            labels["rank"] = str(r.randrange(12))
            if self.chance(0.3):
                labels["gpu"] = ""
        cpu, mem = r.choice([2, 4, 8, 16]), r.choice([4, 8, 16, 64])
        alloc = {
            "cpu": f"{cpu * 1000 - r.randrange(0, 400, 7)}m",
            "memory": f"{mem * 1024 - r.randrange(600)}Mi",
            "pods": str(r.choice([5, 20, 110])),
            "ephemeral-storage": f"{r.choice([20, 100])}Gi",
        }
        if self.on["resources"] and self.chance(0.3):
            alloc["example.com/gpu"] = str(r.choice([1, 4, 8]))
        if self.on["resources"] and self.chance(0.2):
            alloc["hugepages-2Mi"] = f"{r.choice([64, 512])}Mi"
        spec = {}
        if self.on["taints"]:
            taints = []
            if self.chance(0.25):
                taints.append({"key": "dedicated", "value": r.choice(TEAMS), "effect": "NoSchedule"})
            if self.chance(0.25):
                taints.append({"key": "flaky", "effect": "PreferNoSchedule"})
            if self.chance(0.1):
                taints.append({"key": "maintenance", "value": "now", "effect": "NoExecute"})
            if self.chance(0.08):
                spec["unschedulable"] = True
                taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
            if taints:
                spec["taints"] = taints
        status = {"capacity": alloc, "allocatable": alloc, "conditions": [{"type": "Ready", "status": "True"}]}
        if self.on["images"]:
            status["images"] = [
                {"names": [n, n.split(":")[0] + f"@sha256:{k:064x}"], "sizeBytes": s}
                for k, (n, s) in enumerate(IMAGES)
                if self.chance(0.4)
            ]
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
            "status": status,
        }

    def requests(self):
        r = self.r
        out = {}
        if not self.chance(0.15):
            out["cpu"] = f"{r.choice([50, 100, 250, 333, 1000, 2500])}m"
        if not self.chance(0.15):
            out["memory"] = r.choice(["64Mi", "200Mi", "512Mi", "1Gi", "3Gi", "129e6", "128974848", "1500M"])
        if self.on["resources"]:
            if self.chance(0.1):
                out["example.com/gpu"] = str(r.choice([1, 2]))
            if self.chance(0.05):
                out["hugepages-2Mi"] = "32Mi"
            if self.chance(0.1):
                out["ephemeral-storage"] = "3Gi"
        return out

    def container(self, i, init=False):
        r = self.r
        req = self.requests()
        c = {"name": f"c{i}" if not init else f"i{i}", "image": r.choice(IMAGES)[0], "resources": {}}
        if req:
            c["resources"]["requests"] = req
        if self.on["ports"] and not init and self.chance(0.25):
            c["ports"] = [
                {"containerPort": 80, "hostPort": r.choice([8080, 9090]), "protocol": r.choice(["TCP", "TCP", "UDP"])}
            ]
            if self.chance(0.4):
                c["ports"][0]["hostIP"] = r.choice(["127.0.0.1", "10.0.0.1", "0.0.0.0"])
        if init and self.chance(0.3):
            c["restartPolicy"] = "Always"
        return c

    def selector(self):
        r = self.r
        if self.chance(0.7):
            return {"matchLabels": {"app": r.choice(APPS)}}
        return {
            "matchExpressions": [{"key": "app", "operator": r.choice(["In", "NotIn"]), "values": r.sample(APPS, 2)}]
        }

    def term(self):
        r = self.r
        t = {
            "labelSelector": self.selector(),
            "topologyKey": r.choice(["kubernetes.io/hostname", "topology.kubernetes.io/zone"]),
        }
        if self.chance(0.2):
            t["namespaces"] = [r.choice(["default", "prod"])]
        elif self.chance(0.2):
            t["namespaceSelector"] = r.choice(
                [{}, {"matchLabels": {"team": "red"}}, {"matchExpressions": [{"key": "team", "operator": "Exists"}]}]
            )
        return t

    def node_term(self):
        r = self.r
        e = r.choice(
            [
                {"key": "disk", "operator": "In", "values": ["ssd"]},
                {"key": "disk", "operator": "NotIn", "values": ["hdd"]},
                {"key": "gpu", "operator": "Exists"},
                {"key": "gpu", "operator": "DoesNotExist"},
                {"key": "rank", "operator": "Gt", "values": ["4"]},
                {"key": "rank", "operator": "Lt", "values": ["8"]},
            ]
        )
        t = {"matchExpressions": [e]}
        if self.chance(0.1):
            t = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [f"node-{r.randrange(6):04d}"]}]}
        return t

    def affinity(self):
        a = {}
        if self.on["labels"] and self.chance(0.3):
            na = a["nodeAffinity"] = {}
            if self.chance(0.6):
                na["requiredDuringSchedulingIgnoredDuringExecution"] = {
                    "nodeSelectorTerms": [self.node_term() for _ in range(self.r.choice([1, 2]))]
                }
            if self.chance(0.6):
                na["preferredDuringSchedulingIgnoredDuringExecution"] = [
                    {"weight": self.r.choice([1, 20, 100]), "preference": self.node_term()}
                    for _ in range(self.r.choice([1, 2]))
                ]
        for kind in ("podAffinity", "podAntiAffinity"):
            if self.on["affinity"] and self.chance(0.2):
                pa = a[kind] = {}
                if self.chance(0.5):
                    pa["requiredDuringSchedulingIgnoredDuringExecution"] = [self.term()]
                if self.chance(0.6):
                    pa["preferredDuringSchedulingIgnoredDuringExecution"] = [
                        {"weight": self.r.choice([1, 30, 100]), "podAffinityTerm": self.term()}
                        for _ in range(self.r.choice([1, 2]))
                    ]
        return a

    def spread(self):
        out = []
        for key in self.r.sample(["kubernetes.io/hostname", "topology.kubernetes.io/zone"], self.r.choice([1, 1, 2])):
            c = {
                "maxSkew": self.r.choice([1, 2, 5]),
                "topologyKey": key,
                "labelSelector": self.selector(),
                "whenUnsatisfiable": self.r.choice(["DoNotSchedule", "ScheduleAnyway"]),
            }
            if c["whenUnsatisfiable"] == "DoNotSchedule" and self.chance(0.2):
                c["minDomains"] = self.r.choice([2, 4])
            if self.chance(0.2):
                c["nodeAffinityPolicy"] = "Ignore"
            if self.chance(0.2):
                c["nodeTaintsPolicy"] = "Honor"
            if self.chance(0.2):
                c["matchLabelKeys"] = ["team"]
            out.append(c)
        return out

    def pod(self, i, node=None):
        r = self.r
        app = r.choice(APPS)
        name = ("run" if node else "pend") + f"-{i:05d}"
        labels = {"app": app, "team": r.choice(TEAMS)}
        spec = {
            "schedulerName": "default-scheduler",
            "priority": r.choice([0, 0, 10, 100]),
            "restartPolicy": "Always",
            "containers": [self.container(k) for k in range(r.choice([1, 1, 2]))],
        }
        if self.chance(0.2):
            spec["initContainers"] = [self.container(k, True) for k in range(r.choice([1, 2]))]
        if self.on["resources"] and self.chance(0.1):
            spec["overhead"] = {"cpu": "120m", "memory": "100Mi"}
        if node:
            spec["nodeName"] = node
        if self.on["labels"] and self.chance(0.15):
            spec["nodeSelector"] = {"disk": r.choice(["ssd", "hdd"])}
        if self.on["taints"]:
            tol = []
            if self.chance(0.4):
                tol.append({"key": "dedicated", "operator": "Equal", "value": r.choice(TEAMS), "effect": "NoSchedule"})
            if self.chance(0.2):
                tol.append({"key": "flaky", "operator": "Exists"})
            if self.chance(0.1):
                tol.append({"operator": "Exists"})
            if tol:
                spec["tolerations"] = tol
        a = self.affinity()
        if a:
            spec["affinity"] = a
        if self.on["spread"] and self.chance(0.3):
            spec["topologySpreadConstraints"] = self.spread()
        if self.on["gates"] and not node and self.chance(0.03):
            spec["nodeName"] = ""
        if self.on["volumes"] and self.chance(0.25):
            spec["volumes"] = [
                {
                    "name": "v",
                    "persistentVolumeClaim": {"claimName": r.choice(["bound-a", "bound-b", "late", "missing", "rwop"])},
                }
            ]
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": r.choice(["default", "prod"]),
                "uid": f"u-{name}",
                "labels": labels,
                "creationTimestamp": f"2026-01-01T00:{i // 60 % 60:02d}:{i % 60:02d}Z",
            },
            "spec": spec,
            "status": {
                "phase": "Running" if node else "Pending",
                "startTime": f"2026-01-01T00:{i // 60 % 60:02d}:{i % 60:02d}Z",
            }
            if node
            else {"phase": "Pending"},
        }

    def volumes(self):
        out = [
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": "late"},
                "provisioner": "csi.example.com",
                "volumeBindingMode": "WaitForFirstConsumer",
            },
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": "now"},
                "provisioner": "csi.example.com",
                "volumeBindingMode": "Immediate",
            },
        ]
        for ns in ("default", "prod"):
            for claim, zone, mode in (
                ("bound-a", "z1", "ReadWriteOnce"),
                ("bound-b", "z2", "ReadWriteMany"),
                ("rwop", "z3", "ReadWriteOncePod"),
            ):
                pv = f"pv-{ns}-{claim}"
                out.append(
                    {
                        "apiVersion": "v1",
                        "kind": "PersistentVolume",
                        "metadata": {"name": pv, "labels": {"topology.kubernetes.io/zone": zone}},
                        "spec": {
                            "capacity": {"storage": "5Gi"},
                            "accessModes": [mode],
                            "storageClassName": "now",
                            "csi": {"driver": "csi.example.com", "volumeHandle": pv},
                            "claimRef": {
                                "kind": "PersistentVolumeClaim",
                                "namespace": ns,
                                "name": claim,
                                "uid": f"u-{ns}-{claim}",
                            },
                            "nodeAffinity": {
                                "required": {
                                    "nodeSelectorTerms": [
                                        {
                                            "matchExpressions": [
                                                {
                                                    "key": "topology.kubernetes.io/zone",
                                                    "operator": "In",
                                                    "values": [zone],
                                                }
                                            ]
                                        }
                                    ]
                                }
                            },
                        },
                        "status": {"phase": "Bound"},
                    }
                )
                out.append(
                    {
                        "apiVersion": "v1",
                        "kind": "PersistentVolumeClaim",
                        "metadata": {
                            "name": claim,
                            "namespace": ns,
                            "uid": f"u-{ns}-{claim}",
                            "annotations": {
                                "pv.kubernetes.io/bind-completed": "yes",
                                "pv.kubernetes.io/bound-by-controller": "yes",
                            },
                        },
                        "spec": {
                            "accessModes": [mode],
                            "storageClassName": "now",
                            "volumeName": pv,
                            "resources": {"requests": {"storage": "5Gi"}},
                        },
                        "status": {"phase": "Bound"},
                    }
                )
            out.append(
                {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "metadata": {"name": "late", "namespace": ns, "uid": f"u-{ns}-late"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": "late",
                        "resources": {"requests": {"storage": "5Gi"}},
                    },
                    "status": {"phase": "Pending"},
                }
            )
        return out


def snapshot(seed, n_nodes, n_bound, n_pending, only, wanted):
    """The objects of a cluster: `only` names feature groups, `wanted` features of more.py."""
    m = Maker(seed, only)
    items = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"team": "blue"}}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "prod", "labels": {"team": "red"}}},
    ]
    nodes = [m.node(i) for i in range(n_nodes)]
    items += nodes
    if m.on["spread"]:
        items += [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": f"svc-{app}", "namespace": "default"},
                "spec": {"selector": {"app": app}},
            }
            for app in APPS[:2]
        ]
    if m.on["volumes"]:
        items += m.volumes()
        items += [
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSINode",
                "metadata": {"name": n["metadata"]["name"]},
                "spec": {
                    "drivers": [
                        {
                            "name": "csi.example.com",
                            "nodeID": n["metadata"]["name"],
                            "topologyKeys": ["topology.kubernetes.io/zone"],
                            "allocatable": {"count": m.r.choice([1, 2, 8])},
                        }
                    ]
                },
            }
            for n in nodes
        ]
    items += [m.pod(i, m.r.choice(nodes)["metadata"]["name"]) for i in range(n_bound)]
    items += [m.pod(i) for i in range(n_pending)]
    return more.enrich(items, seed, wanted)


def is_pending(item):
    return item["kind"] == "Pod" and not item["spec"].get("nodeName")


def copies(pod, n):
    """Equal pods of which many fit on a node."""
    resources = {"requests": {"cpu": "20m", "memory": "20Mi"}}
    containers = [{**container, "resources": resources} for container in pod["spec"]["containers"]]
    made = {**pod, "spec": {**pod["spec"], "containers": containers}}
    for i in range(n):
        name = f"{pod['metadata']['name']}-{i}"
        yield {**made, "metadata": {**pod["metadata"], "name": name, "uid": f"uid-{name}"}}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--nodes", type=int, default=20)
    p.add_argument("--bound", type=int, default=60)
    p.add_argument("--pending", type=int, default=25)
    p.add_argument("--only", default=",".join(GROUPS))
    p.add_argument("--more", default="", help="all, or features of more.py, comma separated")
    p.add_argument("--copies", type=int, default=1, help="how often to make each pending pod, small enough to fit")
    a = p.parse_args()
    only = a.only.split(",")
    unknown = set(only) - set(GROUPS) - {""}
    if unknown:
        p.error(f"unknown feature groups {sorted(unknown)}; known: {', '.join(GROUPS)}")
    wanted = more.USUAL if a.more == "all" else [name for name in a.more.split(",") if name]
    unknown = set(wanted) - set(more.FEATURES)
    if unknown:
        p.error(f"unknown features {sorted(unknown)}; known: all, {', '.join(more.FEATURES)}")
    items = snapshot(a.seed, a.nodes, a.bound, a.pending, only, wanted)
    if a.copies > 1:
        items = [one for item in items for one in ([item] if not is_pending(item) else copies(item, a.copies))]
    json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout)


if __name__ == "__main__":
    main()
