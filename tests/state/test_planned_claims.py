"""Resource claims that a plan is about to write, while the watch shows older versions of them."""

from kubesched.api import EventType, ResourceClaim, WatchEvent
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_object, make_pod

DEVICE = ("d", "p", "x")
RESULTS = [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]
POD = make_pod("p")


def claim(name: str = "c", version: str = "1", *, allocated: bool = False) -> ResourceClaim:
    status = {"allocation": {"devices": {"results": RESULTS}}} if allocated else {}
    found = make_object("ResourceClaim", name, metadata={"resourceVersion": version}, status=status)
    assert isinstance(found, ResourceClaim)
    return found


def with_plan(planned: ResourceClaim, *there: ResourceClaim) -> ClusterState:
    state = ClusterState()
    state.load([("Node", make_node("n")), *(("ResourceClaim", one) for one in there)])
    state.assume(state.pod_info(POD), "n", [("ResourceClaim", planned)])
    return state


def test_a_newer_version_without_devices_does_not_free_those_of_a_plan():
    state = with_plan(claim(allocated=True), claim())
    state.apply(WatchEvent(EventType.MODIFIED, "ResourceClaim", claim(version="2")))
    assert state.devices.in_use.is_taken(DEVICE)
    current = state.objects.get("ResourceClaim", "default/c")
    assert current is not None
    assert current.metadata.resource_version == "2"
    state.check_invariants()
    state.forget(POD)
    assert not state.devices.in_use.is_taken(DEVICE)
    assert state.objects.get("ResourceClaim", "default/c") == claim(version="2")


def test_a_claim_that_was_deallocated_after_it_was_written_is_free():
    state = with_plan(claim(allocated=True), claim())
    state.apply(WatchEvent(EventType.MODIFIED, "ResourceClaim", claim(version="2", allocated=True)))
    state.apply(WatchEvent(EventType.MODIFIED, "ResourceClaim", claim(version="3")))
    assert not state.devices.in_use.is_taken(DEVICE)


def test_a_made_up_claim_gives_way_to_the_one_that_was_created():
    made_up = claim("made-up", allocated=True)
    state = with_plan(made_up)
    state.replace_assumed(POD.uid, "ResourceClaim", made_up, claim("created", allocated=True))
    assert state.devices.in_use.holders(DEVICE) == ["default/created"]
    state.check_invariants()
    state.forget(POD)
    assert not list(state.objects.list("ResourceClaim"))


def test_what_a_plan_has_written_is_a_change_for_pods_that_wait():
    state = with_plan(claim(allocated=True), claim())
    finalized, written = claim(version="2"), claim(version="3", allocated=True)
    (first,) = state.apply(WatchEvent(EventType.MODIFIED, "ResourceClaim", finalized))
    assert (first.old, first.new) == (claim(), finalized)
    (second,) = state.apply(WatchEvent(EventType.MODIFIED, "ResourceClaim", written))
    assert (second.old, second.new) == (finalized, written)


def test_a_claim_that_a_plan_created_is_new_for_pods_that_wait():
    made_up, created = claim("made-up", allocated=True), claim("created", allocated=True)
    state = with_plan(made_up)
    state.replace_assumed(POD.uid, "ResourceClaim", made_up, created)
    (change,) = state.apply(WatchEvent(EventType.ADDED, "ResourceClaim", claim("created", version="2")))
    assert change.event.label == "resource.k8s.io/ResourceClaimAdd"


def test_what_was_written_is_a_change_when_the_watch_shows_it():
    state = with_plan(claim(allocated=True), claim())
    written = claim(version="2", allocated=True)
    state.note_written(POD.uid, written)
    (change,) = state.apply(WatchEvent(EventType.MODIFIED, "ResourceClaim", written))
    assert (change.old, change.new) == (claim(), written)
