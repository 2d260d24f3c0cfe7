"""What new pods get, and why they are refused, is what kube-apiserver gives them and says."""

import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kubesched.admission import Refusals, refusal_message
from kubesched.api import Pod, parse_quantity
from kubesched.errors import KubeschedError
from kubesched.snapshot import load_snapshot
from tests.admission.device_claim_cases import CASES
from tests.integration.admission_cases import (
    LAST,
    NAMESPACES,
    ONE_AT_A_TIME,
    POLICIES,
    PRIORITY_CLASSES,
    RUNTIME_CLASSES,
    limit_range,
    pods,
    quota,
)
from tests.integration.api_client import ApiClient, ApiError, Document, path_of
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import wait_until
from tests.snapshot.builders import listed, other, stream

pytestmark = [pytest.mark.integration, pytest.mark.timeout(60)]

MORE = "maybe more"

Answer = Document | list[str]
"""What a pod becomes, or why it is refused: how the message begins, and the faults in the order of their letters."""

CLASSES = [*PRIORITY_CLASSES, *RUNTIME_CLASSES]
SEED = 1
IN_EACH_NAMESPACE = 8
KINDS = (
    "is invalid",
    "aggregate container requests",
    "minimum",
    "maximum",
    "max limit to request ratio",
    "must specify",
    "exceeded quota",
    "RuntimeClass",
    "conflict",
    "PriorityClass",
)


def test_new_pods_are_completed_and_refused_as_by_kube_apiserver(cluster: ControlPlane) -> None:
    prepare(cluster.client)
    tried = list(pods(SEED, IN_EACH_NAMESPACE))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda pod: answer_of_api_server(cluster.client, pod), tried))
    differences = [
        {"pod": pod, "kube-apiserver": answer, "kubesched": ours}
        for pod, answer, ours in zip(tried, answers, map(answers_of_kubesched, tried), strict=True)
        if not any(agree(answer, one) for one in ours)
    ]
    assert not differences, json.dumps(differences, indent=1)
    said = Counter(kind for kind in KINDS for answer in answers if isinstance(answer, list) and kind in str(answer))
    assert set(said) == set(KINDS)
    assert sum(isinstance(answer, dict) for answer in answers) > len(tried) / 4


def prepare(client: ApiClient) -> None:
    """Create everything, and wait until the API server counts with it: with the last object of each kind."""
    namespaces = [other("v1", "Namespace", name) for name in (*NAMESPACES, LAST)]
    client.create_all([*namespaces, *CLASSES])
    last = [
        other("node.k8s.io/v1", "RuntimeClass", LAST, handler="runc"),
        other("scheduling.k8s.io/v1", "PriorityClass", LAST, value=1),
        limit_range(LAST, {"type": "Container", "min": {"cpu": "1"}}),
        quota(LAST, LAST, {"pods": "0"}, {"pods": "0"}),
    ]
    for document in (*POLICIES, *last):
        client.create({key: value for key, value in document.items() if key != "status"})
        if "status" in document:
            metadata, status = document["metadata"], {"status": document["status"]}
            client.patch("ResourceQuota", metadata["name"], status, metadata["namespace"], "status")
    for cpu, refusal in (("500m", "minimum cpu"), ("1", "exceeded quota")):
        resources = {"requests": {"cpu": cpu}}
        spec = {"containers": [{"name": "c", "image": "i", "resources": resources}]}
        spec |= {"runtimeClassName": LAST, "priorityClassName": LAST}
        probe = other("v1", "Pod", "probe", metadata={"namespace": LAST}, spec=spec)
        wait_until(lambda probe=probe, refusal=refusal: refusal in str(answer_of_api_server(client, probe)), refusal)


def answer_of_api_server(client: ApiClient, pod: Document) -> Answer:
    """What a pod becomes, or why it is refused."""
    try:
        return completed(client.call("POST", path_of("Pod", pod["metadata"]["namespace"]), pod, dryRun="All"))
    except ApiError as error:
        return without_order(str(error).partition(": ")[2])


def agree(real: Answer, ours: Answer) -> bool:
    if isinstance(ours, list) and ours[-1] == MORE:
        return isinstance(real, list) and real[0] == ours[0] and ours[1] in real
    return real == ours


def answers_of_kubesched(pod: Document) -> list[Answer]:
    """The same; several answers where an API server asks quotas in any order."""
    namespace = pod["metadata"]["namespace"]
    policies = [one for one in POLICIES if one["metadata"]["namespace"] == namespace]
    alone = [[one] for one in policies] if namespace in ONE_AT_A_TIME else []
    return [answer_of_kubesched([*CLASSES, *some], pod) for some in (policies, *alone)]


def answer_of_kubesched(cluster: Sequence[Document], pod: Document) -> Answer:
    try:
        loaded = load_snapshot(stream(listed(*cluster)), manifests=[stream(pod)])
    except KubeschedError as error:
        return [f'Pod "{pod["metadata"]["name"]}" is invalid', str(error).partition("): ")[2], MORE]
    (found,) = loaded.of(Pod)
    if fault := Refusals(loaded, []).admit(found):
        return without_order(refusal_message(found, fault.partition(" (with the defaults")[0]))
    return completed(found.document)


def without_order(message: str) -> list[str]:
    """A refusal with its faults sorted: an API server says them in any order."""
    begin, bracket, faults = message.removesuffix("]").partition(": [")
    if not bracket:
        return list(message.partition(": ")[::2])
    return [begin, *sorted(faults.replace(", but ", " but ").split(", "))]


def completed(pod: Document) -> Document:
    """What admission gives a pod, with quantities as numbers."""
    spec = pod["spec"]
    amounts = {
        field: [resources_of(one) for one in spec.get(field) or ()] for field in ("containers", "initContainers")
    }
    plain = {field: spec.get(field) for field in ("tolerations", "priority", "preemptionPolicy", "priorityClassName")}
    selector, overhead = spec.get("nodeSelector") or {}, numbers(spec.get("overhead"))
    return {**plain, **amounts, "resources": resources_of(spec), "nodeSelector": selector, "overhead": overhead}


def resources_of(part: Document) -> Document:
    return {field: numbers(amounts) for field, amounts in (part.get("resources") or {}).items() if amounts}


def numbers(quantities: Any) -> dict[str, int]:
    return {name: parse_quantity(text) for name, text in (quantities or {}).items()}


def test_new_resource_claims_are_taken_and_refused_as_by_kube_apiserver(cluster: ControlPlane) -> None:
    said = [verdict_on(cluster.client, document) for document, _ in CASES]
    wrong = [(message, answer) for (_, message), answer in zip(CASES, said, strict=True) if message not in answer]
    assert not wrong
    assert [bool(answer) for answer in said] == [bool(message) for _, message in CASES]


def verdict_on(client: ApiClient, document: Document) -> str:
    """What the API server says against an object that it would otherwise create; empty where it takes it."""
    try:
        client.call("POST", path_of(document["kind"]), document, dryRun="All")
    except ApiError as error:
        return str(error)
    return ""
