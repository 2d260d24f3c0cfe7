"""What a manifest needs from the cluster it is added to: nodes, uids, the pods of each workload, classes and limits."""

from collections import defaultdict
from collections.abc import Sequence

from kubesched.admission.claim_defaults import default_storage_class
from kubesched.admission.device_claim_checks import admin_access_faults
from kubesched.admission.limit_ranges import LimitRanges
from kubesched.admission.priorities import PriorityClasses
from kubesched.admission.resource_checks import known_resources
from kubesched.admission.runtime_classes import RuntimeClasses
from kubesched.api import KubeObject, Namespace, Node, Pod, ReplicaSet, ResourceClaimTemplate, StorageClass, kind_of
from kubesched.controllers import stable_uid

Key = tuple[str, str, str]  # kind, namespace, name


def key_of(known: KubeObject) -> Key:
    """What makes an object the same as another one."""
    return kind_of(known), known.namespace, known.name


class ClusterOutline:
    """An index over the objects of a snapshot.

    Attributes:
        nodes: in the order of the snapshot.
        resources: the names that the requests of a pod may mean.
        storage_classes: by name.
        storage_class: the name of the one that claims without a class get; empty for none.
        claim_templates: what resource claims are made from, by namespace and name.
        barred_templates: those from which no claim is made, each with why an API server refuses it.
    """

    def __init__(self, objects: Sequence[KubeObject]) -> None:
        self._objects = {key_of(known): known for known in objects}
        self.nodes = [known for known in self._objects.values() if isinstance(known, Node)]
        self._dependents: dict[Key, list[KubeObject]] = defaultdict(list)
        for known in self._objects.values():
            owner = known.metadata.controller if isinstance(known, Pod | ReplicaSet) else None
            if owner is not None:
                self._dependents[owner.kind, known.namespace, owner.name].append(known)
        self.priorities = PriorityClasses(objects)
        self.limit_ranges = LimitRanges(objects)
        self.runtime_classes = RuntimeClasses(objects)
        self.resources = known_resources(self.nodes)
        self.storage_classes = {known.name: known for known in objects if isinstance(known, StorageClass)}
        self.storage_class = default_storage_class(objects)
        templates = [known for known in objects if isinstance(known, ResourceClaimTemplate)]
        namespaces = {known.name: known for known in objects if isinstance(known, Namespace)}
        self.barred_templates = {
            (known.namespace, known.name): str(fault)
            for known in templates
            for fault in admin_access_faults(known.spec.spec, namespaces.get(known.namespace))
        }
        named = {(known.namespace, known.name): known for known in templates}
        self.claim_templates = {key: known for key, known in named.items() if key not in self.barred_templates}

    def __contains__(self, key: Key) -> bool:
        return key in self._objects

    def uid_of(self, key: Key) -> str:
        """The uid of the object that is there, or the one that a new object of this name gets."""
        known = self._objects.get(key)
        return (known.uid if known is not None else "") or stable_uid(*key)

    def pods_of(self, key: Key) -> list[Pod]:
        """The unfinished pods that a workload controls, also through its replica sets."""
        pods: list[Pod] = []
        for dependent in self._dependents.get(key, ()):
            if isinstance(dependent, ReplicaSet):
                pods += self.pods_of(key_of(dependent))
            elif isinstance(dependent, Pod) and not dependent.is_finished:
                pods.append(dependent)
        return pods
