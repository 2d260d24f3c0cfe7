"""The claims and volumes of a random script, and the controllers that bind and provision them, one step at a time.

Sizes of volumes differ: of equal ones kube-scheduler takes any.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from kubesched.testing import make_object
from tests.integration.api_client import ApiClient, ApiError

Step = tuple[str, Callable[[ApiClient], object]]
"""What it does, in words; and doing it."""

HOST = "kubernetes.io/hostname"
DRIVER = "disk.example.com"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
CLASSES = {
    "local": {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"},
    "late": {"provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"},
    "now": {"provisioner": DRIVER, "volumeBindingMode": "Immediate"},
}
MODES = ("ReadWriteOnce", "ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod")
USUAL = ("local", "local", "local", "late", "late", "now", "bound", "bound", "missing", "gone", "none")


class Volumes:
    """What a script has of storage.

    Attributes:
        claims: the names of all claims that were made.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._n_volumes = 0
        self._missing: list[str] = []
        self.claims: list[str] = []

    @staticmethod
    def classes() -> list[Step]:
        """Make the storage classes."""
        return [create("StorageClass", name, **fields) for name, fields in CLASSES.items()]

    def csi_node(self, node: str) -> list[Step]:
        """Limit the volumes of a node, or not."""
        if self._random.random() < 0.5:
            return []
        driver = {"name": DRIVER, "nodeID": node, "allocatable": {"count": self._random.choice((1, 2))}}
        return [create("CSINode", node, spec={"drivers": [driver]})]

    def add_volume(self, nodes: Sequence[str]) -> list[Step]:
        """A local volume on some node."""
        return self._volume("local", self._random.choice(nodes))[1]

    def claims_for(self, pod: str, nodes: Sequence[str]) -> tuple[list[Step], list[dict[str, Any]]]:
        """The claims that a pod gets, which come before it, and its volumes."""
        random, steps, names = self._random, [], []
        for i in range(random.choice((1, 1, 1, 2))):
            if self.claims and random.random() < 0.15:
                names.append(random.choice(self.claims))
                continue
            name, usual = f"{pod}-{i}", random.choice(USUAL)
            names.append(name)
            if usual == "missing":
                self._missing.append(name)
            elif usual == "bound":
                steps += self._bound_claim(name, random.choice(nodes))
            else:
                steps += self._claim(name, "" if usual == "none" else usual)
        volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(names)]
        return steps, volumes

    def add_missing_claim(self) -> list[Step]:
        """Make a claim that a pod has been waiting for."""
        if not self._missing:
            return []
        return self._claim(self._missing.pop(), self._random.choice(("local", "late", "now")))

    def delete_claim(self) -> list[Step]:
        """Delete some claim, whoever uses it."""
        if not self.claims:
            return []
        name = self._random.choice(self.claims)
        return [(f"delete claim {name}", lambda client: if_there(client.delete, "PersistentVolumeClaim", name))]

    def provision(self) -> list[Step]:
        """Do what volume controllers would do for some claim: bind it to its volume, or to a new one."""
        if not self.claims:
            return []
        claim = self._random.choice(self.claims)
        self._n_volumes += 1
        size = f"{10 + self._n_volumes}Gi"
        return [
            (f"make a volume for {claim}", lambda client: _make_volume(client, claim, size)),
            (f"the volume of {claim} is bound", lambda client: _mark_volume(client, claim)),
            (f"claim {claim} has its volume", lambda client: _set_volume(client, claim)),
            (f"claim {claim} is bound", lambda client: _mark_claim(client, claim)),
        ]

    def give_up(self) -> list[Step]:
        """A provisioner reports that it cannot make the volume of some claim on its node."""
        if not self.claims:
            return []
        name = self._random.choice(self.claims)
        return [(f"no volume for {name} on its node", lambda client: _unselect(client, name))]

    def _claim(self, name: str, storage_class: str, **spec: Any) -> list[Step]:
        self.claims.append(name)
        modes = [self._random.choice(MODES)]
        wanted = {"requests": {"storage": f"{self._random.choice((1, 10, 14))}Gi"}}
        spec = {"accessModes": modes, "resources": wanted, "storageClassName": storage_class, **spec}
        return [create("PersistentVolumeClaim", name, spec=spec)]

    def _bound_claim(self, name: str, node: str) -> list[Step]:
        volume, steps = self._volume("other", node if self._random.random() < 0.5 else "")
        self.claims.append(name)
        spec = {
            "accessModes": [MODES[0]],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "other",
            "volumeName": volume,
        }
        claim = create("PersistentVolumeClaim", name, annotations={BIND_COMPLETED: "yes"}, spec=spec)
        return [*steps, claim] if self._random.random() < 0.9 else [claim]

    def _volume(self, storage_class: str, node: str) -> tuple[str, list[Step]]:
        self._n_volumes += 1
        name = f"volume-{self._n_volumes}"
        modes = [self._random.choice(MODES) if storage_class == "local" else MODES[0]]
        spec = _volume_spec(name, storage_class, node, f"{10 + self._n_volumes}Gi", modes)
        made = create("PersistentVolume", name, spec=spec)
        status = {"status": {"phase": "Available"}}
        available = f"{name} is available", lambda client: client.patch("PersistentVolume", name, status, part="status")
        return name, [made, available]


