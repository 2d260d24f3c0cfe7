#!/usr/bin/env python3
"""Write a random cluster with devices, resource claims and pods that wait for them, as a v1 List.

    python -m campaigns.devices.generate --seed 7 [--nodes 8] [--bound 12] [--pending 25] > snapshot.json

The same arguments always give the same snapshot. A seed turns on some of the features below; objects have what an API
server would have filled in.
"""

import argparse
import json
import random
import sys
from typing import Any

GPU, NIC, MIG, FABRIC = "gpu.example.com", "nic.example.com", "mig.example.com", "fabric.example.com"
CARD = "card.example.com"
GPUS, HOST, ZONE = "example.com/gpu", "kubernetes.io/hostname", "topology.kubernetes.io/zone"
API, SINCE = "resource.k8s.io/v1", "2026-01-01T00:00:00Z"
GUARD, SPECIAL = "resource.kubernetes.io/delete-protection", "resource.kubernetes.io/extended-resource-claim"
FEATURES = (
    "shared",
    "partitions",
    "network",
    "taints",
    "defects",
    "conditions",
    "alternatives",
    "all",
    "admin",
    "constraints",
)
FURTHER = ("classes", "implicit", "left-over", "pressure", "twins", "beside-plugins", "templates")
LATEST = ("spread", "held-shares", "both-ways")
Object = dict[str, Any]


def thing(
    kind: str, name: str, spec: Object | None = None, namespace: str = "", api: str = API, **metadata: Any
) -> Object:
    meta = {"name": name, "uid": f"{kind}-{namespace}-{name}", "creationTimestamp": SINCE, **metadata}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": meta} | ({} if spec is None else {"spec": spec})


def expressions(*texts: str) -> list[Object]:
    return [{"cel": {"expression": text}} for text in texts]


def only_on(node: str) -> Object:
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}


