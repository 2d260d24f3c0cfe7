"""What Karpenter makes nodes from: NodePools, and the NodeClaims that become nodes.

Rule: karpenter.sh v1 and v1beta1 have the same names for these fields.
"""

from kubesched.api.meta import KubeObject, Value
from kubesched.api.node import Taint
from kubesched.api.pod_fields import Quantities
from kubesched.api.selectors import SelectorRequirement


class NodeClaimSpec(Value, frozen=True):
    """What a node has to be: spec of a NodeClaim, and of the template of a NodePool."""

    requirements: tuple[SelectorRequirement, ...] | None = None
    taints: tuple[Taint, ...] | None = None


class NodeClaimStatus(Value, frozen=True):
    """status of a NodeClaim; the node name is empty until there is one."""

    node_name: str = ""
    allocatable: Quantities | None = None


class NodeClaim(KubeObject, frozen=True):
    """A node that Karpenter has made, or makes now."""

    spec: NodeClaimSpec = NodeClaimSpec()
    status: NodeClaimStatus = NodeClaimStatus()


class TemplateMetadata(Value, frozen=True):
    """metadata of the template of a NodePool."""

    labels: dict[str, str] | None = None


class NodePoolTemplate(Value, frozen=True):
    """What the nodes of a NodePool have."""

    metadata: TemplateMetadata = TemplateMetadata()
    spec: NodeClaimSpec = NodeClaimSpec()


class NodePoolSpec(Value, frozen=True):
    """spec of a NodePool."""

    template: NodePoolTemplate = NodePoolTemplate()
    limits: Quantities | None = None
    weight: int = 0


class NodePoolStatus(Value, frozen=True):
    """status of a NodePool: what its nodes have together."""

    resources: Quantities | None = None


class NodePool(KubeObject, frozen=True):
    """Which nodes Karpenter may make, and how much of them."""

    spec: NodePoolSpec = NodePoolSpec()
    status: NodePoolStatus = NodePoolStatus()
