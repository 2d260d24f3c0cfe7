"""A cluster whose objects come, change and go at random, and what a fresh load of the same objects would hold.

The objects come from the generator of recorded snapshots. `Walk` is driven by numbers, so that Hypothesis can shrink
what it finds: each step takes one and picks from what there is.
"""

import copy
import random
from collections.abc import Iterator
from itertools import count

import msgspec

from campaigns.oracle import more
from campaigns.oracle.generate import APPS, GROUPS, TEAMS, ZONES, Maker
from kubesched.api import EventType, KubeObject, Pod, WatchEvent, decode_object
from kubesched.state import ClusterState
from tests.properties.device_objects import device_objects

Features = tuple[str, ...]

GHOST = "ghost"  # a node that never comes
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def generated(
    seed: int,
    *,
    nodes: int = 6,
    bound: int = 14,
    pending: int = 3,
    groups: tuple[str, ...] = GROUPS,
    features: Features = (),
) -> list[dict]:
    """The objects of a small random snapshot."""
    maker = Maker(seed, groups)
    namespaces = (("default", "blue"), ("prod", "red"))
    items = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": team}}}
        for name, team in namespaces
    ]
    made = [maker.node(i) for i in range(nodes)]
    items += [*made, *(service(app) for app in APPS[:2])]
    if "volumes" in groups:
        items += [*maker.volumes(), *(csi_node(node, maker.r) for node in made)]
    items += [maker.pod(i, maker.r.choice(made)["metadata"]["name"]) for i in range(bound)]
    items += [maker.pod(i) for i in range(pending)]
    if "devices" in features:
        items += device_objects((node["metadata"]["name"] for node in made), maker.r)
    rarer = tuple(name for name in features if name != "devices")
    return more.enrich(items, seed, rarer) if rarer else items


