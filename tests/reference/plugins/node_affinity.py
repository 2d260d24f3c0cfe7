"""kube-scheduler v1.36 NodeAffinity."""

from tests.reference import objects
from tests.reference.framework import SKIP, Plugin, PluginError, PreFilter, Status, default_normalize

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


class NodeAffinity(Plugin):
    """spec.nodeSelector, required and preferred node affinity, and what the args add to them for every pod."""

    name = "NodeAffinity"

    @property
    def added(self) -> dict:
        return self.args.get("addedAffinity") or {}

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        required = objects.node_affinity(pod).get(REQUIRED)
        if required is None and pod["spec"].get("nodeSelector") is None and self.added.get(REQUIRED) is None:
            return SKIP
        terms = (required or {}).get("nodeSelectorTerms") or ()
        named = [named_nodes(term) for term in terms]
        if not named or None in named:
            return PreFilter()
        names = frozenset().union(*named)
        if not names:
            return PreFilter(status=self.unresolvable("pod affinity terms conflict"))
        return PreFilter(nodes=names)

    def filter(self, pod: dict, node) -> Status | None:
        added = self.added.get(REQUIRED)
        if added is not None and not objects.node_selector_matches(added, node.name, node.labels):
            return self.unresolvable("node(s) didn't match scheduler-enforced node affinity")
        if not objects.required_node_affinity_matches(pod, node.name, node.labels):
            return self.unresolvable("node(s) didn't match Pod's node affinity/selector")
        return None

    def pre_score(self, pod: dict, cluster, feasible: list) -> bool:
        return objects.node_affinity(pod).get(PREFERRED) is None and self.added.get(PREFERRED) is None

    def score(self, pod: dict, node) -> int:
        terms = [*(self.added.get(PREFERRED) or ()), *(objects.node_affinity(pod).get(PREFERRED) or ())]
        used = [t for t in terms if t["weight"] != 0 and not is_empty(t["preference"])]
        try:
            return sum(t["weight"] for t in used if objects.node_term_matches(t["preference"], node.name, node.labels))
        except objects.ParseError as error:
            raise PluginError(f"{self.name}: {error}") from error

    def normalize(self, scores: dict[str, int]) -> None:
        default_normalize(scores)


def named_nodes(term: dict) -> frozenset[str] | None:
    """The nodes that the term's `metadata.name In` fields leave; None if it has no such field."""
    lists = [
        frozenset(r.get("values") or ())
        for r in term.get("matchFields") or ()
        if r["key"] == "metadata.name" and r["operator"] == "In"
    ]
    return frozenset.intersection(*lists) if lists else None


def is_empty(term: dict) -> bool:
    return not term.get("matchExpressions") and not term.get("matchFields")
