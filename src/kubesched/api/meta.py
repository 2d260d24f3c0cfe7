"""Common parts of all Kubernetes objects: the base of wire values, metadata, owner references, the source document."""

from collections.abc import Iterable
from typing import Any

import msgspec


class Value(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Base of everything read off the wire: immutable, camelCase outside, unknown fields ignored, null as absent."""


class OwnerReference(Value, frozen=True, gc=False):
    """Which object an object belongs to; at most one owner has `controller` set."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Value, frozen=True, gc=False):
    """metadata, as far as scheduling reads it. Time stamps stay RFC 3339 text."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """The managing owner, if there is one."""
        for owner in self.owner_references or ():
            if owner.controller:
                return owner
        return None

    def is_same_but_for_version(self, other: "ObjectMeta") -> bool:
        """Whether another reading of the same object differs at most in its resourceVersion."""
        return (
            self.labels == other.labels
            and self.annotations == other.annotations
            and self.deletion_timestamp == other.deletion_timestamp
            and self.owner_references == other.owner_references
            and self.uid == other.uid
            and self.name == other.name
            and self.namespace == other.namespace
            and self.creation_timestamp == other.creation_timestamp
        )


class StatusCondition(Value, frozen=True, gc=False):
    """One entry of status.conditions."""

    type: str = ""
    status: str = ""


def condition_status(conditions: Iterable[StatusCondition] | None, type: str) -> str:
    """The status of the condition of a type, such as `True`; empty without the condition."""
    return next((one.status for one in conditions or () if one.type == type), "")


def compare_versions(first: str, second: str) -> int | None:
    """Compare two resourceVersions of one kind: negative, 0 or positive; None where they cannot be compared.

    Rule: Kubernetes v1.35 and newer: they are decimal integers.
    """
    if first == second:
        return 0
    if not (first.isdecimal() and second.isdecimal()):
        return None
    ordered = [(len(digits), digits) for digits in (first.lstrip("0"), second.lstrip("0"))]  # of any length
    return (ordered[0] > ordered[1]) - (ordered[0] < ordered[1])


_NO_LABELS: dict[str, str] = {}


class KubeObject(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, dict=True):
    """Base of the kinds that are objects in a cluster, with metadata.

    `==` compares what a scheduler reads; identity is namespace and name.
    """

    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        """metadata.name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """metadata.namespace; empty for kinds that live outside namespaces."""
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """metadata.uid."""
        return self.metadata.uid

    @property
    def labels(self) -> dict[str, str]:
        """metadata.labels, empty when absent. Read only."""
        return self.metadata.labels or _NO_LABELS

    @property
    def annotations(self) -> dict[str, str]:
        """metadata.annotations, empty when absent. Read only."""
        return self.metadata.annotations or _NO_LABELS

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone outside namespaces."""
        metadata = self.metadata
        return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name

    def is_made_for(self, other: "KubeObject") -> bool:
        """Whether another object controls this one, such as a pod the claims that were made for it."""
        owner = self.metadata.controller
        return owner is not None and owner.uid == other.uid

    @property
    def is_terminating(self) -> bool:
        """Whether metadata.deletionTimestamp is set."""
        return self.metadata.deletion_timestamp is not None

    @property
    def raw(self) -> bytes:
        """The object's JSON as it came in; without one, encoded from the decoded fields."""
        source = self.__dict__.get("raw_source")
        return bytes(source) if source is not None else msgspec.json.encode(self)

    @property
    def document(self) -> dict[str, Any]:
        """The whole object as plain dicts and lists, parsed again at each call so that the caller may edit it."""
        parsed: dict[str, Any] = msgspec.json.decode(self.raw)
        return parsed
