"""A check of the invariants fails when anything that the state keeps is wrong."""

from collections.abc import Callable

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod

ZONE = "topology.kubernetes.io/zone"
TERM = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
WEIGHTED = [{"weight": 1, "podAffinityTerm": TERM}]
STRENGTHS = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [TERM],
        "preferredDuringSchedulingIgnoredDuringExecution": WEIGHTED,
    },
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [TERM],
        "preferredDuringSchedulingIgnoredDuringExecution": WEIGHTED,
    },
}
VOLUMES = [
    {"name": "claim", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "disk", "gcePersistentDisk": {"pdName": "d"}},
]


@pytest.fixture
def cluster_state() -> ClusterState:
    found = ClusterState()
    spec = {"affinity": STRENGTHS, "volumes": VOLUMES}
    pod = make_pod("p", node="n", labels={"app": "web"}, requests={"cpu": "1"}, host_ports=[80], spec=spec)
    image = {"names": ["app"], "sizeBytes": 1}
    found.load(
        [
            ("Node", make_node("n", zone="a", taints=["k:NoSchedule"], status={"images": [image]})),
            ("Pod", pod),
            ("Pod", make_pod("early", node="unknown")),
        ]
    )
    found.columns.label(ZONE)
    found.groups.group("web", lambda pod: pod.labels.get("app") == "web").by_domain(ZONE)
    found.check_invariants()
    return found


def _wrong_matches(found: ClusterState) -> None:
    (identity,) = [part for part in found.parts.identities if part.value.labels]
    identity.compiled[found.required_affinity].matches[:] = False


WRONG: dict[str, Callable[[ClusterState], object]] = {
    "a row of a node that is not there": lambda found: found.columns.row_of.update(other=0),
    "a free row that holds something": lambda found: found.columns.n_pods.__setitem__(-1, 1),
    "how many pods a node allows": lambda found: found.columns.allowed_pods.__setitem__(0, 1),
    "an image": lambda found: found.columns.images["app"].rows.clear(),
    "a pod that is not on its row": lambda found: found.columns.pods[0].clear(),
    "a pod without a node that is forgotten": lambda found: found._homeless.clear(),
    "what the pods request": lambda found: found.columns.requested.__setitem__((0, 0), 1),
    "a port that no pod holds": lambda found: found.columns.ports.update({("", "TCP", 1): found.columns.alive}),
    "a zone": lambda found: found._tree._zones.clear(),
    "the count of a group": lambda found: found.groups.group("web", bool).counts.__setitem__(0, 2),
    "the count of a group in a domain": lambda found: found.groups.group("web", bool).by_domain(ZONE).fill(2),
    "the priority of a placed pod": lambda found: found.columns.pod_table._priority.__setitem__(0, 2),
    "how many pods carry a required term": lambda found: found.required_affinity._domains[ZONE].counts.fill(2),
    "how many pods repel others": lambda found: found.required_anti_affinity._domains[ZONE].counts.fill(2),
    "how many pods carry a preferred term": lambda found: found.preferred_affinity._domains[ZONE].counts.fill(2),
    "how many pods rather repel others": lambda found: found.preferred_anti_affinity._domains[ZONE].counts.fill(2),
    "which pods a term matches": _wrong_matches,
    "a claim in use": lambda found: found.volumes.use.claim_rows.clear(),
    "an assumed pod that is on no node": lambda found: found._assumed.update(other=[]),
}


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
def test_whatever_is_wrong_is_found(cluster_state: ClusterState, spoil: Callable[[ClusterState], object]) -> None:
    spoil(cluster_state)
    with pytest.raises((AssertionError, KeyError)):
        cluster_state.check_invariants()


def test_sums_that_an_int64_cannot_hold_are_no_differences() -> None:
    state = ClusterState()
    huge = [make_pod(name, requests={"memory": "7Ei"}, node="n") for name in ("a", "b")]
    for kind, obj in (("Node", make_node("n")), ("Pod", huge[0]), ("Pod", huge[1])):
        state.apply(WatchEvent(EventType.ADDED, kind, obj))
    assert state.columns.requested[:, 0].min() < 0
    state.check_invariants()