def create(kind: str, name: str, **fields: Any) -> Step:
    """Make an object."""
    thing = make_object(kind, name, **fields)
    return f"create {kind} {name}", lambda client: client.create(thing)


def if_there(call: Callable[..., object], *args: object) -> None:
    """Do something to an object, unless it is gone: preempted, for example."""
    try:
        call(*args)
    except ApiError as error:
        if error.status != 404:
            raise


def _volume_spec(name: str, storage_class: str, node: str, size: str, modes: list[str]) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "capacity": {"storage": size},
        "accessModes": modes,
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": storage_class,
        "csi": {"driver": DRIVER, "volumeHandle": name},
    }
    if node:
        term = {"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    return spec


# --- controllers ---


def _claim_of(client: ApiClient, name: str) -> dict[str, Any]:
    """The claim, or an empty one."""
    claims = {claim["metadata"]["name"]: claim for claim in client.read_all("PersistentVolumeClaim", "default")}
    return claims.get(name, {})


def _volume_of(client: ApiClient, claim: dict[str, Any]) -> str:
    """The volume that is reserved for a claim, "" where there is none."""
    uid = claim["metadata"]["uid"] if claim else ""
    for volume in client.read_all("PersistentVolume"):
        if uid and volume["spec"].get("claimRef", {}).get("uid") == uid:
            name: str = volume["metadata"]["name"]
            return name
    return ""


def _make_volume(client: ApiClient, name: str, size: str) -> None:
    claim = _claim_of(client, name)
    if not claim or claim["spec"].get("volumeName") or _volume_of(client, claim):
        return
    node = claim["metadata"].get("annotations", {}).get(SELECTED_NODE, "")
    storage_class = claim["spec"].get("storageClassName")
    if storage_class == "now" or node:
        about = claim["metadata"]
        ref = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": name, "uid": about["uid"]}
        spec = _volume_spec(f"for-{name}", storage_class, node, size, claim["spec"]["accessModes"])
        spec["claimRef"] = ref
        client.create(make_object("PersistentVolume", f"for-{name}", spec=spec))


def _mark_volume(client: ApiClient, name: str) -> None:
    if volume := _volume_of(client, _claim_of(client, name)):
        client.patch("PersistentVolume", volume, {"status": {"phase": "Bound"}}, part="status")


def _set_volume(client: ApiClient, name: str) -> None:
    claim = _claim_of(client, name)
    if volume := _volume_of(client, claim):
        changes = {"metadata": {"annotations": {BIND_COMPLETED: "yes"}}, "spec": {"volumeName": volume}}
        client.patch("PersistentVolumeClaim", name, changes)


def _mark_claim(client: ApiClient, name: str) -> None:
    if BIND_COMPLETED in _claim_of(client, name).get("metadata", {}).get("annotations", {}):
        client.patch("PersistentVolumeClaim", name, {"status": {"phase": "Bound"}}, part="status")


def _unselect(client: ApiClient, name: str) -> None:
    claim = _claim_of(client, name)
    annotations = claim.get("metadata", {}).get("annotations", {})
    if SELECTED_NODE in annotations and BIND_COMPLETED not in annotations:
        client.patch("PersistentVolumeClaim", name, {"metadata": {"annotations": {SELECTED_NODE: None}}})
