"""kube-scheduler v1.36 InterPodAffinity."""

from collections import Counter
from dataclasses import dataclass, field

from tests.reference import objects
from tests.reference.framework import SKIP, Plugin, PreFilter, Status

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


@dataclass(frozen=True)
class Term:
    """A PodAffinityTerm: which pods it means and the topology key of the domain they are looked for in."""

    key: str
    selector: dict | None
    namespaces: frozenset[str]
    namespace_selector: dict | None
    weight: int = 0

    def matches(self, pod: dict, namespace_labels: dict[str, str]) -> bool:
        return (
            objects.namespace_of(pod) in self.namespaces
            or objects.selector_matches(self.namespace_selector, namespace_labels)
        ) and objects.selector_matches(self.selector, objects.labels_of(pod))


@dataclass
class Counts:
    """PreFilter's result: matching pods per (topology key, value)."""

    affinity: Counter = field(default_factory=Counter)  # existing pods that match all of the pod's affinity terms
    anti: Counter = field(default_factory=Counter)  # existing pods that match the pod's anti-affinity terms
    existing_anti: Counter = field(default_factory=Counter)  # anti-affinity terms of existing pods that match the pod


class InterPodAffinity(Plugin):
    """Near some pods, away from others; the terms of the pods already placed are respected too."""

    name = "InterPodAffinity"

    # --- filter ---

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        self.namespace_labels = cluster.namespace_labels(objects.namespace_of(pod))
        self.affinity = [resolved(t, cluster) for t in terms(pod, "podAffinity", REQUIRED)]
        self.anti = [resolved(t, cluster) for t in terms(pod, "podAntiAffinity", REQUIRED)]
        self.state = Counts()
        for node in cluster.nodes:
            for other in node.pods:
                self.add_pod(pod, other, node)
        if not self.state.existing_anti and not self.affinity and not self.anti:
            return SKIP
        return PreFilter()

    def add_pod(self, pod: dict, other: dict, node) -> None:
        self.move(pod, other, node, 1)

    def remove_pod(self, pod: dict, other: dict, node) -> None:
        self.move(pod, other, node, -1)

    def move(self, pod: dict, other: dict, node, delta: int) -> None:
        """Count `other` on `node` in or out."""
        if self.affinity and all(t.matches(other, {}) for t in self.affinity):
            change(self.state.affinity, self.affinity, node, delta)
        change(self.state.anti, [t for t in self.anti if t.matches(other, {})], node, delta)
        hating = [t for t in terms(other, "podAntiAffinity", REQUIRED) if t.matches(pod, self.namespace_labels)]
        change(self.state.existing_anti, hating, node, delta)

    def filter(self, pod: dict, node) -> Status | None:
        if not self.affinity_satisfied(pod, node):
            return self.unresolvable("node(s) didn't match pod affinity rules")
        if any(self.state.anti[t.key, node.labels[t.key]] > 0 for t in self.anti if t.key in node.labels):
            return self.unschedulable("node(s) didn't match pod anti-affinity rules")
        if any(self.state.existing_anti[label] > 0 for label in node.labels.items()):
            return self.unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
        return None

    def affinity_satisfied(self, pod: dict, node) -> bool:
        """A pod that matches its own terms may be the first of its kind."""
        if any(t.key not in node.labels for t in self.affinity):
            return False
        if all(self.state.affinity[t.key, node.labels[t.key]] > 0 for t in self.affinity):
            return True
        return not self.state.affinity and all(t.matches(pod, {}) for t in self.affinity)

    # --- score ---

    def pre_score(self, pod: dict, cluster, feasible: list) -> bool:
        liked = [resolved(t, cluster) for t in terms(pod, "podAffinity", PREFERRED)]
        disliked = [resolved(t, cluster) for t in terms(pod, "podAntiAffinity", PREFERRED)]
        if self.args["ignorePreferredTermsOfExistingPods"] and not liked and not disliked:
            return True
        mine = cluster.namespace_labels(objects.namespace_of(pod))
        hard = self.args["hardPodAffinityWeight"]
        self.scoring = {}
        for node in cluster.nodes:
            for other in node.pods:
                self.tally(node, [(t, t.weight) for t in liked if t.matches(other, {})])
                self.tally(node, [(t, -t.weight) for t in disliked if t.matches(other, {})])
                if hard > 0:
                    self.tally(node, [(t, hard) for t in terms(other, "podAffinity", REQUIRED) if t.matches(pod, mine)])
                self.tally(
                    node, [(t, t.weight) for t in terms(other, "podAffinity", PREFERRED) if t.matches(pod, mine)]
                )
                self.tally(
                    node, [(t, -t.weight) for t in terms(other, "podAntiAffinity", PREFERRED) if t.matches(pod, mine)]
                )
        return not self.scoring

    def tally(self, node, weighted: list[tuple[Term, int]]) -> None:
        for term, weight in weighted:
            if term.key in node.labels:
                label = term.key, node.labels[term.key]
                self.scoring[label] = self.scoring.get(label, 0) + weight

    def score(self, pod: dict, node) -> int:
        return sum(self.scoring.get(label, 0) for label in node.labels.items())

    def normalize(self, scores: dict[str, int]) -> None:
        low, high = min(scores.values()), max(scores.values())
        for name, score in scores.items():
            scores[name] = int(100.0 * ((score - low) / (high - low))) if high > low else 0


def terms(pod: dict, kind: str, strength: str) -> list[Term]:
    """The pod's terms as written; matchLabelKeys are merged by the API server, not here."""
    written = ((pod["spec"].get("affinity") or {}).get(kind) or {}).get(strength) or ()
    if strength == PREFERRED:
        return [make_term(t["podAffinityTerm"], pod, t["weight"]) for t in written]
    return [make_term(t, pod) for t in written]


def make_term(t: dict, pod: dict, weight: int = 0) -> Term:
    namespaces, selector = t.get("namespaces") or (), t.get("namespaceSelector")
    if not namespaces and selector is None:
        namespaces = [objects.namespace_of(pod)]
    return Term(t["topologyKey"], t.get("labelSelector"), frozenset(namespaces), selector, weight)


def resolved(term: Term, cluster) -> Term:
    """A term of the incoming pod, its namespaceSelector replaced by the names it selects; {} stays and selects
    everything.
    """
    if term.namespace_selector is None or objects.is_empty_selector(term.namespace_selector):
        return term
    names = {
        ns["metadata"]["name"]
        for ns in cluster.list("Namespace")
        if objects.selector_matches(term.namespace_selector, objects.labels_of(ns))
    }
    return Term(term.key, term.selector, term.namespaces | names, term.namespace_selector, term.weight)


def change(counts: Counter, matching: list[Term], node, delta: int) -> None:
    """Add delta at (key, node's value) for each term whose key the node has; zero entries go."""
    for term in matching:
        if term.key in node.labels:
            label = term.key, node.labels[term.key]
            counts[label] += delta
            if counts[label] == 0:
                del counts[label]
