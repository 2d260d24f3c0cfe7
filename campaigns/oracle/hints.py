"""Record what the plugins' queueing hints say to events: for each event, which plugins would try a pending pod again.

    python -m campaigns.oracle.hints --oracle PATH --out tests/golden/hints.json.gz

Writes {"version", "snapshot", "events": [{"pod", "resource", "action", "old", "new", "hints": {plugin: hint}}]};
`hints` has every plugin that registered the event's resource and action. The pending pods stand in the snapshot. Old
and new objects are whole, as an informer would hand them over.
"""

import argparse
import copy
import json
import tempfile
from pathlib import Path

from campaigns.oracle.record import VERSION, lines, write_case

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODE_ACTIONS = ("UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint", "UpdateNodeDeclaredFeature")


def pod(
    name: str, namespace: str = "default", *, labels: dict | None = None, requests: dict | None = None, **spec: object
) -> dict:
    container = {"name": "c", "image": "x", **({"resources": {"requests": requests}} if requests else {})}
    metadata = {"name": name, "namespace": namespace, "uid": f"u-{name}", **({"labels": labels} if labels else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], **spec},
        "status": {},
    }


def node(
    name: str = "n",
    *,
    labels: dict | None = None,
    allocatable: dict | None = None,
    status: dict | None = None,
    **spec: object,
) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10", **(allocatable or {})}, **(status or {})},
    }


def term(selector: dict | None, key: str = ZONE, **extra: object) -> dict:
    return {"topologyKey": key, **({"labelSelector": selector} if selector is not None else {}), **extra}


def app(name: str) -> dict:
    return {"matchLabels": {"app": name}}


def affinity(kind: str, *terms: dict) -> dict:
    return {"affinity": {kind: {REQUIRED: list(terms)}}}


def spread(selector: dict, key: str = ZONE, when: str = "DoNotSchedule", **extra: object) -> dict:
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector, **extra}


def claim(name: str, namespace: str = "default", **spec: object) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], **spec},
    }


def uses(*claims: str) -> dict:
    return {
        "volumes": [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(claims)]
    }


PENDING = [
    pod("plain"),
    pod("small", requests={"cpu": "1"}),
    pod("huge", requests={"cpu": "40"}),
    pod("gpu", requests={"example.com/gpu": "1"}),
    pod("labelled", labels={"app": "web", "team": "red"}),
    pod("gated", schedulingGates=[{"name": "g"}]),
    pod("tolerant", tolerations=[{"operator": "Exists"}]),
    pod("half", tolerations=[{"key": "k", "operator": "Exists"}]),
    pod("selective", nodeSelector={"disk": "ssd"}),
    pod("ported"),
    pod("near", labels={"app": "web"}, **affinity("podAffinity", term(app("db")))),
    pod("near-two", **affinity("podAffinity", term(app("db")), term({"matchLabels": {"team": "red"}}))),
    pod("far", labels={"app": "web"}, **affinity("podAntiAffinity", term(app("db")))),
    pod("far-two", **affinity("podAntiAffinity", term(app("db")), term({"matchLabels": {"team": "red"}}))),
    pod(
        "both",
        affinity={
            "podAffinity": {REQUIRED: [term(app("db"))]},
            "podAntiAffinity": {REQUIRED: [term(app("web"), HOST)]},
        },
    ),
    pod(
        "near-selected", **affinity("podAffinity", term(app("db"), namespaceSelector={"matchLabels": {"team": "blue"}}))
    ),
    pod("near-all", **affinity("podAffinity", term(app("db"), namespaceSelector={}))),
    pod("spread", labels={"app": "web"}, topologySpreadConstraints=[spread(app("web"))]),
    pod("spread-host", labels={"app": "web"}, topologySpreadConstraints=[spread(app("web"), HOST), spread(app("db"))]),
    pod(
        "spread-taints", labels={"app": "web"}, topologySpreadConstraints=[spread(app("web"), nodeTaintsPolicy="Honor")]
    ),
    pod("spread-soft", labels={"app": "web"}, topologySpreadConstraints=[spread(app("web"), when="ScheduleAnyway")]),
    pod("claiming", **uses("mine")),
    pod("disk", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "pd"}}]),
    pod("inline-csi", volumes=[{"name": "v", "csi": {"driver": "csi.example.com"}}]),
    pod(
        "ephemeral",
        volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}],
    ),
    pod("featured", hostNetwork=True, hostUsers=False),
]
next(p for p in PENDING if p["metadata"]["name"] == "ported")["spec"]["containers"][0]["ports"] = [
    {"containerPort": 80, "hostPort": 8080}
]
NAMES = [p["metadata"]["name"] for p in PENDING]


