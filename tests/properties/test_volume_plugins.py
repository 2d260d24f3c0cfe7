"""The volume plugins against the slow reference: over generated clusters, moved pods, and while the cluster changes."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle.more_storage import ZONE, claim_ref, one_of
from kubesched.framework import CycleState, Handle, Plugin, PodChanges, Status
from kubesched.framework.hook_answers import as_verdicts
from kubesched.framework.reads import readable
from kubesched.plugins import NodeVolumeLimits, VolumeBinding, VolumeRestrictions, VolumeZone
from kubesched.state import ClusterState, PodBatch
from tests.plugins.one_plugin import Asked
from tests.properties.against_reference import as_filtered, differences
from tests.properties.cluster_walk import Walk, as_pod, generated
from tests.reference.cluster import Cluster
from tests.reference.plugins import PLUGINS
from tests.trials import examples

VOLUME_PLUGINS: list[type[Plugin]] = [VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone]
FEATURES = ("attachments", "capacity", "claims", "ephemeral", "inline-disks", "local", "migrated")
WITHOUT_OTHER_GROUPS = ("labels", "volumes")

SEEDS = st.integers(0, 10**6)
SOME_FEATURES = st.sets(st.sampled_from(FEATURES), max_size=4).map(sorted).map(tuple)


@pytest.mark.parametrize("plugin", VOLUME_PLUGINS)
@given(seed=SEEDS, features=SOME_FEATURES, hole=st.booleans())
@examples(8)
def test_volumes_are_judged_as_by_the_reference(
    plugin: type[Plugin], seed: int, features: tuple[str, ...], hole: bool
) -> None:
    items = generated(seed, pending=6, groups=WITHOUT_OTHER_GROUPS, features=features)
    slow = PLUGINS[plugin.__name__]()
    assert list(differences(plugin(), slow, items, hole=hole)) == []


@pytest.mark.parametrize("plugin", [NodeVolumeLimits, VolumeRestrictions])
@given(seed=SEEDS, features=SOME_FEATURES)
@examples(8)
def test_moved_pods_are_judged_as_by_the_reference(plugin: type[Plugin], seed: int, features: tuple[str, ...]) -> None:
    """A what-if table in which some pods have gone and some have come."""
    items = generated(seed, pending=5, groups=WITHOUT_OTHER_GROUPS, features=features)
    cluster = Cluster(items)
    for incoming in cluster.pending:
        moves = _Moves(Asked(plugin(), items, incoming), PLUGINS[plugin.__name__](), cluster)
        if moves.is_asked:
            moves.take_some_off(random.Random(seed))
            moves.put_some_on(random.Random(seed))
            assert moves.mine() == moves.theirs()


class _Moves:
    """The same pods moved for a plugin and for its reference."""

    def __init__(self, asked: Asked, slow: object, cluster: Cluster) -> None:
        self.asked, self.slow, self.cluster = asked, slow, cluster
        self.is_asked = asked.pre_filter().is_success
        slow.pre_filter(self._incoming(), cluster)
        self.table = asked.nodes.copy()
        self.nodes = {node.name: node.clone() for node in cluster.nodes}
        self.slows = {name: slow.clone() for name in self.nodes}

    def _incoming(self) -> dict:
        return next(pod for pod in self.cluster.pending if pod["metadata"]["uid"] == self.asked.pod.uid)

    def take_some_off(self, r: random.Random) -> None:
        chosen = [
            (position, info)
            for position in range(len(self.table))
            for info in list(self.table.pods(position))
            if r.random() < 0.4
        ]
        self._move(chosen, added=False)
        for position, info in chosen:
            node = self.nodes[self.table.name(position)]
            gone = next(pod for pod in node.pods if pod["metadata"]["uid"] == info.pod.uid)
            node.remove_pod(gone)
            self._tell(node.name, "remove_pod", gone)

    def put_some_on(self, r: random.Random) -> None:
        pods = [pod for pod in self.cluster.pending if r.random() < 0.5]
        chosen = [(r.randrange(len(self.table)), pod) for pod in pods]
        infos = [(position, self.asked.cluster.pod_info(as_pod(pod))) for position, pod in chosen]
        self._move(infos, added=True)
        for position, pod in chosen:
            node = self.nodes[self.table.name(position)]
            node.add_pod(pod)
            self._tell(node.name, "add_pod", pod)

    def _move(self, chosen: list, *, added: bool) -> None:
        positions = np.array([position for position, _ in chosen], dtype=np.intp)
        batch = PodBatch([info for _, info in chosen])
        (self.table.add if added else self.table.remove)(positions, batch)
        plugin, changes = self.asked.plugin, PodChanges(self.table, positions, batch)
        if plugin.defines("add_pods"):
            (plugin.add_pods if added else plugin.remove_pods)(self.asked.state, self.asked.pod, changes)

    def _tell(self, name: str, call: str, pod: dict) -> None:
        if hasattr(self.slow, call):
            getattr(self.slows[name], call)(self._incoming(), pod, self.nodes[name])

    def mine(self) -> dict:
        found = self.asked.filter(self.table)
        return {name: as_filtered(status, self.asked.plugin.name) for name, status in found.items()}

    def theirs(self) -> dict:
        found = {name: self.slows[name].filter(self._incoming(), node) for name, node in self.nodes.items()}
        return {name: status for name, status in found.items() if status}


# --- while the cluster changes ---


class _VolumeWalk(Walk):
    """A walk on which volumes are taken and given back, claims are bound, and limits change."""

    STEPS = (*Walk.STEPS, *("change_volume", "change_claim", "change_csi_node", "change_volume_labels") * 2)

    def _change_volume(self, r: random.Random) -> None:
        for volume in self._some(r, "PersistentVolume"):
            spec, status = dict(volume["spec"]), volume["status"]
            taker = claim_ref(r.choice(["local-0", "elsewhere"]), r.choice(["default", "prod"]))
            change = r.choice(["taken", "given back", "bound", "released", "reserved", "other size"])
            if change in ("given back", "other size"):
                spec.pop("claimRef", None)
                status = {"phase": "Available"}
            if change == "taken":
                spec["claimRef"] = taker
            if change == "reserved":
                spec["claimRef"] = {**taker, "uid": ""}
            if change in ("bound", "released"):
                status = {"phase": change.capitalize()}
            if change == "other size":
                spec["capacity"] = {"storage": f"{r.randrange(10**6)}Mi"}
            self._put({**volume, "spec": spec, "status": status})

    def _change_volume_labels(self, r: random.Random) -> None:
        for volume in self._some(r, "PersistentVolume"):
            terms = r.choice([[one_of(ZONE, "z1")], [one_of(ZONE, "z2", "z3")], [{}]])
            spec = {**volume["spec"], "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
            self._put(
                {**volume, "metadata": {**volume["metadata"], "labels": {ZONE: r.choice(["z1", "z2"])}}, "spec": spec}
            )

    def _change_claim(self, r: random.Random) -> None:
        for claim in self._some(r, "PersistentVolumeClaim"):
            metadata = dict(claim["metadata"])
            metadata["annotations"] = r.choice(
                [
                    {},
                    {"pv.kubernetes.io/bind-completed": "yes"},
                    {"volume.kubernetes.io/selected-node": self._some_node(r)},
                ]
            )
            names = [key for kind, key in self.others if kind == "PersistentVolume"]
            volume = r.choice([{}, {"volumeName": r.choice(names).removeprefix("/")} if names else {}])
            self._put({**claim, "metadata": metadata, "spec": {**claim["spec"], "volumeName": "", **volume}})

    def _change_csi_node(self, r: random.Random) -> None:
        for csi_node in self._some(r, "CSINode"):
            drivers = [
                {"name": name, "nodeID": "n", "allocatable": {"count": r.choice([0, 1, 3])}}
                for name in ("csi.example.com", "csi.other.example", "pd.csi.storage.gke.io")
            ]
            self._put({**csi_node, "spec": {"drivers": drivers[: r.randrange(4)]}})

    def _some(self, r: random.Random, kind: str) -> list[dict]:
        found = [item for item in self.others.values() if item["kind"] == kind]
        return [r.choice(found)] if found else []


@given(seed=SEEDS, features=SOME_FEATURES, steps=st.lists(st.tuples(st.integers(0, 99), SEEDS), max_size=40))
@examples(20)
def test_what_is_kept_gives_the_same_verdicts_as_what_is_read_anew(
    seed: int, features: tuple[str, ...], steps: list[tuple[int, int]]
) -> None:
    walk = _VolumeWalk(seed, features)
    for step, number in steps:
        verdicts(walk.cluster_state, walk.pending[number % 3 :][:1])  # so that all relations are kept from here on
        walk.step(walk.STEPS[step % len(walk.STEPS)], number)
    asked = [pod for pod in walk.pending if pod["metadata"]["uid"] not in walk.assumed]
    assert verdicts(walk.cluster_state, asked) == verdicts(walk.fresh(), asked)


def verdicts(cluster_state: ClusterState, pods: list[dict]) -> dict[tuple[str, str], object]:
    """What each volume plugin says of each pod, by pod and plugin."""
    found: dict[tuple[str, str], object] = {}
    for document in pods:
        for kind in VOLUME_PLUGINS:
            plugin = kind()
            plugin.handle = Handle(cluster_state, reads=readable(plugin.name, plugin.reads))
            found[document["metadata"]["name"], plugin.name] = _verdicts_of(plugin, cluster_state, document)
    return found


def _verdicts_of(plugin: Plugin, cluster_state: ClusterState, document: dict) -> Status | dict[str, Status]:
    pod, nodes = as_pod(document), cluster_state.snapshot().nodes
    state = CycleState(cluster_state.pod_info(pod))
    status = plugin.pre_filter(state, pod, nodes)
    if not status.is_success:
        return status
    answer = as_verdicts(plugin, plugin.filter_nodes(state, pod, nodes), len(nodes))
    return {
        name: answer.status(value) for name, value in zip(nodes.names, answer.values.tolist(), strict=True) if value
    }
