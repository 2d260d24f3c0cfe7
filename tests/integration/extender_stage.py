"""A crowd of pods, each with a script for the plugin `Scripted`, and what became of them."""

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.integration.api_client import ApiClient, Document
from tests.integration.extender_process import ExtenderProcess
from tests.integration.processes import wait_until

NODES = ("main-a", "main-b", "main-c")
VERDICTS = ("fits", "unschedulable", "unresolvable", "narrowed", "error")
VERDICT_COMBINATIONS = [*itertools.product(VERDICTS, repeat=3), ("fits", "raises", "unresolvable")]
SCORE_COMBINATIONS: list[tuple[int | None, ...]] = [
    *itertools.product((0, 55, 100), repeat=3),
    (51, 49, 44),  # the first two are both 5 on the wire
    (None, 100, 100),
]
STRIKE_COMBINATIONS = [struck for n in range(4) for struck in itertools.combinations("abc", n)]
BIND_OUTCOMES = ("ok", "taken", "raises", "late")


# --- the pods ---


def name_of(kind: str, combination: Iterable[object]) -> str:
    return "-".join([kind, *(str(one).lower() for one in combination)])


def scripted(name: str, group: str = "main", *, spec: Mapping[str, Any] | None = None, **script: Any) -> KubeObject:
    """A pod for the nodes of a group, with its script."""
    annotations = {"example.com/script": json.dumps({"score": {}, "strike": []} | script)}
    return make_pod(name, annotations=annotations, node_selector={"group": group}, spec=spec or {})


def important(name: str, group: str, **script: Any) -> KubeObject:
    """A pod that needs a whole node and may preempt for it."""
    resources = {"requests": {"cpu": "1"}}
    spec = {
        "priorityClassName": "high",
        "priority": 1000,
        "containers": [{"name": "app", "image": "app"} | {"resources": resources}],
    }
    return scripted(name, group, spec=spec | script.pop("spec", {}), **script)


def crowd() -> list[KubeObject]:
    """All combinations, one pod each."""
    alike = dict.fromkeys(NODES, 50)
    pods = [
        scripted(name_of("verdicts", verdicts), filter=dict(zip(NODES, verdicts, strict=True)), score=alike)
        for verdicts in VERDICT_COMBINATIONS
    ]
    pods += [
        scripted(name_of("scores", scores), score=dict(zip(NODES, scores, strict=True)))
        for scores in SCORE_COMBINATIONS
    ]
    pods += [scripted(f"bind-{outcome}", score=alike, bind=outcome) for outcome in BIND_OUTCOMES]
    pods += [
        important(group, group, strike=[f"{group}-{letter}" for letter in struck])
        for struck in STRIKE_COMBINATIONS
        for group in (name_of("strike", struck),)
    ]
    rejected = {f"rejected-{letter}": "unschedulable" for letter in "abc"}
    pods += [important("faulty", "faulty", strike=None), important("protected", "protected")]
    pods.append(scripted("rejected", "rejected", filter=rejected, spec={"priorityClassName": "high", "priority": 1000}))
    ignoring = {"schedulerName": "ignoring"}
    pods.append(scripted("ignored-filter", spec=ignoring, filter={"main-b": "error"}, score=alike))
    pods.append(scripted("ignored-bind", spec=ignoring, score=alike, bind="taken"))
    pods.append(important("ignored-preempt", "ignored", strike=None, spec=ignoring))
    return pods


PREEMPTION_GROUPS = [name_of("strike", struck) for struck in STRIKE_COMBINATIONS] + ["faulty", "protected", "ignored"]
N_NODES = 3 * (len(PREEMPTION_GROUPS) + 2)


def fill(client: ApiClient) -> None:
    """Make the nodes. In all groups but main each has a pod, the one on `a` being the least important."""
    client.create(make_object("PriorityClass", "high", value=1000))
    client.create_all([make_object("PriorityClass", f"low-{i}", value=i) for i in (1, 2, 3)])
    client.create_all([make_node(name, labels={"group": "main"}, allocatable={"pods": 1000}) for name in NODES])
    for group in [*PREEMPTION_GROUPS, "rejected"]:
        room = {"cpu": "1" if group != "rejected" else "4"}
        names = [f"{group}-{letter}" for letter in "abc"]
        client.create_all([make_node(name, labels={"group": group}, allocatable=room) for name in names])
        low = [{"priorityClassName": f"low-{i}", "priority": i} for i in (1, 2, 3)]
        client.create_all(
            [
                make_pod(f"on-{name}", labels={"app": f"on-{name}"}, requests={"cpu": "1"}, spec=spec)
                for name, spec in zip(names, low, strict=True)
            ]
        )
        for name in names:
            client.bind(f"on-{name}", name)
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "on-protected-a"}}}
    client.create(make_object("PodDisruptionBudget", "protected-a", spec=budget))


