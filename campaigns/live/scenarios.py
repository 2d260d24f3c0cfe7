"""Random scripts of cluster events, to be played to a scheduler one step at a time."""

import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from campaigns.live.volumes import HOST, Step, Volumes, create, if_there
from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.integration.api_client import ApiClient, ApiError

ZONE = "topology.kubernetes.io/zone"
ZONES = ("a", "b", "c")
APPS = ("web", "db", "cache")
BANDS = (("low", 1_000), ("low", 1_000), ("middle", 20_000), ("high", 300_000), ("polite", 400_000))
PATIENCE_SECONDS = 8.0


class Script:
    """The steps of one seed; every second seed has volumes.

    Args:
        is_large: whether it has more nodes than kube-scheduler looks at for a pod.
    """

    def __init__(self, seed: int, *, is_large: bool = False) -> None:
        self._random = Random(seed)
        self._is_large = is_large
        self._volumes = Volumes(self._random) if seed % 2 else None
        self._n_nodes = 0
        self.pods: list[str] = []
        self._alive: list[str] = []
        self._gated: list[str] = []
        self._nodes: list[str] = []

    def setup(self) -> Iterator[Step]:
        """The steps before the first pod, in order."""
        random = self._random
        for app in APPS[:2]:
            yield create("Service", app, spec={"selector": {"app": app}, "ports": [{"port": 80}]})
        for _ in range(random.randrange(*((120, 350) if self._is_large else (3, 9)))):
            yield from self._add_node()
        if random.random() < 0.5:
            yield self._budget()
        if self._volumes:
            yield from self._volumes.classes()

    def steps(self) -> Iterator[Step]:
        """The steps after these, in order; each is made from what the ones before it made."""
        kinds = self._kinds()
        for _ in range(self._random.randrange(14, 30)):
            yield from self._random.choice(kinds)()

    def _kinds(self) -> tuple[Callable[[], list[Step]], ...]:
        """The kinds of steps, as often as they are likely."""
        rare = (
            self._delete_pod,
            self._delete_pod,
            self._add_node,
            self._delete_node,
            self._taint,
            self._cordon,
            self._grow,
            self._ungate,
            self._relabel,
        )
        if not self._volumes:
            return (self._add_pod,) * 14 + rare
        volumes = self._volumes
        with_volumes = (
            *(lambda: volumes.add_volume(self._nodes),) * 2,
            *(volumes.provision,) * 8,
            volumes.add_missing_claim,
            volumes.delete_claim,
            volumes.give_up,
        )
        return (self._add_pod,) * 18 + rare + with_volumes

    # --- nodes ---

    def _add_node(self) -> list[Step]:
        random = self._random
        name = f"node-{self._n_nodes}"
        self._n_nodes += 1
        self._nodes.append(name)
        node = make_node(
            name,
            zone=random.choice(ZONES) if random.random() < 0.9 else "",
            labels={"disk": random.choice(("ssd", "hdd"))},
            allocatable=self._room(),
            taints=["dedicated=red:NoSchedule"] if random.random() < 0.15 else [],
        )
        made: list[Step] = [(f"create Node {name}", lambda client: client.create(node))]
        return made + (self._volumes.csi_node(name) if self._volumes else [])

    def _room(self) -> dict[str, str]:
        random = self._random
        return {
            "cpu": str(random.choice((1, 2, 4))),
            "memory": f"{random.choice((2, 4, 8))}Gi",
            "pods": str(random.choice((3, 10, 110))),
        }

    def _delete_node(self) -> list[Step]:
        if len(self._nodes) < 3:
            return []
        name = self._nodes.pop(self._random.randrange(len(self._nodes)))
        return [(f"delete node {name}", lambda client: client.delete("Node", name))]

    def _taint(self) -> list[Step]:
        name, random = self._random.choice(self._nodes), self._random
        taints = random.choice(([], [{"key": "dedicated", "value": "red", "effect": "NoSchedule"}]))
        return [(f"taint {name} {taints}", lambda client: client.patch("Node", name, {"spec": {"taints": taints}}))]

    def _cordon(self) -> list[Step]:
        name, is_off = self._random.choice(self._nodes), self._random.random() < 0.5
        return [
            (f"cordon {name} {is_off}", lambda client: client.patch("Node", name, {"spec": {"unschedulable": is_off}}))
        ]

    def _grow(self) -> list[Step]:
        name, cores = self._random.choice(self._nodes), str(self._random.choice((2, 4, 8)))
        changes = {"status": {"allocatable": {"cpu": cores}, "capacity": {"cpu": cores}}}
        return [(f"{name} has {cores} cores", lambda client: client.patch("Node", name, changes, part="status"))]

    # --- pods ---

    def _add_pod(self) -> list[Step]:
        random = self._random
        name = f"pod-{len(self.pods)}"
        app = random.choice(APPS)
        spec: dict[str, Any] = {"terminationGracePeriodSeconds": 0, "affinity": self._affinity(app), **self._also()}
        band, value = random.choice(BANDS)
        # every pod has a priority of its own: of nodes that cost preemption the same, kube-scheduler takes any
        priority_class = self._priority_class(f"{band}-{name}", value + len(self.pods), band)
        spec.update(priorityClassName=priority_class.name, priority=value + len(self.pods))
        if band == "polite":
            spec["preemptionPolicy"] = "Never"
        if random.random() < 0.25:
            spec["topologySpreadConstraints"] = [self._constraint(app)]
        if random.random() < 0.1:
            spec["schedulingGates"] = [{"name": "example.com/wait"}]
            self._gated.append(name)
        claims: list[Step] = []
        if self._volumes and random.random() < 0.6:
            claims, spec["volumes"] = self._volumes.claims_for(name, self._nodes)
        pod = make_pod(
            name,
            labels={"app": app},
            requests={
                "cpu": random.choice(("100m", "300m", "700m", "1500m", "9")),
                "memory": random.choice(("64Mi", "512Mi", "1536Mi")),
            },
            tolerations=[{"key": "dedicated", "operator": "Exists"}] if random.random() < 0.2 else [],
            node_selector={"disk": random.choice(("ssd", "hdd"))} if random.random() < 0.15 else {},
            host_ports=[8080] if random.random() < 0.1 else [],
            spec=spec,
        )
        self.pods.append(name)
        self._alive.append(name)
        return [*claims, (f"create Pod {name}", lambda client: _create_with_class(client, priority_class, pod))]

    def _also(self) -> dict[str, Any]:
        """Further fields of a pod's spec."""
        return {}

    @staticmethod
    def _priority_class(name: str, value: int, band: str) -> KubeObject:
        policy = "Never" if band == "polite" else "PreemptLowerPriority"
        return make_object("PriorityClass", name, value=value, preemptionPolicy=policy)

    def _affinity(self, app: str) -> dict[str, Any]:
        random, made = self._random, {}
        near = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": random.choice((HOST, ZONE))}
        if random.random() < 0.3:
            kind = random.choice(("podAffinity", "podAntiAffinity"))
            required = {"requiredDuringSchedulingIgnoredDuringExecution": [near]}
            preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": near}]}
            made[kind] = random.choice((required, preferred))
        return made

    def _constraint(self, app: str) -> dict[str, Any]:
        return {
            "maxSkew": self._random.choice((1, 2)),
            "topologyKey": self._random.choice((HOST, ZONE)),
            "whenUnsatisfiable": self._random.choice(("DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": {"matchLabels": {"app": app}},
        }

    def _delete_pod(self) -> list[Step]:
        if not self._alive:
            return []
        name = self._alive.pop(self._random.randrange(len(self._alive)))
        return [(f"delete pod {name}", lambda client: if_there(client.delete, "Pod", name))]

    def _ungate(self) -> list[Step]:
        if not self._gated:
            return []
        name = self._gated.pop()
        return [
            (f"ungate {name}", lambda client: if_there(client.patch, "Pod", name, {"spec": {"schedulingGates": []}}))
        ]

    def _relabel(self) -> list[Step]:
        if not self._alive:
            return []
        name, app = self._random.choice(self._alive), self._random.choice(APPS)
        changes = {"metadata": {"labels": {"app": app}}}
        return [(f"{name} is {app} now", lambda client: if_there(client.patch, "Pod", name, changes))]

    def _budget(self) -> Step:
        app = self._random.choice(APPS)
        spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}
        return create("PodDisruptionBudget", f"{app}-budget", spec=spec)


def _create_with_class(client: ApiClient, priority_class: KubeObject, pod: KubeObject) -> None:
    """Create a pod of a priority class that the API server may not have noticed yet."""
    client.create(priority_class)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            client.create(pod)
            return
        except ApiError as error:
            if "no PriorityClass" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