def service(app: str) -> dict:
    metadata = {"name": f"svc-{app}", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": {"app": app}}}


def csi_node(node: dict, r: random.Random) -> dict:
    name = node["metadata"]["name"]
    driver = {"name": "csi.example.com", "nodeID": name, "allocatable": {"count": r.choice([1, 2, 8])}}
    metadata = {"name": name}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": {"drivers": [driver]}}


def read(document: dict) -> KubeObject:
    return decode_object(document["kind"], msgspec.json.encode(document))


class Walk:
    """A cluster state and, beside it, the plain list of what it should know.

    Attributes:
        state: the cluster state under test.
        nodes, pods, others: the documents that the API server has, by key; pods that are bound or pending.
        assumed: uid -> node of pods that were assumed and not confirmed.
        pending: pods without a node.
    """

    def __init__(self, seed: int, features: tuple[str, ...] = ()) -> None:
        self.cluster_state = ClusterState()
        self.nodes: dict[str, dict] = {}
        self.pods: dict[str, dict] = {}
        self.others: dict[tuple[str, str], dict] = {}
        self.assumed: dict[str, str] = {}
        self._pod_numbers = count(1000)  # two steps of one number must not make one pod twice
        pool = generated(seed, features=features)
        self._node_pool = [item for item in pool if item["kind"] == "Node"]
        self._pod_pool = [item for item in pool if item["kind"] == "Pod"]
        self._other_pool = [item for item in pool if item["kind"] not in ("Node", "Pod")]
        for item in pool:
            self._put(item)

    # --- steps ---

    STEPS = (  # what makes the cluster grow stands more than once
        *("add_node", "add_node", "change_node", "remove_node"),
        *("add_pod", "add_pod", "add_pod", "add_pending_pod", "change_pod", "recreate_pod", "finish_pod", "remove_pod"),
        *("add_pending_pod", "assume", "assume", "forget", "confirm", "confirm_elsewhere"),
        *("put_other", "remove_other"),
    )

    def step(self, name: str, number: int) -> None:
        """Do one thing; nothing where there is nothing to do it to."""
        getattr(self, f"_{name}")(random.Random(number))

    def _add_node(self, r: random.Random) -> None:
        node = copy.deepcopy(r.choice(self._node_pool))
        name = node["metadata"]["name"] = r.choice([f"node-{i:04d}" for i in range(8)])
        node["metadata"].setdefault("labels", {})[HOST] = name
        if name not in self.nodes:
            self._put(node)

    def _change_node(self, r: random.Random) -> None:
        if not self.nodes:
            return
        node = copy.deepcopy(r.choice(list(self.nodes.values())))
        other = r.choice(self._node_pool)
        for change in r.sample(("labels", "zone", "taints", "allocatable", "images", "features", "same"), 2):
            if change == "labels":
                node["metadata"]["labels"] = {**other["metadata"]["labels"], HOST: node["metadata"]["name"]}
            elif change == "zone":
                node["metadata"]["labels"][ZONE] = r.choice([*ZONES, ""])
            elif change == "taints":
                node["spec"] = other["spec"]
            elif change == "allocatable":
                node["status"]["allocatable"] = {**other["status"]["allocatable"], "pods": r.choice(["1", "30"])}
            elif change == "images":
                node["status"]["images"] = other["status"].get("images")
            elif change == "features":
                node["status"]["declaredFeatures"] = r.sample(["A", "B", "UserNamespacesHostNetworkSupport"], 2)
        self._put(node)

    def _remove_node(self, r: random.Random) -> None:
        if self.nodes:
            self._remove(r.choice(list(self.nodes.values())))

    def _add_pod(self, r: random.Random) -> None:
        self._put(self._new_pod(r, self._some_node(r)))

    def _add_pending_pod(self, r: random.Random) -> None:
        self._put(self._new_pod(r, ""))

    def _change_pod(self, r: random.Random) -> None:
        pods = [pod for pod in self.pods.values() if pod["metadata"]["uid"] not in self.assumed]
        if not pods:
            return
        pod = copy.deepcopy(r.choice(pods))
        change = r.choice(("labels", "terminating", "requests", "spec"))
        other = r.choice(self._pod_pool)
        if change == "labels":
            pod["metadata"]["labels"] = {"app": r.choice(APPS), "team": r.choice(TEAMS)}
        elif change == "terminating":
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        elif change == "requests":
            pod["spec"]["containers"] = other["spec"]["containers"]
        else:
            pod["spec"] = {**other["spec"], "nodeName": pod["spec"].get("nodeName", "")}
        self._put(pod)

    def _recreate_pod(self, r: random.Random) -> None:
        """A pod of the same name without word of the deletion of the earlier one."""
        pods = [pod for pod in self.pods.values() if pod["metadata"]["uid"] not in self.assumed]
        if pods:
            old = r.choice(pods)
            new = self._new_pod(r, self._some_node(r))
            new["metadata"] |= {key: old["metadata"][key] for key in ("name", "namespace")}
            self._put(new)

    def _finish_pod(self, r: random.Random) -> None:
        if self.pods:
            pod = copy.deepcopy(r.choice(list(self.pods.values())))
            pod["status"]["phase"] = r.choice(["Succeeded", "Failed"])
            self.cluster_state.apply(WatchEvent(EventType.MODIFIED, "Pod", read(pod)))
            self._forget_pod(pod)

    def _remove_pod(self, r: random.Random) -> None:
        if self.pods:
            pod = r.choice(list(self.pods.values()))
            self._remove(pod)

    def _assume(self, r: random.Random) -> None:
        waiting = [pod for pod in self.pending if pod["metadata"]["uid"] not in self.assumed]
        if waiting:
            pod, node = r.choice(waiting), self._some_node(r)
            self.cluster_state.assume(self.cluster_state.pod_info(as_pod(pod)), node)
            self.assumed[pod["metadata"]["uid"]] = node

    def _forget(self, r: random.Random) -> None:
        if self.assumed:
            uid = r.choice(sorted(self.assumed))
            self.cluster_state.forget(as_pod(self._by_uid(uid)))
            del self.assumed[uid]

    def _confirm(self, r: random.Random) -> None:
        if self.assumed:
            uid = r.choice(sorted(self.assumed))
            self._bind(uid, self.assumed[uid])

    def _confirm_elsewhere(self, r: random.Random) -> None:
        if self.assumed:
            self._bind(r.choice(sorted(self.assumed)), self._some_node(r))

    def _put_other(self, r: random.Random) -> None:
        item = copy.deepcopy(r.choice(self._other_pool))
        if item["kind"] == "Namespace":
            item["metadata"]["labels"] = {"team": r.choice(TEAMS)}
        self._put(item)

    def _remove_other(self, r: random.Random) -> None:
        if self.others:
            self._remove(r.choice(list(self.others.values())))

    # --- what the steps are made of ---

    def _some_node(self, r: random.Random) -> str:
        return r.choice([*(self.nodes or [GHOST]), *(self.nodes or [GHOST]), GHOST, "node-0007"])

    def _new_pod(self, r: random.Random, node: str) -> dict:
        pod = copy.deepcopy(r.choice(self._pod_pool))
        number = next(self._pod_numbers)
        pod["metadata"] |= {"name": f"pod-{number}", "uid": f"u-{number}"}
        pod["spec"]["nodeName"] = node
        return pod

    def _bind(self, uid: str, node: str) -> None:
        pod = copy.deepcopy(self._by_uid(uid))
        pod["spec"]["nodeName"] = node
        del self.assumed[uid]
        self._put(pod)

    def _put(self, item: dict) -> None:
        known = self._table(item)
        kind = EventType.MODIFIED if key_of(item) in known else EventType.ADDED
        self.cluster_state.apply(WatchEvent(kind, item["kind"], read(item)))
        known[key_of(item)] = item

    def _remove(self, item: dict) -> None:
        self.cluster_state.apply(WatchEvent(EventType.DELETED, item["kind"], read(item)))
        self._table(item).pop(key_of(item))
        if item["kind"] == "Pod":
            self.assumed.pop(item["metadata"]["uid"], None)

    def _forget_pod(self, pod: dict) -> None:
        del self.pods[key_of(pod)]
        self.assumed.pop(pod["metadata"]["uid"], None)

    def _table(self, item: dict) -> dict:
        return {"Node": self.nodes, "Pod": self.pods}.get(item["kind"], self.others)

    def _by_uid(self, uid: str) -> dict:
        return next(pod for pod in self.pods.values() if pod["metadata"]["uid"] == uid)

    @property
    def pending(self) -> list[dict]:
        return [pod for pod in self.pods.values() if not pod["spec"].get("nodeName")]

    # --- the same objects, loaded anew ---

    def items(self) -> Iterator[dict]:
        """Every object in an order that has nothing to do with the walk; assumed pods stand on their nodes."""
        yield from (self.others[key] for key in sorted(self.others))
        yield from (self.nodes[key] for key in sorted(self.nodes))
        for key in sorted(self.pods):
            pod = self.pods[key]
            node = self.assumed.get(pod["metadata"]["uid"], pod["spec"].get("nodeName", ""))
            yield {**pod, "spec": {**pod["spec"], "nodeName": node}}

    def fresh(self) -> ClusterState:
        """A state that was given the same objects and nothing else."""
        cluster_state = ClusterState()
        cluster_state.load([(item["kind"], read(item)) for item in self.items()])
        return cluster_state


def key_of(item: dict) -> object:
    metadata = item["metadata"]
    key = f"{metadata.get('namespace', '')}/{metadata['name']}"
    return key if item["kind"] == "Pod" else metadata["name"] if item["kind"] == "Node" else (item["kind"], key)


def as_pod(document: dict) -> Pod:
    found = read(document)
    assert isinstance(found, Pod)
    return found
