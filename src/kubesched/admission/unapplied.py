"""Names the new pods and claims to which a cluster would add what kubesched does not.

Without the RuntimeClass of a pod, its overhead, node selector and tolerations are missing, and the pod may seem to fit
where it does not. Provisioners create the volumes of an Immediate class. Without them its pods fit nowhere.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubesched.admission.runtime_classes import RuntimeClasses
from kubesched.api import PersistentVolumeClaim, StorageClass
from kubesched.documents import count, listed
from kubesched.state import storage_class_of


class Unapplied:
    """What is not applied, and to which pods and claims.

    Rule: Kubernetes v1.36 admission plugin RuntimeClass; StorageClasses of the binding mode Immediate.
    """

    def __init__(self) -> None:
        self._pods: dict[str, list[str]] = defaultdict(list)  # by RuntimeClass
        self._claims: dict[str, list[str]] = defaultdict(list)  # by class

    def look(self, pod: dict[str, Any], classes: RuntimeClasses) -> None:
        """Note the RuntimeClass of a new pod if nothing is known of it."""
        name, metadata = pod["spec"].get("runtimeClassName") or "", pod["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        if classes.is_unknown(name):
            self._pods[name].append(key)

    def look_at_claim(self, claim: PersistentVolumeClaim, classes: Mapping[str, StorageClass]) -> None:
        """Note a new claim whose volume a cluster provisions before its pod is placed."""
        known = classes.get(storage_class_of(claim))
        if known is not None and known.volume_binding_mode == "Immediate" and not claim.spec.volume_name:
            self._claims[known.name].append(f"{claim.namespace}/{claim.name}")

    def notes(self) -> Iterator[str]:
        """One sentence for each object."""
        for name, keys in self._pods.items():
            pods = _named(keys, "pod")
            yield (
                f"neither the snapshot nor the manifests have a RuntimeClass: {name} may add overhead, a node selector "
                f"and tolerations to {pods}, which then fit on fewer nodes; an API server without it refuses them"
            )
        for name, keys in self._claims.items():
            yield (
                f"a cluster would provision or bind the volumes of {_named(keys, 'new claim')} at once, because "
                f"volumeBindingMode of StorageClass {name} is Immediate; kubesched does not, so their pods fit nowhere"
            )


def _named(keys: Sequence[str], thing: str) -> str:
    return f"{count(len(keys), thing)} ({listed(keys)})"
