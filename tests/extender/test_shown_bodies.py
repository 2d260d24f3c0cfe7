"""Bodies in the debug log: what scheduling reads is shown, and everything else is hidden, whatever its name."""

import json
from typing import Any

import pytest

from kubesched.extender.shown_bodies import shown_body
from tests.extender.asking import captured, encode, with_nodes

HIDDEN = "[hidden]"


def shown(document: Any) -> Any:
    return json.loads(shown_body(encode(document)))


def shown_pod(pod: Any) -> Any:
    return shown({"Pod": pod})["Pod"]


def shown_node(node: Any) -> Any:
    return shown({"Nodes": {"items": [node]}})["Nodes"]["items"][0]


@pytest.mark.parametrize(
    "container",
    [
        {"env": [{"name": "DATABASE_URL", "value": "postgres://u:hunter2@db/shop"}]},
        {"env": [{"name": "PGPASS", "value": "hunter2"}]},
        {"args": ["--password=hunter2"]},
        {"command": ["sh", "-c", "login hunter2"]},
        {"livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "hunter2"}]}}},
        {"aFieldOfAnotherYear": {"requests": {"cpu": "hunter2"}}},
    ],
)
def test_what_no_rule_reads_of_a_container_is_hidden(container: dict[str, Any]):
    ((field, _),) = container.items()
    assert shown_pod({"spec": {"containers": [{"name": "c", **container}]}}) == {
        "spec": {"containers": [{"name": "c", field: HIDDEN}]}
    }


def test_of_annotations_only_the_keys_are_shown():
    metadata = {"name": "p", "annotations": {"example.com/token": "hunter2", "a": {"b": "hunter2"}}}
    hidden = {"name": "p", "annotations": {"example.com/token": HIDDEN, "a": HIDDEN}}
    assert shown_pod({"metadata": metadata}) == {"metadata": hidden}
    assert shown_node({"metadata": metadata}) == {"metadata": hidden}


def test_secrets_and_free_text_are_hidden():
    pod = {
        "spec": {
            "imagePullSecrets": [{"name": "pull"}],
            "volumes": [{"name": "v", "secret": {"secretName": "s"}}, {"name": "w", "csi": {"volumeAttributes": {}}}],
        },
        "status": {"conditions": [{"type": "Ready", "status": "False", "message": "hunter2"}]},
    }
    assert shown_pod(pod) == {
        "spec": {
            "imagePullSecrets": HIDDEN,
            "volumes": [{"name": "v", "secret": HIDDEN}, {"name": "w", "csi": {"volumeAttributes": HIDDEN}}],
        },
        "status": {"conditions": [{"type": "Ready", "status": "False", "message": HIDDEN}]},
    }


TERM = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
AFFINITY_TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "shop"}}, "namespaces": ["d"]}
POD = {
    "metadata": {
        "name": "p",
        "namespace": "d",
        "uid": "u",
        "resourceVersion": "7",
        "labels": {"app": "shop"},
        "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "uid": "u2", "controller": True}],
    },
    "spec": {
        "nodeName": "n1",
        "schedulerName": "mine",
        "priority": 7,
        "nodeSelector": {"disk": "ssd"},
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [AFFINITY_TERM]},
        },
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [
            {
                "name": "c",
                "image": "shop:1",
                "resources": {"requests": {"cpu": "1"}, "limits": {"example.com/gpu": 2}},
                "ports": [{"hostPort": 80, "protocol": "TCP", "hostIP": "10.0.0.1"}],
            }
        ],
        "overhead": {"cpu": "250m"},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}],
        "schedulingGates": [{"name": "wait"}],
        "resourceClaims": [{"name": "gpu"}],
    },
    "status": {"phase": "Pending", "nominatedNodeName": "n1", "conditions": [{"type": "A", "status": "True"}]},
}
NODE = {
    "metadata": {"name": "n1", "labels": {"zone": "a"}},
    "spec": {"unschedulable": True, "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
    "status": {"allocatable": {"cpu": "4", "memory": 1024}, "conditions": [{"type": "Ready", "status": "True"}]},
}


def test_what_scheduling_reads_is_shown():
    request = {"Pod": POD, "Nodes": {"items": [NODE]}, "NodeNames": None}
    assert shown(request) == request


@pytest.mark.parametrize(
    "body",
    [
        {"NodeNameToVictims": {"n1": {"Pods": [POD], "NumPDBViolations": 1}}},
        {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "u"}], "NumPDBViolations": 1}}},
        {"pod": POD, "nodenames": ["n1"], "nodeNameToMetaVictims": {"n1": {"pods": [{"uid": "u"}]}}},
        {"nodeToVictims": {"n1": {"pods": [POD]}}},
        {"PodName": "p", "PodNamespace": "d", "PodUID": "u", "Node": "n1"},
        {"NodeNames": ["n1"], "FailedNodes": {"n2": "full"}, "FailedAndUnresolvableNodes": {"n3": "old"}, "Error": ""},
        [{"Host": "n1", "Score": 7}, {"host": "n2", "score": 0}],
        {"Error": "no such pod"},
    ],
)
def test_the_fields_of_the_protocol_are_shown_in_either_spelling(body: Any):
    assert shown(body) == body


@pytest.mark.parametrize("name", ["bind", "filter-names", "filter-nodes", "preempt-meta", "preempt-victims"])
def test_what_kube_scheduler_sends_is_shown_with_its_names(name: str):
    text = shown_body(captured(name))
    assert json.loads(text).keys() == json.loads(captured(name)).keys()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"Pod": "hunter2"}, {"Pod": HIDDEN}),
        ({"Pod": {"metadata": ["hunter2"]}}, {"Pod": {"metadata": HIDDEN}}),
        ({"Pod": {"metadata": {"name": {"x": "hunter2"}}}}, {"Pod": {"metadata": {"name": HIDDEN}}}),
        ({"Pod": {"metadata": {"labels": {"a": ["hunter2"]}}}}, {"Pod": {"metadata": {"labels": {"a": HIDDEN}}}}),
        ({"NodeNames": {"a": "hunter2"}, "other": None}, {"NodeNames": HIDDEN, "other": None}),
        ("hunter2", HIDDEN),
    ],
)
def test_a_value_of_another_type_than_the_field_has_is_hidden(body: Any, expected: Any):
    assert shown(body) == expected


def nested(depth: int) -> bytes:
    return b'{"Pod":%b0%b}' % (b"[" * depth, b"]" * depth)


def test_nesting_never_raises():
    assert shown_body(nested(500)) == '{"Pod":"[hidden]"}'
    assert shown_body(nested(100_000)) == "[200009 bytes of JSON that is nested too deep to be shown]"


NOT_JSON = [b'{"token": "abc"', b"\xff", b"Bearer abc", b"", b'{"NodeNames":["\xff"]}', b"1" * 5000]


@pytest.mark.parametrize("body", NOT_JSON)
def test_of_a_body_that_is_not_json_only_the_length_is_shown(body: bytes):
    assert shown_body(body) == f"[{len(body)} bytes that are not JSON]"


def test_a_long_body_is_cut():
    names = [f"node-{i:05}" for i in range(20_000)]
    body = encode({"NodeNames": names})
    assert shown_body(body) == f"{body[: 64 * 1024].decode()}... [{len(body) - 64 * 1024} more characters]"


def test_nodes_keep_what_identifies_them():
    body = with_nodes({"metadata": {"name": "n1", "managedFields": [{"manager": "kubelet"}]}})
    assert '{"metadata":{"name":"n1","managedFields":"[hidden]"}}' in shown_body(body)
