"""A stock kube-scheduler calls our extender, and pods land where the plugin says: every verb, both modes, with TLS."""

from pathlib import Path
from typing import Any

import pytest

from kubesched.testing import make_node, make_object, make_pod
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartExtender, StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import wait_until
from tests.serving.certificates import Authority

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

MODES = ("names", "nodes")


def placed(client: ApiClient) -> dict[str, str]:
    """The nodes of the pods that have one."""
    pods = client.read_all("Pod")
    return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"]}


def scheduled_condition(client: ApiClient, pod: str) -> dict[str, Any]:
    """What the pod's status says of its scheduling."""
    conditions = client.get("Pod", pod).get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "PodScheduled"), {})


def make_nodes(client: ApiClient, n: int = 6, **more: Any) -> None:
    client.create_all([make_node(f"node-{i}", zone="ab"[i // 2 % 2], **more) for i in range(n)])


def is_in_form(request: dict[str, Any], mode: str) -> bool:
    """Whether a request shows its nodes as the mode says."""
    return (request["NodeNames"] is None) == (mode == "nodes") and (request["Nodes"] is None) == (mode == "names")


@pytest.mark.parametrize("tls", [False, True], ids=["http", "mtls"])
@pytest.mark.parametrize("mode", MODES)
def test_pods_land_where_filter_and_score_say(
    cluster: ControlPlane,
    start_scheduler: StartScheduler,
    start_extender: StartExtender,
    tmp_path: Path,
    mode: str,
    tls: bool,
) -> None:
    client = cluster.client
    make_nodes(client)  # odd: 1 and 5 in zone a, 3 in zone b
    options: list[str] = []
    tls_config: dict[str, str] = {}
    if tls:
        authority = Authority(tmp_path)
        certificate, key = authority.issue("extender")
        client_certificate, client_key = authority.issue("kube-scheduler")
        options = [
            *("--tls-cert-file", str(certificate), "--tls-private-key-file", str(key)),
            *("--client-ca-file", str(authority.path), "--client-cn", "kube-scheduler"),
        ]
        tls_config = {"caFile": str(authority.path), "certFile": str(client_certificate), "keyFile": str(client_key)}
    scheme = "https" if tls else "http"
    extender = start_extender(mode, ["OddNodes", "ZoneB"], *options, scheme=scheme)
    assert extender.stanza["nodeCacheCapable"] is (mode == "names")
    if tls:
        extender.stanza["tlsConfig"] = tls_config
    extender.stanza["weight"] = 1000  # so that our score outweighs kube-scheduler's own
    start_scheduler({"extenders": [extender.stanza]})
    client.create_all([make_pod(f"web-{i}", requests={"cpu": "100m"}) for i in range(8)])
    wait_until(lambda: len(placed(client)) == 8, "eight pods on nodes")
    assert set(placed(client).values()) == {"node-3"}
    for i in range(8):
        ((request, answer),) = extender.calls_for(f"web-{i}", "filter")
        assert is_in_form(request, mode)
        assert answer["FailedAndUnresolvableNodes"] == {f"node-{n}": "node number is even" for n in (0, 2, 4)}
        ((request, scores),) = extender.calls_for(f"web-{i}", "prioritize")
        assert is_in_form(request, mode)
        assert {one["Host"]: one["Score"] for one in scores} == {"node-1": 0, "node-3": 10, "node-5": 0}


@pytest.mark.parametrize("mode", MODES)
def test_events_and_conditions_carry_the_plugins_words(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender, mode: str
) -> None:
    client = cluster.client
    client.create_all([make_node("node-2"), make_node("node-4")])
    extender = start_extender(mode, ["OddNodes"])
    start_scheduler({"extenders": [extender.stanza]})
    client.create(make_pod("web"))
    condition = wait_until(lambda: scheduled_condition(client, "web"), "a condition")
    assert condition["reason"] == "Unschedulable"
    assert "0/2 nodes are available: 2 node number is even." in condition["message"]
    event = wait_until(lambda: client.read_all("Event"), "an event")[0]
    assert event["reason"] == "FailedScheduling"
    assert "2 node number is even" in event["note"]


def test_prioritize_is_not_called_for_one_node(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    client.create_all([make_node("node-1"), make_node("node-2")])
    extender = start_extender("names", ["OddNodes", "ZoneB"])
    start_scheduler({"extenders": [extender.stanza]})
    client.create(make_pod("web"))
    wait_until(lambda: placed(client) == {"web": "node-1"}, "the pod on its node")
    assert len(extender.calls_for("web", "filter")) == 1
    assert not extender.calls_for("web", "prioritize")


def test_a_plugins_fault_is_the_pods_scheduler_error(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    client.create_all([make_node("node-1"), make_node("node-x")])
    extender = start_extender("names", ["OddNodes"])
    start_scheduler({"extenders": [extender.stanza]})
    client.create(make_pod("web"))
    condition = wait_until(lambda: scheduled_condition(client, "web"), "a condition")
    assert condition["reason"] == "SchedulerError"
    assert 'running "OddNodes" filter plugin: ValueError' in condition["message"]


@pytest.mark.parametrize("mode", MODES)
def test_preemption_leaves_nodes_alone_that_the_plugin_strikes(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender, mode: str
) -> None:
    client = cluster.client
    client.create(make_object("PriorityClass", "high", value=1000))
    client.create_all([make_node(f"node-{i}", allocatable={"cpu": "1"}) for i in (1, 2)])
    for i, labels in ((1, {"precious": "yes"}), (2, {})):
        client.create(make_pod(f"low-{i}", labels=labels, requests={"cpu": "1"}))
        client.bind(f"low-{i}", f"node-{i}")
    extender = start_extender(mode, ["KeepPrecious"])
    assert "preemptVerb" in extender.stanza
    start_scheduler({"extenders": [extender.stanza]})
    client.create(make_pod("vip", requests={"cpu": "1"}, spec={"priorityClassName": "high", "priority": 1000}))
    wait_until(lambda: "deletionTimestamp" in _metadata(client, "low-2"), "the victim to be asked to go")
    assert "deletionTimestamp" not in _metadata(client, "low-1")
    ((request, answer),) = extender.calls_for("vip", "preempt")[:1]
    assert (request["NodeNameToMetaVictims"] is None) == (mode == "nodes")
    assert list(answer["NodeNameToMetaVictims"]) == ["node-2"]


def _metadata(client: ApiClient, pod: str) -> dict[str, Any]:
    """The pod's metadata; as if it were on its way out where it is gone already."""
    for found in client.read_all("Pod"):
        if found["metadata"]["name"] == pod:
            metadata: dict[str, Any] = found["metadata"]
            return metadata
    return {"deletionTimestamp": "gone"}


def test_pods_are_bound_through_us_with_annotations(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    make_nodes(client, 3)
    extender = start_extender("names", ["OneDevice"])
    assert extender.stanza["bindVerb"] == "bind"
    start_scheduler({"extenders": [extender.stanza], "podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1})

    def answers(pod: str) -> list[object]:
        return [answer for _, answer in extender.calls_for(pod, "bind")]

    client.create_all([make_pod(f"gpu-{i}", requests={"cpu": "1"}) for i in range(3)])
    wait_until(lambda: len(placed(client)) == 3, "three pods on nodes", seconds=60)
    assert sorted(placed(client).values()) == ["node-0", "node-1", "node-2"]
    for name, node in placed(client).items():
        assert client.get("Pod", name)["metadata"]["annotations"]["example.com/device"] == f"{node}/0"
        wait_until(lambda name=name: {"Error": ""} in answers(name), "an answer, which comes after the write")
    wait_until(lambda: extender.metric("kubesched_extender_assumed_pods") == 0, "the watch to show them")


def test_a_managed_resource_is_ours_alone(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    make_nodes(client, 4)  # nobody offers the resource: kube-scheduler's own plugin has to ignore it
    extender = start_extender("names", ["OddNodes"])
    extender.stanza["managedResources"] = [{"name": "example.com/gpu", "ignoredByScheduler": True}]
    start_scheduler({"extenders": [extender.stanza]})
    gpu = {"example.com/gpu": "1"}
    wanting = [{"name": "app", "image": "app", "resources": {"requests": gpu, "limits": gpu}}]
    client.create_all([make_pod("gpu", spec={"containers": wanting}), make_pod("plain")])
    wait_until(lambda: len(placed(client)) == 2, "both pods on nodes")
    assert placed(client)["gpu"] in ("node-1", "node-3")
    assert len(extender.calls_for("gpu", "filter")) == 1
    assert not extender.calls_for("plain", "filter")


@pytest.mark.parametrize("ignorable", [True, False])
def test_what_becomes_of_pods_when_the_extender_is_gone(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender, ignorable: bool
) -> None:
    client = cluster.client
    client.create_all([make_node("node-2")])
    extender = start_extender("names", ["OddNodes"])
    extender.stanza["ignorable"] = ignorable
    start_scheduler({"extenders": [extender.stanza]})
    extender.kill()
    client.create(make_pod("web"))
    if ignorable:
        wait_until(lambda: placed(client) == {"web": "node-2"}, "the pod on its node")
    else:
        condition = wait_until(lambda: scheduled_condition(client, "web"), "a condition")
        assert condition["reason"] == "SchedulerError"
        assert "connection refused" in condition["message"]


def test_two_replicas_behind_two_urls_agree(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    make_nodes(client)
    replicas = [start_extender("names", ["OddNodes", "ZoneB"]) for _ in range(2)]
    for replica in replicas:
        replica.stanza["weight"] = 1000
    start_scheduler({"extenders": [replica.stanza for replica in replicas]})
    client.create_all([make_pod(f"web-{i}") for i in range(4)])
    wait_until(lambda: len(placed(client)) == 4, "four pods on nodes")
    assert set(placed(client).values()) == {"node-3"}
    first, second = (replica.calls_for("web-0", "filter")[0] for replica in replicas)
    assert sorted(first[1]["NodeNames"]) == sorted(second[0]["NodeNames"]) == sorted(second[1]["NodeNames"])
