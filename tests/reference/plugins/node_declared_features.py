"""kube-scheduler v1.36 NodeDeclaredFeatures."""

from tests.reference.framework import SKIP, Plugin, PreFilter, Status


class NodeDeclaredFeatures(Plugin):
    """Some pod fields need a kubelet that says it supports them."""

    name = "NodeDeclaredFeatures"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        return PreFilter() if needed_features(pod) else SKIP

    def filter(self, pod: dict, node) -> Status | None:
        missing = [name for name in needed_features(pod) if name not in node.declared_features]
        if missing:
            return self.unresolvable("node(s) didn't match Pod's required features")
        return None


def needed_features(pod: dict) -> list[str]:
    spec, needed = pod["spec"], []
    rules = [
        r for c in [*spec["containers"], *(spec.get("initContainers") or ())] for r in c.get("restartPolicyRules") or ()
    ]
    if any(r.get("action") == "RestartAllContainers" for r in rules):
        needed.append("RestartAllContainersOnContainerExits")
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        needed.append("UserNamespacesHostNetworkSupport")
    return needed
