"""How the GPUs of a trace are written into nodes and pods, so that kube-scheduler's rules and plugins can read them.

A node has the label GPU_MODEL and whole GPUs as the extended resource GPU. A pod that asks for certain models has a
required node affinity to them. A pod that asks for a part of a GPU has the annotation GPU_SHARE, in thousandths. As
kube-scheduler counts whole devices only, it also requests one whole GPU, unless shares are asked for: then it requests
no GPU, every pod requests its thousandths of the extended resource GPU_SHARE, and nodes offer 1000 of it for each GPU.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kubesched.api import Pod

GPU: Final = "nvidia.com/gpu"
"""The extended resource of whole GPUs."""

GPU_MODEL: Final = "alibabacloud.com/gpu-card-model"
"""The label of a node with the model of its GPUs."""

GPU_SHARE: Final = "alibabacloud.com/gpu-milli"
"""The annotation of a pod with its thousandths of each of its GPUs; with shares, also an extended resource."""

WHOLE: Final = 1000
"""Thousandths of a GPU."""


class GpuRequest(NamedTuple):
    """What a pod asks for.

    Attributes:
        n: how many GPUs.
        share: thousandths of each of them.
        models: which would do; none for any.
    """

    n: int
    share: int = WHOLE
    models: Sequence[str] = ()

    @property
    def is_part(self) -> bool:
        """Whether the pod asks for a part of a GPU."""
        return self.n > 0 and self.share < WHOLE

    def requests(self, *, shares: bool) -> dict[str, str]:
        """The extended resources that the pod requests."""
        if not self.n:
            return {}
        if not shares:
            return {GPU: str(self.n)}
        whole = {} if self.is_part else {GPU: str(self.n)}
        return {**whole, GPU_SHARE: str(self.n * self.share)}

    def annotations(self) -> dict[str, str]:
        """The annotations of the pod."""
        return {GPU_SHARE: str(self.share)} if self.n else {}

    def affinity(self) -> dict[str, Any]:
        """The field `affinity` of its spec."""
        if not self.n or not self.models:
            return {}
        required = {"key": GPU_MODEL, "operator": "In", "values": list(self.models)}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [required]}]}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def models_asked(pod: Pod) -> tuple[str, ...]:
    """The models of GPUs that would do for a pod; none where it asks for none."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required if affinity else None
    terms = (required.node_selector_terms if required else None) or ()
    asked = (one for term in terms for one in term.match_expressions or () if one.key == GPU_MODEL)
    return tuple(model for one in asked for model in one.values or ())


def gpus_of_node(n: int, *, shares: bool) -> dict[str, str]:
    """The extended resources that a node with some GPUs offers."""
    if not n:
        return {}
    return {GPU: str(n), GPU_SHARE: str(n * WHOLE)} if shares else {GPU: str(n)}
