"""What the extenders of a scenario answer: a function of the seed, the extender, the verb, the pod and the nodes alone.

Bind is carried out at the API server, as extenders have to. Where a scenario says so, what goes wrong does so at the
first call about a pod alone; everything else is the same at every call. Left out is what both are known to take
differently: a bind that worked and is answered with an error, and nodes that come back with less than they had.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from tests.extender.programmable import Answer, Call
from tests.integration.api_client import ApiClient

SLOW_SECONDS: Final = 4.0  # longer than TIMEOUT
TIMEOUT: Final = "2500ms"
WORDS: Final = ("device is busy", "wrong rack", "no licence", "")

FILTER_ODD: Final = (
    b"{}",
    b"null",
    b"",
    b"not JSON",
    b'{"NodeNames":[]}',
    b'{"NodeNames":null}',
    b'{"NodeNames":["nowhere"]}',
    b'{"Nodes":[]}',
    b'{"Nodes":{"items":[]}}',
    b'{"Nodes":{"items":null}}',
    b'{"FailedNodes":{"a":1}}',
    b'{"Error":"no driver"}',
    b'{"error":"no driver at all"}',
    b'{"FailedNodes":{"nowhere":"it is not there"}}',
    b'{"node_names":["node-0"]}',
)
PRIORITIZE_ODD: Final = (
    b"{}",
    b"[]",
    b"null",
    b"",
    b"not JSON",
    b'[{"Host":"nowhere","Score":10}]',
    b'[{"Host":"node-0","Score":7.5}]',
    b'[{"Host":"node-0","Score":10},{"Host":"node-1","Score":"7"}]',
    b'[{"Host":"node-0","Score":-3},{"Host":"node-1","Score":100},{"Host":"node-1","Score":2}]',
    b'[{"host":"node-1","score":9}] and more',
    b'[{"Host":"node-2","Score":99999999999999999999}]',
)
PREEMPT_ODD: Final = (
    b"{}",
    b"null",
    b"",
    b'{"NodeNameToMetaVictims":{}}',
    b'{"NodeNameToVictims":{"node-0":{"Pods":[]}}}',
    b'{"NodeNameToMetaVictims":{"nowhere":{"Pods":[{"UID":"1"}]}}}',
    b'{"NodeNameToMetaVictims":{"node-0":{"Pods":[{"UID":"no-such-pod"}]}}}',
    b'{"NodeNameToMetaVictims":{"node-1":{"Pods":[]}}}',
    b'{"NodeNameToMetaVictims":[]}',
)
BIND_ODD: Final = (b"", b"not JSON", b'{"Error":"the device is gone"}', b'{"error":"the driver is gone"}', b"[]")


class Program:
    """The extenders of one scenario, while one scheduler runs.

    Args:
        client: binds pods.
        share: of the pods, for which a verb goes wrong.
        is_passing: whether what goes wrong may go well at the second call.
        is_slow: whether a few answers come too late.
    Attributes:
        unbound: pods for which bind was answered with success, and nothing was done.
    """

    def __init__(self, seed: int, client: ApiClient, *, share: float, is_passing: bool, is_slow: bool) -> None:
        self._seed = seed
        self._client = client
        self._share = share
        self._is_passing = is_passing
        self._is_slow = is_slow
        self._n_calls: Counter[tuple[str, ...]] = Counter()
        self.unbound: set[str] = set()

    def __call__(self, call: Call) -> Answer:
        request = json.loads(call.body)
        pod = pod_of(request)
        random = self._random(call.extender, call.verb, pod)
        key = (call.extender, call.verb, pod)
        self._n_calls[key] += 1
        is_over = self._is_passing and self._n_calls[key] > 1
        if random.random() < self._share and not is_over:
            return self._wrong(call, request, random)
        return VERBS[call.verb](self, call, request)

    def _random(self, *what: str) -> Random:
        return Random("/".join([str(self._seed), *what]))

    # --- what goes wrong ---

    def _wrong(self, call: Call, request: dict[str, Any], random: Random) -> Answer:
        may_be_slow = self._is_slow and call.verb != "bind"
        kinds = ["odd"] * 6 + ["status"] * 2 + ["dropped"] + (["slow"] if may_be_slow else [])
        kind = random.choice(kinds)
        if kind == "dropped":
            return Answer(is_dropped=True)
        if kind == "status":
            return Answer(b'{"Error":"nobody reads this"}', random.choice((201, 204, 400, 404, 500, 503)))
        if kind == "slow":
            return Answer(VERBS[call.verb](self, call, request).body, seconds=SLOW_SECONDS)
        if call.verb == "bind" and random.random() < 0.1:
            self.unbound.add(pod_of(request))
            return Answer(b"null")
        return Answer(random.choice(ODD[call.verb]))

    # --- the verbs ---

    def _filter(self, call: Call, request: dict[str, Any]) -> Answer:
        pod = pod_of(request)
        survivors: list[str] = []
        failed: dict[str, str] = {}
        unresolvable: dict[str, str] = {}
        is_strict = self._random(call.extender, "strict", pod).random() < 0.5
        for name in nodes_of(request):
            random = self._random(call.extender, call.verb, pod, name)
            chance, words = random.random(), random.choice(WORDS)
            if chance < 0.7 or not is_strict:
                survivors.append(name)
            elif chance < 0.8:
                failed[name] = words
            elif chance < 0.95:
                unresolvable[name] = words
            if chance > 0.9:
                failed.setdefault(name, "also this")
        if self._random(call.extender, "twice", pod).random() < 0.05:
            survivors += survivors[:1]
        answer: dict[str, Any] = {"FailedNodes": failed, "FailedAndUnresolvableNodes": unresolvable, "Error": ""}
        if request["NodeNames"] is not None:
            return Answer(encoded({"Nodes": None, "NodeNames": survivors, **answer}))
        items = {item["metadata"]["name"]: item for item in request["Nodes"]["items"]}
        nodes = {"metadata": {}, "items": [items[name] for name in survivors]}
        return Answer(encoded({"Nodes": nodes, **answer}))

    def _prioritize(self, call: Call, request: dict[str, Any]) -> Answer:
        scores = []
        for name in nodes_of(request):
            random = self._random(call.extender, call.verb, pod_of(request), name)
            if random.random() < 0.9:
                scores.append({"Host": name, "Score": random.randrange(11)})
        return Answer(encoded(scores))

    def _preempt(self, call: Call, request: dict[str, Any]) -> Answer:
        kept: dict[str, Any] = {}
        for name, victims in victims_of(request).items():
            random = self._random(call.extender, call.verb, pod_of(request), name)
            if random.random() < 0.75:
                more = random.choice((0, 0, 0, 1))
                kept[name] = {**victims, "NumPDBViolations": victims["NumPDBViolations"] + more}
        return Answer(encoded({"NodeNameToMetaVictims": kept}))

    def _bind(self, request: dict[str, Any]) -> None:
        self._client.bind(request["PodName"], request["Node"], request["PodNamespace"])

    def _bound(self, call: Call, request: dict[str, Any]) -> Answer:
        self._bind(request)
        return Answer(b'{"Error":""}')


VERBS: Final[dict[str, Callable[[Program, Call, dict[str, Any]], Answer]]] = {
    "filter": Program._filter,
    "prioritize": Program._prioritize,
    "preempt": Program._preempt,
    "bind": Program._bound,
}
ODD: Final = {"filter": FILTER_ODD, "prioritize": PRIORITIZE_ODD, "preempt": PREEMPT_ODD, "bind": BIND_ODD}


# --- what requests hold ---


def pod_of(request: dict[str, Any]) -> str:
    """The name of the pod that a request of any verb is about."""
    name: str = request["PodName"] if "PodName" in request else request["Pod"]["metadata"]["name"]
    return name


def nodes_of(request: dict[str, Any]) -> Sequence[str]:
    """The names of the nodes in a request to filter or prioritize."""
    if request["NodeNames"] is not None:
        names: list[str] = request["NodeNames"]
        return names
    return [item["metadata"]["name"] for item in request["Nodes"]["items"] or []]


def victims_of(request: dict[str, Any]) -> dict[str, Any]:
    """MetaVictims by node, in either form of a request to preempt."""
    if request["NodeNameToMetaVictims"] is not None:
        victims: dict[str, Any] = request["NodeNameToMetaVictims"]
        return victims
    return {
        node: {
            "Pods": [{"UID": pod["metadata"]["uid"]} for pod in victims["Pods"]],
            "NumPDBViolations": victims["NumPDBViolations"],
        }
        for node, victims in request["NodeNameToVictims"].items()
    }


def encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
