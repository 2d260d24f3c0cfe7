"""Finds out how many replicas autoscalers give to new workloads.

Rule: kube-controller-manager v1.36 HorizontalPodAutoscaler controller: before it looks at any metric, it sets the scale
of its target to minReplicas (1 by default) if there are fewer, and to maxReplicas if there are more. Where there are 0,
it does nothing. `kubectl apply` of a manifest without replicas leaves the number that the autoscaler has set. KEDA
creates a HorizontalPodAutoscaler for a ScaledObject.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from kubesched.api import HorizontalPodAutoscaler, KubeObject, Value
from kubesched.controllers.manifest_types import ManifestMeta
from kubesched.documents import RawJson, decode_forgiving
from kubesched.errors import ObjectError

_KEDA: Final = "keda.sh"
_KEDA_MAX: Final = 100


class Scale(NamedTuple):
    """The replicas that an autoscaler allows.

    Attributes:
        by: whose minimum and maximum these are.
        desired: how many it wants now; 0 where that is not known.
    """

    by: str
    least: int
    most: int
    desired: int = 0

    def of(self, written: int | None) -> int:
        """How many replicas there are, if a manifest has this number, or none."""
        if written == 0:
            return 0
        n = written if written is not None else self.desired or 1
        return min(max(n, self.least), max(self.most, self.least))


class Scaled(NamedTuple):
    """A workload of a manifest whose replicas an autoscaler sets.

    Attributes:
        workload: the source, kind and name, as messages begin.
        n: how many replicas it gets.
    """

    workload: str
    scale: Scale
    n: int

    def sentence(self, tried: int | None) -> str:
        """The bounds, and the number of replicas that was tried, if one was."""
        bounds = f"minReplicas {self.scale.least} to maxReplicas {self.scale.most}"
        number = "" if tried is None else f", tried with {tried}"
        return f"{self.workload}: replicas are {bounds}{number} ({self.scale.by})"


class _KedaTarget(Value, frozen=True):
    kind: str = "Deployment"
    name: str = ""


class _KedaSpec(Value, frozen=True):
    scale_target_ref: _KedaTarget = _KedaTarget()
    min_replica_count: int | None = None
    max_replica_count: int | None = None


class _ScaledObject(Value, frozen=True):
    metadata: ManifestMeta = ManifestMeta()
    spec: _KedaSpec = _KedaSpec()


_decode: Final = msgspec.json.Decoder(_ScaledObject).decode


def is_scaled_object(kind: str, api_version: str) -> bool:
    """Whether an object is a ScaledObject of KEDA."""
    return kind == "ScaledObject" and api_version.partition("/")[0] == _KEDA


class Autoscalers:
    """The scale of each workload that an autoscaler has."""

    def __init__(self) -> None:
        self._scales: dict[tuple[str, str, str], dict[str, Scale]] = defaultdict(dict)
        self._scaled_objects: dict[tuple[str, str, str], Scale] = {}

    def know(self, objects: Iterable[KubeObject]) -> None:
        """Remember the HorizontalPodAutoscalers among objects.

        Where a ScaledObject of the manifests scales the same workload, its bounds count: KEDA writes them into the
        autoscaler that it has created.
        """
        for autoscaler in objects:
            if isinstance(autoscaler, HorizontalPodAutoscaler):
                target, spec = autoscaler.spec.scale_target_ref, autoscaler.spec
                least = 1 if spec.min_replicas is None else spec.min_replicas
                scale = Scale(
                    f"HorizontalPodAutoscaler {autoscaler.name}",
                    least,
                    spec.max_replicas,
                    autoscaler.status.desired_replicas,
                )
                key = (target.kind, autoscaler.namespace, target.name)
                if (of_keda := self._scaled_objects.get(key)) is None:
                    self._scales[key][scale.by] = scale
                else:
                    self._scales[key] = {of_keda.by: of_keda._replace(desired=scale.desired)}

    def know_scaled_object(self, raw: RawJson) -> None:
        """Remember a ScaledObject.

        Raises:
            ObjectError: it does not decode.
        """
        scaled, _ = decode_forgiving(_decode, raw)
        target, spec = scaled.spec.scale_target_ref, scaled.spec
        least, most = spec.min_replica_count or 0, spec.max_replica_count
        scale = Scale(f"ScaledObject {scaled.metadata.name}", least, _KEDA_MAX if most is None else most)
        check_bounds(least, scale.most, "spec.minReplicaCount", "spec.maxReplicaCount")
        key = (target.kind, scaled.metadata.namespace or "default", target.name)
        self._scales[key][scale.by] = self._scaled_objects[key] = scale

    def scale_of(self, kind: str, namespace: str, name: str) -> Scale | None:
        """What an autoscaler allows a workload; None where it has none.

        Several of one workload enforce their bounds in turn. What counts is then the most that any of them wants.
        """
        scales = list(self._scales.get((kind, namespace, name), {}).values())
        if len(scales) < 2:
            return scales[0] if scales else None
        by = f"{' and '.join(scale.by for scale in scales)}, which both scale it"
        least, most, desired = (max(bound) for bound in zip(*(scale[1:] for scale in scales), strict=True))
        return Scale(by if len(scales) == 2 else by.replace("both", "all"), least, most, desired)


def check_bounds(least: int | None, most: int, least_path: str, most_path: str) -> None:
    """Check the replicas that an autoscaler allows.

    Raises:
        ObjectError: an API server, or the admission of KEDA, refuses them.
    """
    if least is not None and least < 0:
        raise ObjectError(f"{least_path}: found {least}; expected 0 or more")
    if most < max(least or 0, 1):
        expected = f"at least {least_path.rpartition('.')[2]}, which is {least}" if (least or 0) > 1 else "1 or more"
        raise ObjectError(f"{most_path}: found {most}; expected {expected}")