# --- the stage ---


class Stage:
    """What became of all pods.

    Attributes:
        mode: names or nodes.
        pods: as the API server has them, by name.
        calls: requests and answers, by pod and verb.
    """

    def __init__(self, mode: str, extender: ExtenderProcess, client: ApiClient) -> None:
        self.mode = mode
        self.url = extender.stanza["urlPrefix"]
        names = [pod.name for pod in crowd()]
        client.create_all(crowd())
        wait_until(lambda: self._is_settled(client, names), "all pods to be placed or refused", seconds=60)
        self.pods = {pod["metadata"]["name"]: pod for pod in client.read_all("Pod")}
        wait_until(lambda: self._all_noted(client), "an event with the words of every condition", seconds=60)
        wait_until(lambda: extender.metric("kubesched_extender_in_flight") == 0, "the last answer to be recorded")
        self.calls: dict[tuple[str, str], list[tuple[Document, Any]]] = defaultdict(list)
        for verb, request, answer in extender.calls():
            pod = request.get("PodName") or request["Pod"]["metadata"]["name"]
            self.calls[pod, verb].append((request, answer))

    @staticmethod
    def _is_settled(client: ApiClient, names: Iterable[str]) -> bool:
        found = {pod["metadata"]["name"]: pod for pod in client.read_all("Pod")}
        return all(node_of(found[name]) or condition_of(found[name]) for name in names) and all(
            is_leaving(found.get(f"on-{nominated}"))
            for pod in found.values()
            if (nominated := pod.get("status", {}).get("nominatedNodeName"))
        )

    def _all_noted(self, client: ApiClient) -> bool:
        notes = defaultdict(list)
        for event in client.read_all("Event"):
            if event["reason"] == "FailedScheduling":
                notes[event["regarding"]["name"]].append(event["note"])
        refused = {name: condition_of(pod) for name, pod in self.pods.items() if condition_of(pod)}
        return all(condition["message"] in notes[name] for name, condition in refused.items())

    def node(self, name: str) -> str:
        """Where a pod is; empty for nowhere."""
        return node_of(self.pods[name])

    def refusal(self, name: str) -> tuple[str, str]:
        """Reason and message of a pod that is nowhere; an event says the same."""
        assert self.node(name) == ""
        condition = condition_of(self.pods[name])
        return condition["reason"], condition["message"]

    def answers(self, name: str, verb: str) -> list[Any]:
        """What was answered for a pod; the requests have the form of the mode."""
        for request, _ in self.calls[name, verb]:
            if verb in ("filter", "prioritize"):
                assert (request["NodeNames"] is None) == (request["Nodes"] is not None) == (self.mode == "nodes")
            if verb == "preempt":
                assert (request["NodeNameToMetaVictims"] is None) == (self.mode == "nodes")
        return [answer for _, answer in self.calls[name, verb]]

    def survivors(self, answer: Document) -> list[str]:
        """The names in a filter answer, which has the form of the mode."""
        assert (answer["NodeNames"] is None) == (self.mode == "nodes")
        if self.mode == "names":
            return sorted(answer["NodeNames"])
        return sorted(node["metadata"]["name"] for node in answer["Nodes"]["items"])

    def leaving(self, group: str) -> list[str]:
        """The nodes of a group whose pod has to go."""
        names = [f"{group}-{letter}" for letter in "abc"]
        return [name for name in names if is_leaving(self.pods.get(f"on-{name}"))]


def is_leaving(pod: Document | None) -> bool:
    """Whether a pod was asked to go, or has gone."""
    return pod is None or "deletionTimestamp" in pod["metadata"]


def node_of(pod: Document) -> str:
    node: str = pod["spec"].get("nodeName", "")
    return node


def condition_of(pod: Document) -> Document:
    """Why the pod is not scheduled; empty where it is, or nobody has said yet."""
    conditions = pod.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "PodScheduled" and one["status"] == "False"), {})
