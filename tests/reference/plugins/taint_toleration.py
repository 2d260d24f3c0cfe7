"""kube-scheduler v1.36 TaintToleration."""

from tests.reference import objects
from tests.reference.framework import Plugin, Status, default_normalize


class TaintToleration(Plugin):
    """Untolerated NoSchedule and NoExecute taints reject; untolerated PreferNoSchedule taints are counted against a
    node.
    """

    name = "TaintToleration"

    def filter(self, pod: dict, node) -> Status | None:
        if objects.has_untolerated_taint(pod, node.taints):
            return self.unresolvable("node(s) had untolerated taint(s)")
        return None

    def score(self, pod: dict, node) -> int:
        return sum(
            t["effect"] == "PreferNoSchedule" and not objects.is_tolerated(objects.tolerations_of(pod), t)
            for t in node.taints
        )

    def normalize(self, scores: dict[str, int]) -> None:
        default_normalize(scores, reverse=True)
