import pytest

from kubesched.api import ResourceClaim
from kubesched.plugins.dynamic_resources.binding_conditions import failure_of, has_failed, is_ready
from kubesched.session import PodState, Simulator
from kubesched.testing import make_node, make_pod
from tests.device_cluster import device_class
from tests.plugins.dynamic_resources.device_objects import ask, claim, device, resource_slice, using
from tests.plugins.one_plugin import read

CONDITIONS = {"bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}
SINCE, SECONDS = "2026-01-01T00:00:00Z", 1767225600.0


def allocated(*reported: tuple[str, str]) -> ResourceClaim:
    """A claim whose driver reports some conditions of its device."""
    where = {"driver": "d", "pool": "p", "device": "x"}
    results = [{"request": "r0", **where, **CONDITIONS}]
    conditions = [{"type": name, "status": status, "reason": "Why", "message": "so"} for name, status in reported]
    status = {
        "allocation": {"devices": {"results": results}, "allocationTimestamp": SINCE},
        "devices": [{**where, "conditions": conditions}],
    }
    found = read(claim("c", ask(), status=status))
    assert isinstance(found, ResourceClaim)
    return found


@pytest.mark.parametrize(
    ("reported", "ready", "failure"),
    [
        ([], False, ""),
        ([("attached", "False")], False, ""),
        ([("attached", "True")], True, ""),
        ([("broken", "True")], False, 'device binding failed: claim=c, reason=Why, message="so"'),
    ],
)
def test_a_device_is_ready_once_its_driver_has_attached_it(reported: list, ready: bool, failure: str):
    one = allocated(*reported)
    assert (is_ready(one), failure_of(one)) == (ready, failure)


def test_a_claim_whose_devices_are_not_attached_in_time_has_failed():
    assert not has_failed(allocated(), SECONDS + 599, 600)
    assert has_failed(allocated(), SECONDS + 601, 600)
    assert not has_failed(allocated(("attached", "True")), SECONDS + 601, 600)
    assert has_failed(allocated(("broken", "True")), SECONDS, 600)


def test_a_pod_is_bound_once_its_device_is_attached():
    devices = read(resource_slice("n", [device("d", **CONDITIONS)]))
    pod = make_pod("p", spec={"resourceClaims": using("c")})
    simulator = Simulator([make_node("n"), device_class("gpu", ""), devices, read(claim("c", ask())), pod])
    (placement,) = simulator.run().placements
    assert placement.state is PodState.SCHEDULED
    (event,) = simulator.plugin_events.events
    assert (event.reason, event.note) == (
        "BindingConditionsPending",
        "waiting for binding conditions for device on node n",
    )
