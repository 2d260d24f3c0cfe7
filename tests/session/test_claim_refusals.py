"""Pods that kube-scheduler v1.36.3 leaves pending forever: a simulation says so, in its words."""

import pytest

from kubesched.api import KubeObject
from kubesched.explanation import explain
from kubesched.pages.explanations import node_page
from kubesched.pages.formats import Table, page_of
from kubesched.pages.simulations import report_page
from kubesched.session import PodState, Simulator
from kubesched.testing import make_node, make_pod
from tests.plugins.dynamic_resources.device_objects import (
    allocation,
    ask,
    claim,
    device,
    device_class,
    resource_slice,
    using,
)
from tests.plugins.one_plugin import read

GPU = "example.com/gpu"
REFUSED = 'add reservation to claim default/c: ResourceClaim.resource.k8s.io "c" is invalid: '


def allocated(n_users: int = 0, time: str = "2026-01-01T00:00:00Z") -> dict:
    """A status with a device, and with users."""
    found = allocation("n1", "d0")["allocation"]
    users = [{"resource": "pods", "name": f"o{i}", "uid": f"u{i}"} for i in range(n_users)]
    return {"allocation": {**found, **({"allocationTimestamp": time} if time else {})}, "reservedFor": users}


@pytest.mark.parametrize(
    ("status", "claims", "resources", "error"),
    [
        ({}, ("c", "c"), {}, 'status.reservedFor[1]: Duplicate value: "u-p"'),
        (allocated(1), ("c", "c"), {}, 'status.reservedFor[2]: Duplicate value: "u-p"'),
        (allocated(time=""), ("c",), {}, "status.allocation: Invalid value: ...: field is immutable"),
        (allocated(256), ("c",), {}, "status.reservedFor: Too many: 257: must have at most 256 items"),
    ],
)
def test_a_claim_that_the_api_server_refuses_keeps_its_pod_pending(status, claims, resources, error):
    message = run(status, claims, resources)
    assert message == f'running PreBind plugin "DynamicResources": {REFUSED}{error}'


@pytest.mark.parametrize("status", [{}, allocated()])
def test_a_resource_of_a_device_plugin_keeps_a_pod_with_a_claim_pending_where_a_class_serves_it(status):
    message = run(status, ("c",), {GPU: "1"})
    nothing = "nil or empty request mappings, no update of pod default/p ExtendedResourceClaimStatus"
    assert message == f'running PreBind plugin "DynamicResources": {nothing}'


@pytest.mark.parametrize(
    ("status", "claims", "resources", "idle"),
    [
        ({}, ("c", "c"), {}, ["default/c"]),
        ({}, ("c",), {GPU: "1"}, ["default/c"]),
        (allocated(time=""), ("c",), {}, ["default/c"]),
        (allocated(1), ("c", "c"), {}, []),
    ],
)
def test_a_report_says_that_such_a_claim_stays_allocated(status, claims, resources, idle):
    report = Simulator(cluster(status, claims, resources)).run()
    assert list(report.idle_claims) == idle
    text = "Taken without use: the devices of claim default/c. kube-scheduler leaves it allocated."
    page = report_page(report)
    assert page.document.get("idleClaims", []) == idle
    (table,) = [one for one in page.parts if isinstance(one, Table) and one.name == "devices"]
    assert list(table.notes) == ([text] if idle else [])


@pytest.mark.parametrize(
    ("status", "claims", "resources"),
    [
        ({}, ("c", "c"), {}),
        (allocated(time=""), ("c",), {}),
        (allocated(256), ("c",), {}),
        ({}, ("c",), {GPU: "1"}),
    ],
)
def test_the_explanation_of_such_a_pod_does_not_say_that_it_fits(status, claims, resources):
    objects = cluster(status, claims, resources)
    ends = run(status, claims, resources).rpartition(": ")[2]
    for nodes in ([], ["n1"]):
        explanation = explain(objects, "default/p", nodes=nodes)
        page = page_of(explanation) if not nodes else node_page(explanation, [0])
        never = "Pod default/p stays pending: kube-scheduler can never write its claims on n1 (SchedulerError): "
        assert page.verdict.text.startswith(never)
        assert page.verdict.text.endswith(f"{ends}.")


def test_a_claim_that_can_be_written_is_not_mentioned():
    for status, resources in (({}, {}), (allocated(255), {}), ({}, {"cpu": "2"})):
        explanation = explain(cluster(status, ("c",), resources), "default/p")
        assert explanation.turned_down is None
        assert explanation.best == ["n1"]


def run(status: dict, claims: tuple[str, ...], resources: dict[str, str]) -> str:
    """What a simulation says of the pod in the end."""
    simulator = Simulator(cluster(status, claims, resources))
    (placement,) = simulator.run().placements
    assert placement.state is PodState.ERROR
    simulator.cluster_state.check_invariants()
    return placement.message


def cluster(status: dict, claims: tuple[str, ...], resources: dict[str, str]) -> list[KubeObject]:
    """A node with devices and a device plugin, and a pod with claims."""
    node = make_node("n1", allocatable={"cpu": "8", "pods": "20", GPU: "1"})
    devices = resource_slice("n1", [device(f"d{i}") for i in range(3)])
    spec = {"resourceClaims": using(*claims)}
    pod = make_pod("p", requests={"cpu": "1", **resources}, spec=spec, metadata={"uid": "u-p"})
    others = map(read, (device_class("gpu", resource=GPU), devices, claim("c", ask(), status=status)))
    return [node, *others, pod]