class World:
    """The objects of one snapshot while they are made.

    Attributes:
        free: by node, (driver, pool, device) of whole devices that nobody has.
        plugged: nodes with a device plugin for GPUS.
    """

    def __init__(self, seed: int, n_nodes: int) -> None:
        self.r = random.Random(f"devices {seed}")
        on = set(self.r.sample(FEATURES, self.r.randrange(len(FEATURES) + 1)))
        self.on = on | set(self.r.sample(FURTHER, self.r.randrange(1, len(FURTHER) + 1)))
        self.on |= {feature for feature in LATEST if random.Random(f"{feature} {seed}").random() < 0.4}
        self.items: list[Object] = []
        self.names = [f"node-{i}" for i in range(n_nodes)]
        self.free: dict[str, list[tuple[str, str, str]]] = {name: [] for name in self.names}
        self.cards: list[tuple[str, Object]] = []  # node and device
        self.plugged: set[str] = set()
        self.waiting: list[str] = []  # names of claims that nobody has allocated, all in `default`

    def maybe(self, feature: str, chance: float = 1.0) -> bool:
        return feature in self.on and self.r.random() < chance

    def add(self, *things: Object) -> None:
        self.items += things

    # --- nodes, classes, devices ---

    def nodes(self) -> None:
        for name in self.names:
            cpu = "2" if self.maybe("pressure", 0.7) else self.r.choice(["4", "8"])
            room = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
            if self.maybe("beside-plugins", 0.35) or self.maybe("both-ways", 0.4):
                room[GPUS] = self.r.choice(["0", "1", "3"])
                if room[GPUS] != "0":
                    self.plugged.add(name)
            node = thing("Node", name, {}, api="v1", labels={HOST: name, ZONE: self.r.choice("ab")})
            self.add(node | {"status": {"capacity": room, "allocatable": room}})
            if name not in self.plugged or self.r.random() < (0.8 if "both-ways" in self.on else 0.2):
                self.gpus(name)
            if self.maybe("shared", 0.6):
                self.nics(name)
            if self.maybe("partitions", 0.5):
                self.partitions(name)
        if "network" in self.on:
            self.network()
        if "spread" in self.on:
            self.spread()

    def classes(self) -> None:
        config = {"opaque": {"driver": GPU, "parameters": {"level": 1}}}
        of_gpus = expressions(f'device.driver == "{GPU}"')
        self.add(thing("DeviceClass", "gpu", {"selectors": of_gpus, "config": [config], "extendedResourceName": GPUS}))
        self.add(thing("DeviceClass", "any", {}))
        for name, driver in (("nic", NIC), ("mig", MIG), ("fabric", FABRIC), ("card", CARD)):
            self.add(thing("DeviceClass", name, {"selectors": expressions(f'device.driver == "{driver}"')}))
        if "classes" in self.on:  # one name for several: the newest wins, and the first by name among equals
            for name in self.r.sample(["a-gpu", "z-gpu", "m-gpu"], 2):
                model = self.r.choice(["H100", "L4"])
                spec = {"selectors": [*of_gpus, *expressions(f'device.attributes["{GPU}"].model == "{model}"')]}
                since = self.r.choice([SINCE, "2025-06-01T00:00:00Z", "2026-02-01T00:00:00Z"])
                self.add(thing("DeviceClass", name, {**spec, "extendedResourceName": GPUS}, creationTimestamp=since))

    def slice_of(self, name: str, driver: str, pool: str, node: str = "", count: int = 1, **spec: Any) -> Object:
        where = {"nodeName": node} if node else {}
        pool_of = {"name": pool, "generation": spec.pop("generation", 1), "resourceSliceCount": count}
        return thing("ResourceSlice", name, {"driver": driver, "pool": pool_of, **where, **spec})

    def gpus(self, node: str) -> None:
        model = self.r.choice(["H100", "L4", "A100"])
        devices = [self.gpu(node, i, model) for i in range(self.r.choice([1, 2, 4, 8]))]
        half = len(devices) // 2
        lists = [devices[:half], devices[half:]] if half and self.r.random() < 0.3 else [devices]
        count = len(lists)
        if self.maybe("defects", 0.25):
            kind = self.r.choice(["incomplete", "twice", "older"])
            if kind == "incomplete":
                count += 1
                lists[-1] += [dict(devices[0])] * self.maybe("spread", 0.5)
            elif kind == "twice":
                lists[-1].append(dict(devices[0]))
            else:
                old = [self.gpu(node, 90, "L4")]
                self.add(self.slice_of(f"{node}-old", GPU, node, node, 1, devices=old, generation=0))
        for i, part in enumerate(lists):
            self.add(self.slice_of(f"{node}-gpu-{i}", GPU, node, node, count, devices=part))
        plain = (one for one in devices if "taints" not in one and "bindingConditions" not in one)
        self.free[node] += [(GPU, node, one["name"]) for one in plain]

    def gpu(self, node: str, i: int, model: str) -> Object:
        attributes: Object = {
            "uuid": {"string": f"GPU-{node}-{i}"},
            "pciBusID": {"string": f"0000:{i:02x}:00.0"},
            "model": {"string": model},
            "index": {"int": i},
            "numa": {"int": i // 2},
            "driverVersion": {"version": self.r.choice(["1.2.3", "1.3.0", "2.0.0-rc.1"])},
        }
        if self.r.random() < 0.08:
            del attributes["numa"]
        memory = {"H100": "80Gi", "A100": "40Gi", "L4": "24Gi"}[model]
        device = {"name": f"gpu-{i}", "attributes": attributes, "capacity": {"memory": {"value": memory}}}
        if self.maybe("taints", 0.2):
            effect = self.r.choice(["NoSchedule", "NoExecute", "None"])
            device["taints"] = [{"key": "sick", "value": "yes", "effect": effect, "timeAdded": SINCE}]
        if self.maybe("conditions", 0.15):
            device |= {"bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}
            device |= {"bindsToNode": True} if self.r.random() < 0.5 else {}
        return device

    def nics(self, node: str) -> None:
        policies = [None, {"default": "1G"}, {"default": "1G", "validValues": ["1G", "4G", "8G"]}]
        policies.append({"default": "1G", "validRange": {"min": "1G", "max": "8G", "step": "500M"}})
        policies.append({"default": "2G", "validRange": {"min": "500M"}})
        devices = []
        for i in range(self.r.choice([1, 2])):
            policy = self.r.choice(policies)
            bandwidth = {"value": "10G"} | ({"requestPolicy": policy} if policy else {})
            devices.append({"name": f"nic-{i}", "allowMultipleAllocations": True, "capacity": {"bandwidth": bandwidth}})
        self.add(self.slice_of(f"{node}-nic", NIC, node, node, devices=devices))

    def partitions(self, node: str) -> None:
        def amounts(memory: str, engines: str) -> Object:
            return {"memory": {"value": memory}, "engines": {"value": engines}}

        sizes = [(1, "5Gi"), (1, "5Gi"), (3, "20Gi"), (4, "20Gi"), (7, "40Gi")]
        self.r.shuffle(sizes)
        devices = [
            {
                "name": f"part-{i}",
                "attributes": {"engines": {"int": engines}, "uuid": {"string": f"MIG-{node}-{i}"}},
                "consumesCounters": [
                    {
                        "counterSet": "card",
                        "counters": {"memory": {"value": memory}, "engines": {"value": str(engines)}},
                    }
                ],
            }
            for i, (engines, memory) in enumerate(sizes)
        ]
        shared = [{"name": "card", "counters": amounts("40Gi", "7")}]
        self.add(self.slice_of(f"{node}-mig-0", MIG, node, node, 2, sharedCounters=shared))
        self.add(self.slice_of(f"{node}-mig-1", MIG, node, node, 2, devices=devices))

    def network(self) -> None:
        for zone in "ab":
            in_zone = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]}
            devices = [{"name": f"x{i}", "attributes": {"speed": {"int": 10 * i}}} for i in range(2)]
            self.add(self.slice_of(f"fabric-{zone}", FABRIC, f"zone-{zone}", nodeSelector=in_zone, devices=devices))
        self.add(self.slice_of("fabric-all", FABRIC, "all", allNodes=True, devices=[{"name": "any"}]))
        mixed = [{"name": "m0", "nodeName": self.names[0]}, {"name": "m1", "allNodes": True}]
        self.add(self.slice_of("fabric-mixed", FABRIC, "mixed", perDeviceNodeSelection=True, devices=mixed))

    def spread(self) -> None:
        """One pool over several nodes. Its counters count on all of them, whatever node their slice names."""
        r = self.r
        nodes = r.sample(self.names, min(3, len(self.names)))
        count = len(nodes) + 1 + self.maybe("defects", 0.2)
        lanes = [{"name": "card", "counters": {"lanes": {"value": "6"}}}] * (1 + self.maybe("defects", 0.1))
        where = r.choice([{"allNodes": True}, {"nodeName": nodes[0]}])
        self.add(self.slice_of("cards", CARD, "cards", count=count, sharedCounters=lanes, **where))
        for node in nodes:
            prefix = "card" if self.maybe("defects", 0.3) else node
            devices = [self.card(f"{prefix}-{i}") for i in range(r.choice([1, 2, 3]))]
            self.cards += [(node, one) for one in devices]
            if r.random() < 0.3:
                listed = [{**one, "nodeName": node} for one in devices]
                spec = {"perDeviceNodeSelection": True, "devices": listed}
            else:
                spec = {"nodeName": node, "devices": devices}
            self.add(self.slice_of(f"cards-{node}", CARD, "cards", count=count, **spec))

    def card(self, name: str) -> Object:
        """A device that takes lanes of its pool; several claims may share some of them."""
        lanes = {"lanes": {"value": self.r.choice("123")}}
        of_set = "other" if self.maybe("defects", 0.05) else "card"
        card: Object = {"name": name, "consumesCounters": [{"counterSet": of_set, "counters": lanes}]}
        if self.r.random() < 0.5:
            policy = {"requestPolicy": {"default": self.r.choice(["2G", "5G"])}}
            card |= {"allowMultipleAllocations": True, "capacity": {"bandwidth": {"value": "10G"} | policy}}
        return card

    # --- claims ---

    def body(self, *, sub: bool = False) -> Object:
        """What a request or a subrequest asks for."""
        r = self.r
        others = [("nic", "shared"), ("mig", "partitions"), ("fabric", "network"), ("card", "spread")]
        name = r.choice(
            ["gpu", "gpu", "any", *(one for one, feature in others if feature in self.on for _ in range(2))]
            + ["card"] * (3 * ("held-shares" in self.on and "spread" in self.on))
        )
        body = {"deviceClassName": name, "allocationMode": "ExactCount", "count": r.choice([1, 1, 1, 2, 3])}
        if self.maybe("all", 0.25):
            body["allocationMode"] = "All"
            del body["count"]
        if not sub and self.maybe("admin", 0.2):
            body["adminAccess"] = True
        if self.maybe("taints", 0.4):
            body["tolerations"] = [
                r.choice([{"operator": "Exists"}, {"key": "sick", "operator": "Equal", "value": "yes"}])
            ]
        if name == "gpu" and r.random() < 0.5:
            a = f'device.attributes["{GPU}"]'
            tests = [f'{a}.model == "{r.choice(["H100", "L4"])}"', f"{a}.index < {r.choice([2, 4])}"]
            tests += [
                f'device.capacity["{GPU}"].memory.compareTo(quantity("30Gi")) >= 0',
                f"has({a}.numa) && {a}.numa == 0",
            ]
            tests += [f'{a}.driverVersion.isGreaterThan(semver("1.2.3"))', f'{a}.uuid.endsWith("-1")']
            body["selectors"] = expressions(*r.sample(tests, r.choice([1, 2])))
            if r.random() < 0.05:
                body["selectors"] = expressions(f"{a}.numa >= 0")  # fails for devices without it
        if name == "nic" and r.random() < 0.7:
            body["capacity"] = {"requests": {"bandwidth": r.choice(["500M", "1G", "1200M", "3G", "9G"])}}
        return body

    def spec(self) -> Object:
        requests: list[Object] = []
        for i in range(self.r.choice([1, 1, 1, 2, 3])):
            if self.maybe("alternatives", 0.35):
                subs = [{"name": f"s{j}", **self.body(sub=True)} for j in range(self.r.choice([2, 3]))]
                requests.append({"name": f"r{i}", "firstAvailable": subs})
            else:
                requests.append({"name": f"r{i}", "exactly": self.body()})
        devices: Object = {"requests": requests}
        if self.maybe("constraints", 0.5):
            kind = self.r.choice(["matchAttribute", "matchAttribute", "distinctAttribute"])
            constraint: Object = {kind: self.r.choice([f"{GPU}/numa", f"{GPU}/model"])}
            if self.r.random() < 0.3:
                constraint["requests"] = [requests[0]["name"]]
            devices["constraints"] = [constraint]
        if self.r.random() < 0.3:
            devices["config"] = [{"requests": ["r0"], "opaque": {"driver": NIC, "parameters": {"n": 2}}}]
        return {"devices": devices}

    def claim(self, name: str, spec: Object, **metadata: Any) -> Object:
        return {**thing("ResourceClaim", name, spec, "default", **metadata), "status": {}}

    def allocated(self, name: str, node: str, **metadata: Any) -> Object | None:
        """A claim with a free device of a node; None where there is none."""
        if not self.free[node]:
            return None
        driver, pool, device = self.free[node].pop(self.r.randrange(len(self.free[node])))
        request = metadata.pop("request", "r0")
        exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
        claim = self.claim(name, {"devices": {"requests": [{"name": request, "exactly": exactly}]}}, **metadata)
        results = [{"request": request, "driver": driver, "pool": pool, "device": device}]
        allocation = {"devices": {"results": results}, "nodeSelector": only_on(node), "allocationTimestamp": SINCE}
        claim["status"]["allocation"] = allocation
        claim["metadata"]["finalizers"] = [GUARD]
        return claim

    def held_card(self, name: str) -> Object | None:
        """A claim with a card, or with a part of one; None where there is none."""
        if not self.cards:
            return None
        node, card = self.r.choice(self.cards)
        is_part = ("allowMultipleAllocations" in card) is not self.maybe("defects", 0.3)  # the driver has changed it
        if not is_part:
            self.cards.remove((node, card))
        exactly = {"deviceClassName": "card", "allocationMode": "ExactCount", "count": 1}
        result = {"request": "r0", "driver": CARD, "pool": "cards", "device": card["name"]}
        if is_part:
            share = f"00000000-0000-4000-8000-{len(self.items):012d}"
            result |= {"shareID": share, "consumedCapacity": {"bandwidth": self.r.choice(["1G", "4G"])}}
        claim = self.claim(name, {"devices": {"requests": [{"name": "r0", "exactly": exactly}]}}, finalizers=[GUARD])
        allocation = {"devices": {"results": [result]}, "nodeSelector": only_on(node), "allocationTimestamp": SINCE}
        claim["status"]["allocation"] = allocation
        return claim

    # --- pods ---

    def pod(self, name: str, node: str = "", extended: Object | None = None, **spec: Any) -> Object:
        cpu = "1500m" if self.maybe("pressure", 0.6) else self.r.choice(["100m", "500m"])
        container = {"name": "c0", "image": "app", "resources": {"requests": {"cpu": cpu, **(extended or {})}}}
        fields = {"containers": [container], "priority": 0 if node else self.r.choice([0, 10, 100]), **spec}
        fields |= {"nodeName": node} if node else {}
        pod = thing("Pod", name, fields, "default", api="v1")
        return pod | {"status": {"phase": "Running", "startTime": SINCE} if node else {"phase": "Pending"}}

    def use(self, pod: Object, claim: str) -> None:
        entries = pod["spec"].setdefault("resourceClaims", [])
        entries.append({"name": f"e{len(entries)}", "resourceClaimName": claim})

    def reserve(self, claim: Object, pod: Object) -> None:
        meta = pod["metadata"]
        user = {"resource": "pods", "name": meta["name"], "uid": meta["uid"]}
        claim["status"].setdefault("reservedFor", []).append(user)

    def bound(self, i: int) -> None:
        node = self.r.choice(self.names)
        pod, claim = self.pod(f"run-{i}", node), self.allocated(f"claim-run-{i}", node)
        if claim is not None:
            self.use(pod, claim["metadata"]["name"])
            self.reserve(claim, pod)
            self.add(claim)
        held = self.held_card(f"card-run-{i}") if self.maybe("held-shares", 0.6) else None
        if held is not None:
            self.use(pod, held["metadata"]["name"])
            self.reserve(held, pod)
            self.add(held)
        self.add(pod)

    def pending(self, i: int) -> None:
        extended: Object = {}
        if self.r.random() < 0.35:
            name = GPUS
            if self.maybe(
                "implicit", 0.5
            ):  # that of a class whose other name is not its own depends on the order of arrival
                names = ["any", "gone"] if "classes" in self.on else ["gpu", "any", "gone"]
                name = f"deviceclass.resource.kubernetes.io/{self.r.choice(names)}"
            extended[name] = str(self.r.choice([1, 1, 2, 4]))
        pod = self.pod(f"wait-{i}", extended=extended)
        if extended and self.r.random() < 0.3:
            amounts = {next(iter(extended)): str(self.r.choice([1, 3]))}
            init = {"name": "i0", "image": "app", "resources": {"requests": amounts}}
            pod["spec"]["initContainers"] = [init | ({"restartPolicy": "Always"} if self.r.random() < 0.3 else {})]
        if extended and self.maybe("left-over", 0.5):
            self.left_over(pod, i)
        if not extended or self.r.random() < (0.8 if "both-ways" in self.on else 0.3):
            for k in range(self.r.choice([1, 1, 2])):
                self.wanted(pod, f"{i}-{k}")
        self.add(pod)

    def left_over(self, pod: Object, i: int) -> None:
        """A claim that an earlier attempt created, and did not delete."""
        meta = pod["metadata"]
        owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
        metadata = {"annotations": {SPECIAL: "true"}, "ownerReferences": [owner]}
        name = f"wait-{i}-extended-resources-x"
        claim = self.allocated(name, self.r.choice(self.names), **metadata) if self.r.random() < 0.5 else None
        self.add(claim or self.claim(name, self.spec(), **metadata))

    def wanted(self, pod: Object, name: str) -> None:
        """Another claim for a pod that waits."""
        way = self.r.random()
        if self.maybe("pressure", 0.5) or way < 0.15:  # it has a device where the pod may not run
            node = self.r.choice(self.names)
            claim = self.allocated(f"claim-{name}", node)
            if claim is not None:
                if self.r.random() < 0.5:
                    pod["spec"]["nodeSelector"] = {HOST: self.r.choice(self.names)}
                if self.r.random() < 0.3:
                    self.reserve(claim, pod if self.r.random() < 0.5 else self.pod("other"))
                self.add(claim)
                self.use(pod, claim["metadata"]["name"])
                return
        if self.maybe("templates", 0.4):
            self.from_template(pod, name)
        elif self.waiting and way < 0.3:
            self.use(pod, self.r.choice(self.waiting))
        else:
            claim = self.claim(f"claim-{name}", self.spec())
            self.add(claim)
            self.waiting.append(claim["metadata"]["name"])
            self.use(pod, claim["metadata"]["name"])
            if self.maybe("twins", 0.2):
                self.use(pod, claim["metadata"]["name"])

    def from_template(self, pod: Object, name: str) -> None:
        meta, entry = pod["metadata"], f"t{name}"
        pod["spec"].setdefault("resourceClaims", []).append({"name": entry, "resourceClaimTemplateName": "tmpl"})
        way = self.r.random()
        if way < 0.1:
            return  # the controller has not created it yet
        owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
        owners = {"ownerReferences": [owner]} if way < 0.9 else {}
        claim = self.claim(f"{meta['name']}-{entry}", self.spec(), **owners)
        self.add(claim)
        made = {"name": entry, "resourceClaimName": claim["metadata"]["name"]}
        pod["status"].setdefault("resourceClaimStatuses", []).append(made)


def snapshot(seed: int, n_nodes: int, n_bound: int, n_pending: int) -> Object:
    """The List of one seed."""
    world = World(seed, n_nodes)
    world.add(thing("Namespace", "default", api="v1", labels={"resource.kubernetes.io/admin-access": "true"}))
    world.classes()
    world.nodes()
    for i in range(n_bound):
        world.bound(i)
    for i in range(n_pending):
        world.pending(i)
    return {"apiVersion": "v1", "kind": "List", "items": world.items}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--nodes", type=int, default=8)
    p.add_argument("--bound", type=int, default=12)
    p.add_argument("--pending", type=int, default=25)
    a = p.parse_args()
    json.dump(snapshot(a.seed, a.nodes, a.bound, a.pending), sys.stdout)


if __name__ == "__main__":
    main()
