"""Random configurations with extenders, and random scripts of cluster events for them.

No two nodes may have the same total score: where extenders are asked, kube-scheduler takes any of the best. So each pod
prefers every node by name, each to a different degree, NodeAffinity has the weight 1, and all other weights are
multiples of 101: totals differ modulo 101.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from campaigns.extenders.program import TIMEOUT
from campaigns.live.scenarios import Script
from campaigns.live.volumes import Step

RESOURCES: Final = ("example.com/gpu", "example.com/fpga")
UNIT: Final = 101
WEIGHTS: Final = {
    "TaintToleration": 3,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "DynamicResources": 2,
}
NAMES: Final = ("one", "two", "three")
MOST_NODES: Final = 20
LONG_SECONDS: Final = 600


class Scenario:
    """A configuration, and how often its extenders go wrong.

    Attributes:
        share: of the pods for which a verb goes wrong.
        is_passing: whether a failed attempt is tried again after a second, and may then work.
        is_slow: whether an answer can come too late.
    """

    def __init__(self, seed: int) -> None:
        random = self._random = Random(f"configuration {seed}")
        self.seed = seed
        self.share = random.choice((0.0, 0.05, 0.15, 0.3))
        self.is_passing = random.random() < 0.3
        self.is_slow = random.random() < 0.2
        self._is_bound_by = random.choice(("", "", *NAMES))
        self._managed = random.sample(RESOURCES, 2)
        self._stanzas = [self._stanza(name) for name in NAMES[: random.randrange(1, 4)]]

    def config(self, url: str) -> dict[str, Any]:
        """The fields of a KubeSchedulerConfiguration.

        Args:
            url: of the extenders; the name of each is added.
        """
        scores = [{"name": name, "weight": UNIT * weight} for name, weight in WEIGHTS.items()]
        plugins = {"score": {"enabled": [*scores, {"name": "NodeAffinity", "weight": 1}]}}
        seconds = 1 if self.is_passing else LONG_SECONDS
        return {
            "parallelism": 1,
            "percentageOfNodesToScore": 100,
            "podInitialBackoffSeconds": seconds,
            "podMaxBackoffSeconds": seconds,
            "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}],
            "extenders": [{"urlPrefix": f"{url}/{name}", **stanza} for name, stanza in self._stanzas],
        }

    def script(self) -> "ExtenderScript":
        return ExtenderScript(self.seed, self._unmanaged())

    def text(self) -> str:
        """The extenders in a line, for reports."""
        return "; ".join(f"{name}: {' '.join(_words(stanza))}" for name, stanza in self._stanzas)

    def _stanza(self, name: str) -> tuple[str, dict[str, Any]]:
        random = self._random
        stanza: dict[str, Any] = {"nodeCacheCapable": random.random() < 0.6, "httpTimeout": TIMEOUT}
        if random.random() < 0.8:
            stanza["filterVerb"] = "filter"
        if random.random() < 0.6:
            stanza |= {"prioritizeVerb": "prioritize", "weight": UNIT * random.choice((1, 2, 5))}
        if random.random() < 0.5:
            stanza["preemptVerb"] = "preempt"
        if name == self._is_bound_by:
            stanza["bindVerb"] = "bind"
        if random.random() < 0.4:
            stanza["ignorable"] = True
        if random.random() < 0.3 and self._managed:
            is_ignored = random.random() < 0.5
            stanza["managedResources"] = [{"name": self._managed.pop(), "ignoredByScheduler": is_ignored}]
        return name, stanza

    def _unmanaged(self) -> frozenset[str]:
        """Resources that no node has, because the extender alone counts them."""
        managed = [entry for _, stanza in self._stanzas for entry in stanza.get("managedResources", ())]
        return frozenset(entry["name"] for entry in managed if entry["ignoredByScheduler"])


def _words(stanza: Mapping[str, Any]) -> Sequence[str]:
    verbs = [verb for verb in ("filter", "prioritize", "preempt", "bind") if f"{verb}Verb" in stanza]
    managed = [entry["name"] + "!" * entry["ignoredByScheduler"] for entry in stanza.get("managedResources", ())]
    form = "names" if stanza["nodeCacheCapable"] else "nodes"
    return [form, *verbs, *(["ignorable"] if stanza.get("ignorable") else []), *managed]


class ExtenderScript(Script):
    """Scripts without volumes, whose pods ask for managed resources and prefer each node to a different degree.

    Args:
        uncounted: resources that no node has.
    """

    def __init__(self, seed: int, uncounted: frozenset[str]) -> None:
        super().__init__(2 * seed)  # even seeds have no volumes
        self._uncounted = uncounted
        self._n_at_start = self._random.randrange(5, 12)

    def setup(self) -> Iterator[Step]:
        yield from super().setup()
        while self._n_nodes < self._n_at_start:
            yield from self._add_node()

    def _add_node(self) -> list[Step]:
        return super()._add_node() if self._n_nodes < MOST_NODES else []

    def _room(self) -> dict[str, str]:
        more = {name: str(self._random.choice((0, 1, 4))) for name in RESOURCES if name not in self._uncounted}
        return super()._room() | {name: count for name, count in more.items() if count != "0"}

    def _also(self) -> dict[str, Any]:
        wanted = {name: "1" for name in RESOURCES if self._random.random() < 0.4}
        if not wanted:
            return {}
        resources = {"requests": wanted, "limits": wanted}
        return {"initContainers": [{"name": "devices", "image": "devices", "resources": resources}]}

    def _affinity(self, app: str) -> dict[str, Any]:
        degrees = self._random.sample(range(5, 101, 5), MOST_NODES)
        terms = [
            {"weight": degree, "preference": {"matchFields": [_is_named(f"node-{i}")]}}
            for i, degree in enumerate(degrees)
        ]
        preferred = {"preferredDuringSchedulingIgnoredDuringExecution": terms}
        return super()._affinity(app) | {"nodeAffinity": preferred}


def _is_named(node: str) -> dict[str, Any]:
    return {"key": "metadata.name", "operator": "In", "values": [node]}