def pod_events() -> list[dict]:
    others = [
        pod("other", labels={"app": "db"}),
        pod("other", labels={"app": "db", "team": "red"}),
        pod("other", labels={"app": "web"}),
        pod("other", "prod", labels={"app": "db"}),
        pod("other", requests={"cpu": "1"}),
        pod("other", **uses("mine")),
        pod("other", "prod", **uses("mine")),
        pod("other", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "pd"}}]),
        pod("other", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "pd2"}}]),
        pod("other", hostNetwork=True),
        pod("other", labels={"app": "x"}, **affinity("podAntiAffinity", term(app("web")))),
        pod("other", labels={"app": "x"}, **affinity("podAntiAffinity", term(app("web")), term(app("nothing")))),
        pod(
            "other",
            "prod",
            labels={"app": "x"},
            **affinity("podAntiAffinity", term(app("web"), namespaces=["default"])),
        ),
    ]
    ported = pod("other")
    ported["spec"]["containers"][0]["ports"] = [{"containerPort": 1, "hostPort": 8080}]
    found = []
    for other in [*others, ported]:
        for state in ("bound", "nominated", "unassigned"):
            placed = in_state(other, state)
            found += [event(name, "Pod", "Delete", old=placed) for name in NAMES]
            found += [event(name, "Pod", "Add", new=placed) for name in NAMES]
    return found


def in_state(obj: dict, state: str) -> dict:
    placed = copy.deepcopy(obj)
    if state == "bound":
        placed["spec"]["nodeName"] = "n"
    if state == "nominated":
        placed["status"]["nominatedNodeName"] = "n"
    return placed


def pod_updates() -> list[dict]:
    """Other pods and the pending pod itself change their labels, requests or tolerations."""
    found = []
    for labels in ({"app": "db"}, {"app": "web"}, {"app": "db", "team": "red"}, {"team": "red"}):
        for a, b in ((None, labels), (labels, None), ({"app": "db"}, labels)):
            for state in ("bound", "nominated", "unassigned"):
                old, new = in_state(pod("other", labels=a), state), in_state(pod("other", labels=b), state)
                found += [event(name, "Pod", "UpdatePodLabel", old, new) for name in NAMES]
    for target in PENDING:
        name, changed = target["metadata"]["name"], copy.deepcopy(target)
        changed["metadata"]["labels"] = {"app": "other", "extra": "x"}
        found.append(event(name, "Pod", "UpdatePodLabel", target, changed))
        changed = copy.deepcopy(target)
        changed["spec"]["tolerations"] = [*target["spec"].get("tolerations", ()), {"key": "new", "operator": "Exists"}]
        found.append(event(name, "Pod", "UpdatePodToleration", target, changed))
        changed = copy.deepcopy(target)
        changed["spec"]["tolerations"] = [*target["spec"].get("tolerations", ()), {"operator": "Exists"}]
        found.append(event(name, "Pod", "UpdatePodToleration", target, changed))
        changed = copy.deepcopy(target)
        changed["spec"].pop("schedulingGates", None)
        found.append(event(name, "Pod", "UpdatePodSchedulingGatesEliminated", target, changed))
        changed = copy.deepcopy(target)
        changed["spec"]["hostNetwork"] = False
        found.append(event(name, "Pod", "Update", target, changed))
    for before, after in (
        ({"cpu": "3"}, {"cpu": "1"}),
        ({"memory": "3Gi"}, {"memory": "1Gi"}),
        ({"cpu": "3", "example.com/gpu": "2"}, {"cpu": "3"}),
    ):
        for state in ("bound", "unassigned"):
            old, new = in_state(pod("other", requests=before), state), in_state(pod("other", requests=after), state)
            found += [event(name, "Pod", "UpdatePodScaleDown", old, new) for name in NAMES]
    return found


def node_events() -> list[dict]:
    taint = [{"key": "k", "effect": "NoSchedule"}]
    nodes = [
        node(),
        node(unschedulable=True),
        node(taints=taint),
        node(taints=[*taint, {"key": "k2", "effect": "NoExecute"}]),
        node(labels={"disk": "ssd"}),
        node(labels={ZONE: "z1"}),
        node(labels={ZONE: "z2", HOST: "n"}),
        node(labels={ZONE: "z1", HOST: "n"}),
        node(allocatable={"cpu": "64"}),
        node(allocatable={"cpu": "1500m"}),
        node(allocatable={"pods": "0"}),
        node(allocatable={"example.com/gpu": "2"}),
        node(status={"declaredFeatures": ["UserNamespacesHostNetworkSupport"]}),
    ]
    found = [event(name, "Node", "Add", new=n) for n in nodes for name in NAMES]
    found += [event(name, "Node", "Delete", old=n) for n in nodes[5:8] for name in NAMES]
    for a in nodes:
        for b in nodes:
            if a is not b and (a is nodes[0] or b is nodes[0] or (a in nodes[5:8] and b in nodes[5:8])):
                found += [event(name, "Node", action, a, b) for action in NODE_ACTIONS for name in NAMES]
    return found


