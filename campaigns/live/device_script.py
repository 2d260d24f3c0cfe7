"""Random scripts with resource claims: the clusters of the campaign `devices`, whose pods come one after another.

Between them devices, claims, classes, nodes and pods change. Objects go into etcd as they are generated, so that
clusters have what an API server of today would refuse, too.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final

from campaigns.devices.generate import SINCE, World
from campaigns.live.device_steps import IN_ADMIN_NAMESPACE, delete, report_all, together, update
from campaigns.live.intrusion import Intrusion
from campaigns.live.volumes import Step
from tests.integration.api_client import ApiClient
from tests.integration.control_plane import ControlPlane

N_PENDING: Final = 8
N_CHANGES: Final = 8
Object = dict[str, Any]


class RandomScript:
    """The script of a seed; see Script."""

    timeout = 0
    is_exact = False
    differs = ""
    intrusions: tuple[Intrusion, ...] = ()

    def __init__(self, seed: int) -> None:
        self.name = f"seed {seed}"
        self._random = Random(f"live devices {seed}")
        self._n_bound = 3 + seed % 5
        self._world = World(seed, 3 + seed % 4)
        self._world.on -= {"twins", "left-over"}  # what kubesched does in another way on purpose
        self._taken = 0
        self._waiting: list[list[Object]] = []  # pods that come, with their claims before them
        self._there = [f"run-{i}" for i in range(self._n_bound)]
        self.pods = [*self._there, *(f"wait-{i}" for i in range(N_PENDING))]

    def setup(self, plane: ControlPlane) -> Iterator[Step]:
        """The cluster, with pods that run."""
        world = self._world
        world.classes()
        world.nodes()
        for i in range(self._n_bound):
            world.bound(i)
        yield IN_ADMIN_NAMESPACE
        cluster = self._made()
        for i in range(N_PENDING):
            world.pending(i)
            made = self._made()
            # what comes allocated later could have a device that the scheduler has given away in between
            cluster += filter(_is_allocated, made)
            self._waiting.append([one for one in made if not _is_allocated(one)])
        yield "the cluster", lambda client: plane.store(cluster)

    def steps(self, plane: ControlPlane) -> Iterator[Step]:
        """Pods that come, and changes."""
        kinds = [self._pod] * N_PENDING + [self._change] * N_CHANGES
        self._random.shuffle(kinds)
        for kind in kinds:
            yield from kind(plane)

    def _made(self) -> list[Object]:
        """What the world has made meanwhile."""
        made = self._world.items[self._taken :]
        for i, one in enumerate(made, self._taken):
            if one["kind"] == "Pod":  # of victims that cost the same, kube-scheduler takes any
                one["spec"] |= {"priority": one["spec"]["priority"] * 1000 + i, "terminationGracePeriodSeconds": 0}
                entries = one["spec"].get("resourceClaims", ())
                claims = {entry.get("resourceClaimName", entry["name"]): entry for entry in entries}
                one["spec"]["resourceClaims"] = list(claims.values())
        self._taken = len(self._world.items)
        return made

    def _pod(self, plane: ControlPlane) -> Iterator[Step]:
        *claims, pod = self._waiting.pop(0)
        name = pod["metadata"]["name"]
        self._there.append(name)
        yield _put(plane, f"create pod {name}", [*claims, pod])

    # --- changes ---

    def _change(self, plane: ControlPlane) -> Iterable[Step]:
        kinds = (self._leave, self._leave, self._publish, self._publish, self._publish, self._lose_claim)
        kinds += (self._attach, self._attach, self._change_class, self._lose_node, self._grow)
        return self._random.choice(kinds)(plane)

    def _of(self, kind: str, prefix: str = "") -> list[Object]:
        """What the world has of a kind, in the order in which it was made."""
        return [one for one in self._world.items if one["kind"] == kind and one["metadata"]["name"].startswith(prefix)]

    def _leave(self, plane: ControlPlane) -> Iterable[Step]:
        return [delete("Pod", self._random.choice(self._there))]

    def _publish(self, plane: ControlPlane) -> Iterable[Step]:
        """The driver publishes the GPUs of a node anew, slice after slice or at once, with one change."""
        node = self._random.choice(self._world.names)
        slices = self._of("ResourceSlice", f"{node}-gpu-")
        if not slices:
            self._world.gpus(node)
            return [_put(plane, f"devices of {node}", self._made())]
        way = self._random.choice(("fewer", "more", "well", "sick"))
        for part in slices:
            pool = part["spec"]["pool"]
            part["spec"]["pool"] = {**pool, "generation": pool["generation"] + 1, "resourceSliceCount": len(slices)}
        last = slices[-1]["spec"]
        last["devices"] = self._changed(way, last["devices"], node)
        written = deepcopy(slices)
        if self._random.random() < 0.5:
            return [_put(plane, f"{way} devices of {node}", written)]
        return [_put(plane, f"{way} devices of {node}", [one]) for one in written]

    def _changed(self, way: str, devices: list[Object], node: str) -> list[Object]:
        if way == "fewer":
            return devices[:-1] or devices
        if way == "more":
            return [*devices, self._world.gpu(node, 50 + self._random.randrange(50), "H100")]
        if way == "well":
            return [{key: value for key, value in one.items() if key != "taints"} for one in devices]
        taint = {"key": "sick", "value": "yes", "effect": "NoSchedule", "timeAdded": SINCE}
        return [{**devices[0], "taints": [taint]}, *devices[1:]]

    def _lose_claim(self, plane: ControlPlane) -> Iterable[Step]:
        claims = self._of("ResourceClaim")
        return [delete("ResourceClaim", self._random.choice(claims)["metadata"]["name"])] if claims else []

    def _attach(self, plane: ControlPlane) -> Iterable[Step]:
        """Drivers report that the devices of all claims of a kind are attached, or that they are not."""
        return [report_all(self._random.choice(("attached", "attached", "broken")))]

    def _change_class(self, plane: ControlPlane) -> Iterable[Step]:
        one = self._of("DeviceClass", "gpu")[0]
        if self._random.random() < 0.5:
            again = {**one, "metadata": {**one["metadata"], "creationTimestamp": "2026-06-01T00:00:00Z"}}
            return [delete("DeviceClass", "gpu"), _put(plane, "the class again", [again])]
        return [update("DeviceClass", "any", {"metadata": {"labels": {"changed": str(self._random.random())}}})]

    def _lose_node(self, plane: ControlPlane) -> Iterable[Step]:
        if len(self._world.names) < 3:
            return []
        name = self._world.names.pop(self._random.randrange(len(self._world.names)))
        slices = [one["metadata"]["name"] for one in self._of("ResourceSlice", f"{name}-")]
        return [together(delete("Node", name), *(delete("ResourceSlice", one) for one in slices))]

    def _grow(self, plane: ControlPlane) -> Iterable[Step]:
        name = self._random.choice(self._world.names)
        changes = {"status": {"allocatable": {"cpu": "16"}, "capacity": {"cpu": "16"}}}
        return [update("Node", name, changes, "status")]


def _put(plane: ControlPlane, text: str, things: list[Object]) -> Step:
    """Put objects into etcd, each alone: what comes with others is put twice, and a scheduler may write in between."""

    def do(client: ApiClient) -> None:
        for one in things:
            plane.store([one])

    return text, do


def _is_allocated(thing: Object) -> bool:
    return thing["kind"] == "ResourceClaim" and "allocation" in thing["status"]
