"""DynamicResources for pods without resource claims (kube-scheduler v1.36)."""

from tests.reference.framework import SKIP, Plugin, PreFilter, Status, default_normalize


class DynamicResources(Plugin):
    """Devices by claim are out of the reference's scope: a pod without claims passes and scores 0."""

    name = "DynamicResources"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        if pod["spec"].get("resourceClaims"):
            raise NotImplementedError("resource claims")
        return SKIP

    def filter(self, pod: dict, node) -> Status | None:
        return None

    def pre_score(self, pod: dict, cluster, feasible: list) -> bool:
        return False

    def score(self, pod: dict, node) -> int:
        return 0

    def normalize(self, scores: dict[str, int]) -> None:
        default_normalize(scores)