def storage_events() -> list[dict]:
    def obj(kind: str, **fields: object) -> dict:
        return {"apiVersion": "storage.k8s.io/v1", "kind": kind, "metadata": {"name": "x"}, **fields}

    def csi_node(count: int | None) -> dict:
        return obj(
            "CSINode",
            spec={
                "drivers": [
                    {"name": "csi.example.com", "nodeID": "n", **({"allocatable": {"count": count}} if count else {})}
                ]
            },
        )

    def capacity(**amounts: str) -> dict:
        return {
            **obj("CSIStorageCapacity", storageClassName="late", **amounts),
            "metadata": {"name": "x", "namespace": "default"},
        }

    late, now = (
        obj("StorageClass", provisioner="p", volumeBindingMode=mode) for mode in ("WaitForFirstConsumer", "Immediate")
    )
    topologies = {**late, "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["z1"]}]}]}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "x"},
        "spec": {"csi": {"driver": "csi.example.com", "volumeHandle": "h"}},
    }
    zoned = {**volume, "metadata": {"name": "x", "labels": {ZONE: "z1"}}}
    migrated = {
        **csi_node(1),
        "metadata": {
            "name": "x",
            "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"},
        },
    }
    has, lacks = obj("CSIDriver", spec={"storageCapacity": True}), obj("CSIDriver", spec={"storageCapacity": False})
    has, lacks = ({**d, "metadata": {"name": "csi.example.com"}} for d in (has, lacks))
    attachment = obj(
        "VolumeAttachment",
        spec={"attacher": "pd.csi.storage.gke.io", "nodeName": "n", "source": {"persistentVolumeName": "x"}},
    )
    inline = obj(
        "VolumeAttachment",
        spec={
            "attacher": "pd.csi.storage.gke.io",
            "nodeName": "n",
            "source": {
                "inlineVolumeSpec": {
                    "csi": {
                        "driver": "pd.csi.storage.gke.io",
                        "volumeHandle": "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/pd",
                    }
                }
            },
        },
    )
    claims = [claim("mine"), claim("other"), claim("mine", "prod"), claim("ephemeral-v")]
    shapes = [
        ("PersistentVolumeClaim", "Add", None, claims),
        ("PersistentVolumeClaim", "Update", claims, claims),
        ("PersistentVolume", "Add", None, [volume, zoned]),
        ("PersistentVolume", "Update", [volume, zoned, volume], [zoned, volume, volume]),
        ("StorageClass", "Add", None, [late, now]),
        ("StorageClass", "Update", [late, topologies, late], [topologies, topologies, now]),
        ("CSINode", "Add", None, [csi_node(1)]),
        (
            "CSINode",
            "Update",
            [csi_node(1), csi_node(2), csi_node(None), csi_node(1)],
            [csi_node(2), csi_node(1), csi_node(1), migrated],
        ),
        ("CSIDriver", "Update", [has, lacks, has], [lacks, has, has]),
        ("CSIStorageCapacity", "Add", None, [capacity()]),
        (
            "CSIStorageCapacity",
            "Update",
            [
                capacity(),
                capacity(capacity="1Gi"),
                capacity(capacity="3Gi"),
                capacity(capacity="1Gi"),
                capacity(capacity="1Gi", maximumVolumeSize="1Gi"),
            ],
            [
                capacity(capacity="1Gi"),
                capacity(capacity="2Gi"),
                capacity(capacity="2Gi"),
                capacity(),
                capacity(capacity="1Gi", maximumVolumeSize="2Gi"),
            ],
        ),
        ("VolumeAttachment", "Delete", [attachment, inline], None),
    ]
    found = []
    for kind, action, olds, news in shapes:
        resource = f"storage.k8s.io/{kind}" if kind.startswith(("CSI", "Storage", "Volume")) else kind
        for i in range(len(olds or news)):
            old, new = (objects[i] if objects else None for objects in (olds, news))
            found += [event(name, resource, action, old, new) for name in NAMES]
    return found


def event(target: str, resource: str, action: str, old: dict | None = None, new: dict | None = None) -> dict:
    fields = {"pod": f"default/{target}", "resource": resource, "action": action, "old": old, "new": new}
    return {key: value for key, value in fields.items() if value is not None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n, "labels": {"team": t}}}
        for n, t in (("default", "blue"), ("prod", "red"))
    ]
    snapshot = {"apiVersion": "v1", "kind": "List", "items": [*namespaces, node(), *PENDING]}
    events = [*pod_events(), *pod_updates(), *node_events(), *storage_events()]
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "snapshot.json"), Path(folder, "events.json")
        for path, content in zip(files, (snapshot, events), strict=True):
            path.write_text(json.dumps(content))
        answers = lines([options.oracle, "hints", "-events", str(files[1]), str(files[0])])
    for e, answer in zip(events, answers, strict=True):
        e["hints"] = answer["hints"]
    told = [e for e in events if e["hints"]]
    write_case(options.out, {"version": VERSION, "snapshot": snapshot, "events": told})


if __name__ == "__main__":
    main()
