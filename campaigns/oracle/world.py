"""A generated snapshot that can still be changed: what the features of `--more` work on."""

import random


class World:
    """The objects of a snapshot, and one feature's own source of chance.

    Every feature draws from its own generator, so that what one adds does not depend on which others are on.
    """

    def __init__(self, items: list[dict], seed: int, boost: float = 1.0):
        self.items, self.seed, self.boost = items, seed, boost
        self.r = random.Random(seed)

    def begin(self, feature: str) -> None:
        self.r = random.Random(f"{self.seed} {feature}")

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def some(self, objects: list[dict], share: float) -> list[dict]:
        """A random part of the objects; the share is boosted where few features share a snapshot."""
        share = min(0.9, share * self.boost)
        return [obj for obj in objects if self.r.random() < share]

    def kind(self, kind: str) -> list[dict]:
        return [obj for obj in self.items if obj["kind"] == kind]

    @property
    def nodes(self) -> list[dict]:
        return self.kind("Node")

    @property
    def pods(self) -> list[dict]:
        return self.kind("Pod")

    @property
    def bound(self) -> list[dict]:
        return [pod for pod in self.pods if pod["spec"].get("nodeName")]

    @property
    def pending(self) -> list[dict]:
        return [pod for pod in self.pods if not pod["spec"].get("nodeName")]

    def node_names(self) -> list[str]:
        return [node["metadata"]["name"] for node in self.nodes]

    def add(self, api_version: str, kind: str, name: str, namespace: str = "", **fields: object) -> dict:
        """Put a new object in front of the pods; `metadata` among the fields is merged."""
        metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
        obj = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
        self.items.insert(0, obj)
        return obj

    def csi_node(self, name: str) -> dict:
        """The CSINode of a node, made if it has none."""
        for obj in self.kind("CSINode"):
            if obj["metadata"]["name"] == name:
                return obj
        return self.add("storage.k8s.io/v1", "CSINode", name, spec={"drivers": []})


def containers_of(pod: dict) -> list[dict]:
    return [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]


def requests_of(container: dict) -> dict:
    return container.setdefault("resources", {}).setdefault("requests", {})


def add_volume(pod: dict, **source: object) -> str:
    """Give the pod one more volume, and return the volume's name."""
    volumes = pod["spec"].setdefault("volumes", [])
    name = f"more{len(volumes)}"
    volumes.append({"name": name, **source})
    return name


def add_claim(pod: dict, claim: str) -> None:
    """Give the pod a claim of its namespace; claims are made in `default` and `prod` only."""
    if namespace_of(pod) in ("default", "prod"):
        add_volume(pod, persistentVolumeClaim={"claimName": claim})


def namespace_of(obj: dict) -> str:
    return obj["metadata"].get("namespace", "default")
