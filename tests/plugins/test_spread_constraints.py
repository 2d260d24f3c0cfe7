"""Which topology spread constraints apply to a pod."""

import pytest

from kubesched.api import TopologySpreadConstraint
from kubesched.plugins.args import PodTopologySpreadArgs
from kubesched.plugins.spread_constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    SCHEDULE_ANYWAY,
    DefaultConstraints,
    constraints_of,
)
from kubesched.state import ClusterState, Identity
from kubesched.testing import make_object, make_pod

ZONE = "topology.kubernetes.io/zone"
WEB = {"app": "web"}
HARD = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": DO_NOT_SCHEDULE, "labelSelector": {"matchLabels": WEB}}
SERVICE = make_object("Service", "s", spec={"selector": WEB})


def found(pod, action: str = SCHEDULE_ANYWAY, *objects, args: PodTopologySpreadArgs | None = None):
    cluster_state = ClusterState()
    cluster_state.load([(type(obj).__name__, obj) for obj in objects])
    defaults = DefaultConstraints(args or PodTopologySpreadArgs())
    return constraints_of(cluster_state.pod_info(pod), action, defaults, cluster_state.snapshot())


def web(owner: tuple[str, str, str] | None = None, **said):
    metadata = {}
    if owner is not None:
        api_version, kind, name = owner
        reference = {"apiVersion": api_version, "kind": kind, "name": name, "uid": "u", "controller": True}
        metadata = {"ownerReferences": [reference]}
    return make_pod("p", labels=WEB, metadata=metadata, **said)


def test_a_pods_own_constraints_are_taken_by_action() -> None:
    soft = {**HARD, "whenUnsatisfiable": SCHEDULE_ANYWAY, "topologyKey": HOSTNAME}
    pod = web(spec={"topologySpreadConstraints": [HARD, soft]})
    assert [c.topology_key for c in found(pod, DO_NOT_SCHEDULE)] == [ZONE]
    assert [c.topology_key for c in found(pod, SCHEDULE_ANYWAY)] == [HOSTNAME]


def test_a_pod_with_constraints_of_its_own_gets_no_defaults() -> None:
    assert found(web(spec={"topologySpreadConstraints": [HARD]}), SCHEDULE_ANYWAY, SERVICE) == ()


def test_system_defaults_are_soft_and_need_somebody_who_selects_the_pod() -> None:
    assert [(c.topology_key, c.max_skew) for c in found(web(), SCHEDULE_ANYWAY, SERVICE)] == [(HOSTNAME, 3), (ZONE, 5)]
    assert found(web(), DO_NOT_SCHEDULE, SERVICE) == ()
    assert found(web(), SCHEDULE_ANYWAY) == ()


def test_configured_defaults_take_their_place() -> None:
    default = TopologySpreadConstraint(2, "rack", DO_NOT_SCHEDULE)
    args = PodTopologySpreadArgs(defaulting_type="List", default_constraints=(default,))
    (constraint,) = found(web(), DO_NOT_SCHEDULE, SERVICE, args=args)
    assert (constraint.topology_key, constraint.max_skew, constraint.selects_pod) == ("rack", 2, True)
    assert found(web(), SCHEDULE_ANYWAY, SERVICE, args=args) == ()


@pytest.mark.parametrize(
    ("kind", "api_version", "selector"),
    [
        ("ReplicaSet", "apps/v1", {"matchLabels": {"tier": "front"}}),
        ("StatefulSet", "apps/v1", {"matchLabels": {"tier": "front"}}),
        ("ReplicationController", "v1", {"tier": "front"}),
    ],
)
def test_the_selector_of_the_controller_is_added_to_that_of_the_services(
    kind: str, api_version: str, selector: dict
) -> None:
    owner = make_object(kind, "o", spec={"selector": selector})
    constraint = found(web((api_version, kind, "o")), SCHEDULE_ANYWAY, SERVICE, owner)[0]
    assert constraint.selects(Identity("default", {**WEB, "tier": "front"}))
    assert not constraint.selects(Identity("default", WEB))
    assert not constraint.selects(Identity("prod", {**WEB, "tier": "front"}))


def test_owners_of_other_kinds_and_those_that_are_gone_add_nothing() -> None:
    for owner in (("batch/v1", "Job", "o"), ("apps/v1", "ReplicaSet", "gone"), ("other/v1", "ReplicaSet", "o")):
        there = make_object("ReplicaSet", "o", spec={"selector": {"matchLabels": {"tier": "front"}}})
        constraint = found(web(owner), SCHEDULE_ANYWAY, SERVICE, there)[0]
        assert constraint.selects(Identity("default", WEB))


def test_selectors_that_contradict_each_other_select_nothing() -> None:
    owner = make_object("ReplicaSet", "o", spec={"selector": {"matchLabels": {"app": "other"}}})
    constraint = found(web(("apps/v1", "ReplicaSet", "o")), SCHEDULE_ANYWAY, SERVICE, owner)[0]
    assert not constraint.selects(Identity("default", WEB))
    assert not constraint.selects(Identity("default", {"app": "other"}))


def test_services_of_other_namespaces_and_without_selector_add_nothing() -> None:
    elsewhere = make_object("Service", "s", namespace="prod", spec={"selector": WEB})
    assert found(web(), SCHEDULE_ANYWAY, elsewhere, make_object("Service", "t", spec={})) == ()


def test_defaults_follow_the_services() -> None:
    cluster_state = ClusterState()
    defaults = DefaultConstraints(PodTopologySpreadArgs())
    info = cluster_state.pod_info(web())
    assert constraints_of(info, SCHEDULE_ANYWAY, defaults, cluster_state.snapshot()) == ()
    cluster_state.load([("Service", SERVICE)])
    assert len(constraints_of(info, SCHEDULE_ANYWAY, defaults, cluster_state.snapshot())) == 2
