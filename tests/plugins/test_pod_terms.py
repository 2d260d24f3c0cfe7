"""The incoming pod's affinity terms, namespace selectors resolved to names."""

import pytest

from kubesched.plugins.pod_terms import all_match, resolved_terms
from kubesched.release import Release
from kubesched.state import ClusterState, Identity
from kubesched.testing import make_object, make_pod

ZONE = "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def namespace(name: str, team: str):
    return make_object("Namespace", name, labels={"team": team})


def state_of(*namespaces, minor: int = 36) -> ClusterState:
    cluster_state = ClusterState(Release(minor))
    cluster_state.load([("Namespace", one) for one in namespaces])
    return cluster_state


def terms(cluster_state: ClusterState, *written: dict):
    pod = make_pod("p", spec={"affinity": {"podAffinity": {REQUIRED: list(written)}}})
    return resolved_terms(cluster_state.pod_info(pod).terms, cluster_state.snapshot()).required_affinity


def term(**said) -> dict:
    return {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "db"}}, **said}


DB = {"app": "db"}
RED = {"namespaceSelector": {"matchLabels": {"team": "red"}}}


def test_a_selector_becomes_the_names_of_the_namespaces_it_selects_and_those_that_are_named_stay() -> None:
    cluster_state = state_of(namespace("a", "red"), namespace("b", "blue"))
    (found,) = terms(cluster_state, term(**RED, namespaces=["c"]))
    assert found.namespaces == {"a", "c"}
    assert [all_match((found,), Identity(name, DB)) for name in ("a", "b", "c", "default")] == [
        True,
        False,
        True,
        False,
    ]


def test_names_follow_the_namespaces() -> None:
    cluster_state = state_of(namespace("a", "red"))
    assert terms(cluster_state, term(**RED))[0].namespaces == {"a"}
    cluster_state.load([("Namespace", namespace("b", "red"))])
    assert terms(cluster_state, term(**RED))[0].namespaces == {"a", "b"}


def test_an_empty_selector_means_every_namespace() -> None:
    (found,) = terms(state_of(), term(namespaceSelector={}))
    assert all_match((found,), Identity("anywhere", DB))


@pytest.mark.parametrize(("minor", "matches"), [(33, False), (34, True), (36, True), (37, False)])
def test_a_selector_of_absences_matches_every_namespace_in_some_versions(minor: int, matches: bool) -> None:
    absent = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    (found,) = terms(state_of(namespace("a", "red"), minor=minor), term(namespaceSelector=absent))
    assert all_match((found,), Identity("a", DB)) is matches


def test_no_terms_are_never_matched() -> None:
    cluster_state = state_of()
    assert not all_match((), Identity("default", DB))
    both = terms(cluster_state, term(), term(labelSelector={"matchLabels": {"tier": "x"}}))
    assert not all_match(both, Identity("default", DB))
    assert all_match(both, Identity("default", {**DB, "tier": "x"}))
