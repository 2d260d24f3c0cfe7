from kubesched.framework import Action, CreateObject, DeleteObject, WriteObject
from kubesched.session import Simulator
from kubesched.testing import make_node, make_pod
from tests.device_cluster import GPU, device_class, device_cluster
from tests.plugins.dynamic_resources.device_objects import ask, claim, device, resource_slice, using
from tests.plugins.one_plugin import read

GUARD = "resource.kubernetes.io/delete-protection"


def run(*objects: object, fails: str = "") -> tuple[Simulator, list[Action]]:
    """A run, and what was written of claims and pods beside Bindings; writes of one subresource may fail."""
    simulator, actions = Simulator(list(objects)), []
    perform = simulator.cluster.perform

    def performed(action: Action) -> object:
        done = perform(action)
        if isinstance(action, WriteObject | CreateObject | DeleteObject):
            actions.append(action)
            if fails and isinstance(action, WriteObject) and action.kind == fails:
                return type(done)(action, "no")
        return done

    simulator.cluster.perform = performed
    simulator.run()
    return simulator, actions


def steps(actions: list[Action]) -> list[str]:
    return [f"{type(one).__name__} {one.kind} {getattr(one, 'subresource', '')}".strip() for one in actions]


def test_a_claim_gets_its_finalizer_and_then_its_devices_and_user():
    pod = make_pod("p", spec={"resourceClaims": using("mine")})
    objects = [
        make_node("n"),
        device_class("gpu", ""),
        read(resource_slice("n", [device("d")])),
        read(claim("mine", ask())),
    ]
    simulator, actions = run(*objects, pod)
    assert steps(actions) == ["WriteObject ResourceClaim", "WriteObject ResourceClaim status"]
    document = simulator.cluster_state.objects.get("ResourceClaim", "default/mine").document
    assert document["metadata"]["finalizers"] == [GUARD]
    assert document["status"]["reservedFor"] == [{"resource": "pods", "name": "p", "uid": pod.uid}]
    (result,) = document["status"]["allocation"]["devices"]["results"]
    assert result == {"request": "r0", "driver": "gpu.example.com", "pool": "n", "device": "d"}
    assert simulator.cluster_state.devices.in_use.holders(("gpu.example.com", "n", "d")) == ["default/mine"]


def test_an_extended_resource_gets_a_claim_that_the_status_of_the_pod_names():
    simulator, actions = run(*device_cluster(), make_pod("p", requests={"cpu": "1", GPU: 1}))
    assert steps(actions) == [
        "CreateObject ResourceClaim",
        "WriteObject ResourceClaim",
        "WriteObject ResourceClaim status",
        "WriteObject Pod status",
    ]
    claims = [one for one in simulator.cluster_state.objects.list("ResourceClaim") if one.name.startswith("p-")]
    (made,) = claims
    status = simulator.cluster_state.objects.get("Pod", "default/p").status.extended_resource_claim_status
    assert status.resource_claim_name == made.name
    assert [one.request_name for one in status.request_mappings] == ["container-0-request-1"]
    simulator.cluster_state.check_invariants()


def test_a_claim_that_was_created_is_deleted_where_binding_fails():
    simulator, actions = run(*device_cluster(), make_pod("p", requests={GPU: 1}), fails="Pod")
    assert steps(actions)[4:6] == ["WriteObject ResourceClaim", "DeleteObject ResourceClaim"]
    assert not [one for one in simulator.cluster_state.objects.list("ResourceClaim") if one.name.startswith("p-")]
    simulator.cluster_state.check_invariants()
