"""kube-scheduler's side of the protocol, for the tests: sends its requests and reads the answers."""

import asyncio
import json
from collections.abc import Iterable

from kubesched import Bind, Plugin, Pod, set_up
from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.extender import ClusterWrites, Extender


class Writes(ClusterWrites):
    """An API server that records the Bindings that it gets."""

    def __init__(self) -> None:
        self.bindings: list[Bind] = []
        self.fault = ""

    async def find_pod(self, namespace: str, name: str) -> Pod | None:
        return None

    async def create_binding(self, action: Bind) -> str:
        if not self.fault:
            self.bindings.append(action)
        return self.fault


class StoppedClock:
    def monotonic(self) -> float:
        return 0.0

    def now(self) -> float:
        return 0.0


class Scheduler:
    """Calls an extender with these plugins, whose watch has shown these objects."""

    def __init__(self, *plugins: type[Plugin], shown: Iterable[KubeObject], **args: dict[str, object]) -> None:
        setup = set_up(None, plugins, args, default_plugins=False)
        self.writes = Writes()
        self.extender = Extender(setup, clock=StoppedClock(), is_watched=True, writes=self.writes)
        self.show(*shown)

    def show(self, *objects: KubeObject) -> None:
        """Pass new or changed objects to the extender, as its watch does."""
        self.extender.apply(WatchEvent(EventType.MODIFIED, type(known).__name__, known) for known in objects)

    def filter(self, pod: Pod, *names: str) -> dict[str, str]:
        """Node -> why it was rejected, empty for one that passed."""
        answer = json.loads(self._call("filter", {"Pod": pod.document, "Nodes": None, "NodeNames": names}))
        assert not answer["Error"], answer["Error"]
        return {
            **answer["FailedNodes"],
            **answer["FailedAndUnresolvableNodes"],
            **dict.fromkeys(answer["NodeNames"], ""),
        }

    def prioritize(self, pod: Pod, *names: str) -> dict[str, int]:
        """Node -> score, 0 to 10."""
        answer = json.loads(self._call("prioritize", {"Pod": pod.document, "Nodes": None, "NodeNames": names}))
        return {entry["Host"]: entry["Score"] for entry in answer}

    def preempt(self, pod: Pod, victims: dict[str, str]) -> list[str]:
        """Nodes that stay in a plan: node -> the uid of its victim."""
        plan = {name: {"Pods": [{"UID": uid}], "NumPDBViolations": 0} for name, uid in victims.items()}
        request = {"Pod": pod.document, "NodeNameToVictims": None, "NodeNameToMetaVictims": plan}
        return list(json.loads(self._call("preempt", request))["NodeNameToMetaVictims"])

    def bind(self, *pairs: tuple[Pod, str]) -> list[str]:
        """Bind pods concurrently. Returns: the error of each, empty for success."""
        return asyncio.run(self._bind(pairs))

    async def _bind(self, pairs: Iterable[tuple[Pod, str]]) -> list[str]:
        requests = (
            {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node} for pod, node in pairs
        )
        assert self.extender.binder is not None
        calls = (self.extender.binder.bind(json.dumps(request).encode(), 5.0) for request in requests)
        answers = await asyncio.gather(*calls)
        return [json.loads(b"".join(answer.pieces))["Error"] for answer in answers]

    def _call(self, verb: str, request: object) -> bytes:
        answer = getattr(self.extender.verbs, verb)(json.dumps(request).encode(), lambda _plugin: None)
        assert answer.status == 200, answer.error
        return b"".join(answer.pieces)
