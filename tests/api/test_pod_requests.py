"""What a pod asks for, in the readings that rules take of it."""

import pytest

from kubesched.api import Pod, PodRequests, newer_requests_key, requests_key
from kubesched.release import Release
from kubesched.testing import make_pod

MIB = 1024 * 1024


def container(name: str = "c", requests: dict | None = None, **said) -> dict:
    return {"name": name, "image": "x", "resources": {"requests": requests or {}}, **said}


def pod(*containers: dict, init: tuple[dict, ...] = (), status: dict | None = None, **spec) -> Pod:
    init_containers = {"initContainers": list(init)} if init else {}
    return make_pod("p", spec={"containers": list(containers), **init_containers, **spec}, status=status or {})


def test_containers_add_up_exactly_before_they_are_rounded() -> None:
    both = pod(container("a", {"cpu": "0.3m", "memory": "0.4"}), container("b", {"cpu": "0.3m", "memory": "0.4"}))
    assert PodRequests(both).wanted == {"cpu": 1, "memory": 1}


def test_the_largest_init_container_counts_and_sidecars_stay() -> None:
    init = (
        container("i1", {"cpu": "3"}),
        container("s", {"cpu": "1"}, restartPolicy="Always"),
        container("i2", {"cpu": "3", "memory": "5"}),
    )
    found = PodRequests(pod(container(requests={"cpu": "2"}), init=init, overhead={"cpu": "10m"}))
    assert found.wanted == {"cpu": 4010, "memory": 5}


def test_scores_fill_in_defaults_per_container() -> None:
    found = PodRequests(pod(container("a"), container("b", {"cpu": "1"})))
    assert found.scored == {"cpu": 1100, "memory": 400 * MIB}
    assert (found.wanted, found.held, found.held_non_zero) == ({"cpu": 1000}, {"cpu": 1000}, found.scored)


def test_pod_level_requests_replace_the_sum_for_the_filter_only() -> None:
    found = PodRequests(
        pod(container(requests={"cpu": "1", "example.com/gpu": "2"}), resources={"requests": {"cpu": "3"}})
    )
    assert found.wanted == {"cpu": 3000, "example.com/gpu": 2}
    assert found.scored["cpu"] == 1000
    assert found.held == found.wanted
    assert found.held_non_zero == {"cpu": 3000, "memory": 200 * MIB, "example.com/gpu": 2}


def resized(wanted: str, actual: str, allocated: str, condition: dict | None = None) -> PodRequests:
    held = {"name": "c", "resources": {"requests": {"cpu": actual}}, "allocatedResources": {"cpu": allocated}}
    status = {"containerStatuses": [held], **({"conditions": [condition]} if condition else {})}
    return PodRequests(pod(container(requests={"cpu": wanted}), status=status))


@pytest.mark.parametrize(
    ("wanted", "actual", "allocated", "held"), [("1", "2", "3", 3000), ("1", "3", "2", 3000), ("4", "3", "2", 4000)]
)
def test_a_pod_that_is_being_resized_holds_the_largest_amount(
    wanted: str, actual: str, allocated: str, held: int
) -> None:
    found = resized(wanted, actual, allocated)
    assert (found.held["cpu"], found.wanted["cpu"]) == (held, int(wanted) * 1000)


def test_a_resize_that_cannot_be_does_not_count() -> None:
    infeasible = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    assert resized("9", "2", "1", infeasible).held["cpu"] == 2000
    deferred = {**infeasible, "reason": "Deferred"}
    assert resized("9", "2", "1", deferred).held["cpu"] == 9000


WITHOUT_MEMORY = {"resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "600m", "memory": "600Mi"}}
WITH_MEMORY = {"resources": {"requests": {"cpu": "1", "memory": "3Gi"}}, "allocatedResources": {"cpu": "600m"}}
INFEASIBLE = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}


