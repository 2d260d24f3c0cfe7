#!/usr/bin/env python3
"""Snapshots in the shape of kube-scheduler's own performance workloads (scheduler_perf).

    shapes.py SHAPE [--nodes 5000] [--bound 2000] [--pending 1000] > snapshot.json

Shapes: basic, node-affinity, pod-anti-affinity, pod-affinity, preferred-pod-affinity, preferred-pod-anti-affinity,
spread-hard,
spread-soft, spread-default, extended-resource, ns-selector-anti-affinity, mixed.
"""

import argparse
import json
import sys

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def term(labels, key, **extra):
    return {"labelSelector": {"matchLabels": labels}, "topologyKey": key, **extra}


def required(terms):
    return {"requiredDuringSchedulingIgnoredDuringExecution": terms}


def preferred(terms):
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": t} for t in terms]}


def constraint(when):
    return [
        {
            "maxSkew": 5,
            "topologyKey": ZONE,
            "whenUnsatisfiable": when,
            "labelSelector": {"matchLabels": {"color": "blue"}},
        }
    ]


SHAPES = {
    "basic": {},
    "node-affinity": {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z0", "z1"]}]}
                    ]
                }
            }
        }
    },
    "pod-anti-affinity": {
        "affinity": {"podAntiAffinity": required([term({"color": "green"}, HOST, namespaces=["default"])])}
    },
    "pod-affinity": {"affinity": {"podAffinity": required([term({"color": "blue"}, ZONE, namespaces=["default"])])}},
    "preferred-pod-affinity": {
        "affinity": {"podAffinity": preferred([term({"color": "red"}, HOST, namespaces=["default"])])}
    },
    "preferred-pod-anti-affinity": {
        "affinity": {"podAntiAffinity": preferred([term({"color": "yellow"}, HOST, namespaces=["default"])])}
    },
    "spread-hard": {"topologySpreadConstraints": constraint("DoNotSchedule")},
    "spread-soft": {"topologySpreadConstraints": constraint("ScheduleAnyway")},
    "spread-default": {},
    "extended-resource": {"extended": True},
    "ns-selector-anti-affinity": {
        "affinity": {
            "podAntiAffinity": required(
                [term({"color": "green"}, HOST, namespaceSelector={"matchLabels": {"team": "devops"}})]
            )
        }
    },
}
COLORS = {
    "pod-anti-affinity": "green",
    "ns-selector-anti-affinity": "green",
    "preferred-pod-affinity": "red",
    "preferred-pod-anti-affinity": "yellow",
}


def pod(shape, i, node=None):
    extra = dict(SHAPES[shape])
    requests = {"cpu": "100m", "memory": "500Mi"}
    if extra.pop("extended", False):
        requests["example.com/gpu"] = "1"
    labels = {"color": COLORS.get(shape, "blue")}
    if shape == "spread-default":
        labels["app"] = "web"
    spec = {
        "schedulerName": "default-scheduler",
        "containers": [{"name": "c", "image": "registry.example/pause:3", "resources": {"requests": requests}}],
        **extra,
    }
    if node:
        spec["nodeName"] = node
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{shape}-{'run' if node else 'pend'}-{i:06d}",
            "namespace": "default",
            "uid": f"u-{shape}-{bool(node)}-{i}",
            "labels": labels,
        },
        "spec": spec,
        "status": {"phase": "Running" if node else "Pending"},
    }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("shape", choices=[*SHAPES, "mixed"])
    p.add_argument("--nodes", type=int, default=5000)
    p.add_argument("--bound", type=int, default=2000)
    p.add_argument("--pending", type=int, default=1000)
    a = p.parse_args()
    kinds = [s for s in SHAPES if s not in ("extended-resource", "spread-default")] if a.shape == "mixed" else [a.shape]
    allocatable = {"cpu": "32", "memory": "256Gi", "pods": "110", "example.com/gpu": "8"}
    items = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"team": "devops"}}}]
    items += [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{i:05d}", "labels": {HOST: f"node-{i:05d}", ZONE: f"z{i % 3}"}},
            "status": {
                "capacity": allocatable,
                "allocatable": allocatable,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        for i in range(a.nodes)
    ]
    if a.shape == "spread-default":
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"selector": {"app": "web"}},
            }
        )
    # every bound pod of a hostname anti-affinity shape needs a node of its own
    items += [pod(kinds[i % len(kinds)], i, f"node-{i * 2 % a.nodes:05d}") for i in range(a.bound)]
    items += [pod(kinds[i % len(kinds)], i) for i in range(a.pending)]
    json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout)


if __name__ == "__main__":
    main()
