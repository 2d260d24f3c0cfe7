"""/metrics/resources: the amounts were recorded from kube-scheduler v1.36.3 with the same pods."""

from typing import Any

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.metrics import PodResources
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod

Resources = dict[str, dict[str, str]]


def resources(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> Resources:
    return {"requests": requests or {}, "limits": limits or {}}


SMALL = resources({"cpu": "100m", "memory": "10Mi"}, {"cpu": "200m", "memory": "20Mi"})
INIT = {"resources": resources({"cpu": "700m"}, {"cpu": "900m"})}
SIDECAR = {"restartPolicy": "Always", "resources": resources({"cpu": "50m"}, {"cpu": "60m"})}


def collected(*pods: Any) -> dict[str, dict[str, float]]:
    """`request` and `limit`: "pod resource unit" -> value."""
    state = ClusterState()
    for obj in (make_node("n"), *pods):
        state.apply(WatchEvent(EventType.ADDED, type(obj).__name__, obj))
    return {
        family.name.rpartition("_")[2]: {
            " ".join(sample.labels[label] for label in ("pod", "resource", "unit")): sample.value
            for sample in family.samples
        }
        for family in PodResources(state).collect()
    }


def pod(*containers: Resources, init: tuple[dict[str, Any], ...] = (), **spec: Any) -> Any:
    return make_pod(
        "p",
        node="n",
        spec={
            "containers": [{"name": f"c{i}", "resources": one} for i, one in enumerate(containers)],
            "initContainers": [{"name": f"i{i}", **one} for i, one in enumerate(init)],
            **spec,
        },
    )


MEMORY = {"p memory bytes": 10 * 1024**2}
MOST = {"p memory bytes": 20 * 1024**2}


@pytest.mark.parametrize(
    ("given", "requests", "limits"),
    [
        (pod(SMALL, resources({"cpu": "100m"})), {"p cpu cores": 0.2, **MEMORY}, {"p cpu cores": 0.2, **MOST}),
        (pod(SMALL, init=(INIT,)), {"p cpu cores": 0.7, **MEMORY}, {"p cpu cores": 0.9, **MOST}),
        (pod(SMALL, init=(SIDECAR, INIT)), {"p cpu cores": 0.75, **MEMORY}, {"p cpu cores": 0.96, **MOST}),
        (pod(resources({"cpu": "0"}, {"cpu": "0"})), {}, {}),
        (
            pod(SMALL, resources=resources({"cpu": "1", "memory": "30Mi"}, {"cpu": "2", "memory": "64Mi"})),
            {"p cpu cores": 1, "p memory bytes": 30 * 1024**2},
            {"p cpu cores": 2, "p memory bytes": 64 * 1024**2},
        ),
        (
            pod(resources({"hugepages-2Mi": "4Mi", "example.com/gpu": "2", "ephemeral-storage": "1Gi"})),
            {"p hugepages-2Mi bytes": 4 * 1024**2, "p example.com/gpu ": 2, "p ephemeral-storage bytes": 1024**3},
            {},
        ),
    ],
)
def test_a_pod_has_the_larger_of_its_containers_and_init_containers(
    given: Any, requests: dict[str, float], limits: dict[str, float]
) -> None:
    assert collected(given) == {"request": requests, "limit": limits}


def test_overhead_is_added_to_requests_and_to_limits_that_there_are() -> None:
    given = pod(resources({"cpu": "1"}, {"cpu": "2"}), overhead={"cpu": "500m", "memory": "1Ki"})
    assert collected(given) == {
        "request": {"p cpu cores": 1.5, "p memory bytes": 1024},
        "limit": {"p cpu cores": 2.5},
    }


def test_pods_without_a_node_and_of_other_schedulers_are_shown_and_finished_ones_are_not() -> None:
    waiting = make_pod("waits", requests={"cpu": "1"}, spec={"schedulerName": "another"})
    done = make_pod("done", requests={"cpu": "1"}, node="n", status={"phase": "Succeeded"})
    assert collected(waiting, done)["request"] == {"waits cpu cores": 1}


def test_the_page_of_a_follower_is_empty() -> None:
    assert list(PodResources(ClusterState(), lambda: False).collect()) == []
