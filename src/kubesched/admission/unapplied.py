"""Names the new pods and claims to which a cluster would add what kubesched does not.

A RuntimeClass adds overhead, a node selector and tolerations; a LimitRange adds default requests. Without them a pod
may seem to fit where it does not. Provisioners create the volumes of an Immediate class. Without them its pods fit
nowhere.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubesched.admission.manifest_types import ManifestMeta
from kubesched.api import PersistentVolumeClaim, Quantities, StorageClass, Value
from kubesched.documents import RawJson, decode_forgiving
from kubesched.state import storage_class_of

__all__ = ["Unapplied"]

_MAX_NAMED: Final = 3


class _Limit(Value, frozen=True):
    type: str = ""
    default: Quantities | None = None
    default_request: Quantities | None = None


class _LimitSpec(Value, frozen=True):
    limits: tuple[_Limit, ...] | None = None


class _LimitRange(Value, frozen=True):
    metadata: ManifestMeta = ManifestMeta()
    spec: _LimitSpec = _LimitSpec()


_decode: Final = msgspec.json.Decoder(_LimitRange).decode


class Unapplied:
    """What is not applied, and to which pods and claims.

    Rule: Kubernetes v1.36 admission plugins RuntimeClass and LimitRanger, whose defaults are per container.
    """

    def __init__(self) -> None:
        self._defaults: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)  # by namespace
        self._pods: dict[str, list[str]] = defaultdict(list)  # by what is not applied
        self._claims: dict[str, list[str]] = defaultdict(list)  # by class

    def know_limit_range(self, raw: RawJson) -> None:
        """Remember which requests a LimitRange has a default for.

        Raises:
            ObjectError: it does not decode.
        """
        found, _ = decode_forgiving(_decode, raw)
        limits = [one for one in found.spec.limits or () if one.type == "Container"]
        resources = frozenset(name for one in limits for name in {**(one.default or {}), **(one.default_request or {})})
        self._defaults[found.metadata.namespace or "default"].append((found.metadata.name, resources))

    def look(self, pod: dict[str, Any]) -> None:
        """Note what an API server would add to a new pod that has all other defaults."""
        metadata, spec = pod["metadata"], pod["spec"]
        namespace, key = metadata["namespace"], f"{metadata['namespace']}/{metadata['name']}"
        if runtime_class := spec.get("runtimeClassName"):
            self._pods[f"the overhead, node selector and tolerations of RuntimeClass {runtime_class}"].append(key)
        for name, resources in self._defaults.get(namespace, ()):
            if missing := ", ".join(sorted(_without_request(spec, resources))):
                self._pods[f"the default requests of LimitRange {namespace}/{name} for {missing}"].append(key)

    def look_at_claim(self, claim: PersistentVolumeClaim, classes: Mapping[str, StorageClass]) -> None:
        """Note a new claim whose volume a cluster provisions before its pod is placed."""
        known = classes.get(storage_class_of(claim))
        if known is not None and known.volume_binding_mode == "Immediate" and not claim.spec.volume_name:
            self._claims[known.name].append(f"{claim.namespace}/{claim.name}")

    def notes(self) -> Iterator[str]:
        """One sentence for each object."""
        for adds, keys in self._pods.items():
            pods = _named(keys, "pod")
            yield f"an API server would add {adds} to {pods}; kubesched does not, so they may fit on fewer nodes"
        for name, keys in self._claims.items():
            yield (
                f"a cluster would provision or bind the volumes of {_named(keys, 'new claim')} at once, because "
                f"volumeBindingMode of StorageClass {name} is Immediate; kubesched does not, so their pods fit nowhere"
            )


def _named(keys: Sequence[str], thing: str) -> str:
    named = ", ".join(keys[:_MAX_NAMED]) + (", ..." if len(keys) > _MAX_NAMED else "")
    return f"{len(keys)} {thing}{'' if len(keys) == 1 else 's'} ({named})"


def _without_request(spec: dict[str, Any], resources: frozenset[str]) -> set[str]:
    """The resources that some container does not request."""
    containers: Sequence[dict[str, Any]] = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    requests = [((one.get("resources") or {}).get("requests") or {}) for one in containers]
    return {name for name in resources if any(name not in one for one in requests)}
