"""Objects that were written and that the watch has not shown yet."""

import pytest

from kubesched.api import EventType, ResourceClaim, WatchEvent
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_object, make_pod

KEY = "default/gpu"


def claim(version: str, holder: str = "") -> ResourceClaim:
    users = [{"resource": "pods", "name": holder, "uid": holder}] if holder else []
    made = make_object(
        "ResourceClaim",
        "gpu",
        namespace="default",
        metadata={"resourceVersion": version},
        status={"reservedFor": users},
    )
    assert isinstance(made, ResourceClaim)
    return made


def written() -> ClusterState:
    """A pod's plan has reserved the claim, the API server has answered with version 12, and the plan is taken back."""
    state = ClusterState()
    state.load([("Node", make_node("n")), ("ResourceClaim", claim("10"))])
    pod = make_pod("p", metadata={"uid": "p"})
    state.assume(state.pod_info(pod), "n", objects=[("ResourceClaim", claim("10", "p"))])
    state.note_written("p", claim("12", "p"))
    state.forget(pod)
    return state


def holders(state: ClusterState) -> list[str]:
    found = state.objects.get("ResourceClaim", KEY)
    assert isinstance(found, ResourceClaim)
    return [user.name for user in found.status.reserved_for or ()]


def test_an_older_version_of_the_watch_does_not_hide_the_write() -> None:
    state = written()
    assert holders(state) == ["p"]
    state.apply(WatchEvent(EventType.MODIFIED, "ResourceClaim", claim("11")))
    assert holders(state) == ["p"]


@pytest.mark.parametrize(
    ("type_", "version"), [(EventType.MODIFIED, "12"), (EventType.MODIFIED, "13"), (EventType.DELETED, "13")]
)
def test_what_was_written_is_forgotten_when_the_watch_has_caught_up(type_: EventType, version: str) -> None:
    state = written()
    assert state._written
    state.apply(WatchEvent(type_, "ResourceClaim", claim(version)))
    assert not state._written