@pytest.mark.parametrize(
    ("status", "held", "held_non_zero"),
    [
        (WITHOUT_MEMORY, (1000, 600), (1000, 600)),
        (WITH_MEMORY, (1000, 3072), (1000, 3072)),
        ({**WITHOUT_MEMORY, "resources": {}}, (100, 100), (200, 300)),
        ({**WITH_MEMORY, "allocatedResources": {}}, (1000, 3072), (1000, 3072)),
        ({"resources": WITH_MEMORY["resources"]}, (100, 100), (200, 300)),
        ({"allocatedResources": WITH_MEMORY["allocatedResources"]}, (100, 100), (200, 300)),
        ({"resources": {"requests": {"cpu": "10m"}}, "allocatedResources": {}}, (100, 100), (200, 300)),
        ({**WITH_MEMORY, **INFEASIBLE}, (1000, 3072), (1000, 3072)),
        ({**WITH_MEMORY, **INFEASIBLE, "resources": WITHOUT_MEMORY["resources"]}, (1000, 0), (1000, 0)),
    ],
)
def test_the_status_of_the_whole_pod_counts_since_v1_37(
    status: dict, held: tuple[int, int], held_non_zero: tuple[int, int]
) -> None:
    """As v1.37.2 answers for pods that want what is left on the node, and by its scores."""
    asking = pod(container(requests={"cpu": "100m", "memory": "100Mi"}), container("other"), status=status)
    newer, older = PodRequests(asking, Release(37)), PodRequests(asking, Release(36))
    assert (newer.held["cpu"], newer.held["memory"]) == (held[0], held[1] * MIB)
    assert (newer.held_non_zero["cpu"], newer.held_non_zero["memory"]) == (held_non_zero[0], held_non_zero[1] * MIB)
    assert older.held == older.wanted


def test_what_the_whole_pod_was_given_replaces_the_sum_of_its_containers_and_overhead_is_added() -> None:
    given = {"name": "c", "allocatedResources": {"cpu": "4"}, "resources": {"requests": {"cpu": "5", "memory": "9Gi"}}}
    asking = pod(
        container(requests={"cpu": "1"}), status={**WITH_MEMORY, "containerStatuses": [given]}, overhead={"cpu": "1"}
    )
    assert PodRequests(asking, Release(37)).held == {"cpu": 2000, "memory": 3072 * MIB}


def test_pods_with_equal_keys_have_equal_requests_and_others_other_keys() -> None:
    pods = [
        pod(container()),
        pod(container(requests={"cpu": "1"})),
        pod(container(requests={"cpu": "2"})),
        pod(container(requests={"cpu": "1"}), container()),
        pod(container(requests={"cpu": "1"}), overhead={"cpu": "1"}),
        pod(container(requests={"cpu": "1"}), init=(container("i", {"cpu": "1"}),)),
        pod(container(requests={"cpu": "1"}), init=(container("i", {"cpu": "1"}, restartPolicy="Always"),)),
        pod(container(requests={"cpu": "1"}), resources={"requests": {"cpu": "1"}}),
        *(
            pod(
                container(requests={"cpu": "1"}),
                status={"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
            )
            for cpu in ("7", "8")
        ),
    ]
    assert len({requests_key(one) for one in pods}) == len(pods)
    assert requests_key(pods[1]) == requests_key(pod(container("other", requests={"cpu": "1"})))


def test_a_pod_has_its_effective_requests_at_hand() -> None:
    asking = pod(container(requests={"cpu": "2"}), init=(container("i", {"memory": "1Mi"}),), overhead={"cpu": "10m"})
    assert asking.requests == {"cpu": 2010, "memory": MIB}
    assert asking.requests is asking.requests  # computed once
    assert pod(container()).requests == {}


@pytest.mark.parametrize(("more", "gpus"), [({}, 3), (INFEASIBLE, 0)])
@pytest.mark.parametrize("spec", [{}, {"resources": {"requests": {"cpu": "2"}}}])
def test_what_its_containers_were_given_does_not_count_beside_the_whole_pod(more: dict, gpus: int, spec: dict) -> None:
    gpu = "example.com/gpu"
    given = {"name": "c", "allocatedResources": {gpu: "5"}, "resources": {"requests": {gpu: "4"}}}
    status = {**WITH_MEMORY, **more, "containerStatuses": [given]}
    asking = pod(container(requests={"cpu": "1", gpu: "3"}), status=status, **spec)
    assert PodRequests(asking, Release(37)).held.get(gpu, 0) == gpus


def test_keys_since_v1_37_tell_apart_what_the_whole_pod_was_given() -> None:
    statuses = [{}, WITH_MEMORY, WITHOUT_MEMORY, {**WITH_MEMORY, **INFEASIBLE}]
    assert len({newer_requests_key(pod(container(), status=status)) for status in statuses}) == len(statuses)
