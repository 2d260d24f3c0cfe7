"""Reduces objects to the fields that a scheduler reads.

The structs of `api/` are the allow-list: a field that they do not decode is left out. So there are no environment
variables, commands, arguments, probes, managed fields or templates of controllers. Annotations are free text. They are
left out, except those that a rule reads.
"""

from collections.abc import Collection
from typing import Final, TypeVar

import msgspec

from kubesched.api import (
    AVOID_PODS,
    BETA_DEFAULT_CLASS,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    CLASS_ANNOTATION,
    DEFAULT_CLASS,
    DELETION_COST,
    DESIRED_REPLICAS,
    DO_NOT_DISRUPT,
    EXTENDED_RESOURCE_CLAIM,
    GROUP_KEYS,
    GROUP_MINIMUMS,
    INDEX_FAILURES,
    LIMIT_RANGER,
    MIGRATED_PLUGINS,
    MIRROR_POD,
    NAMESPACE_SELECTOR,
    NAMESPACE_TOLERATIONS,
    POD_CLAIM_NAME,
    SAFE_TO_EVICT,
    SELECTED_NODE,
    SILENCED,
    ObjectMeta,
    ResourceClaimTemplate,
    TemplateMeta,
    Unstructured,
    kind_of,
)
from kubesched.snapshot.cluster_objects import ClusterObjects, T

MetadataT = TypeVar("MetadataT", ObjectMeta, TemplateMeta)

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""Where `kubectl apply` keeps the manifest, with the values of environment variables. It is never written."""

READ_ANNOTATIONS: Final = frozenset(
    (
        CLASS_ANNOTATION,
        BIND_COMPLETED,
        BOUND_BY_CONTROLLER,
        SELECTED_NODE,
        MIGRATED_PLUGINS,
        DEFAULT_CLASS,
        BETA_DEFAULT_CLASS,
        AVOID_PODS,
        MIRROR_POD,
        DELETION_COST,
        DESIRED_REPLICAS,
        INDEX_FAILURES,
        LIMIT_RANGER,
        NAMESPACE_SELECTOR,
        NAMESPACE_TOLERATIONS,
        SAFE_TO_EVICT,
        DO_NOT_DISRUPT,
        SILENCED,
        POD_CLAIM_NAME,
        EXTENDED_RESOURCE_CLAIM,
        *GROUP_KEYS,
        *GROUP_MINIMUMS,
    )
)
"""The annotations that some rule of kubesched reads. A plugin may read others."""


def only_read_fields(
    cluster: ClusterObjects, *, keep_annotations: bool = False, whole: Collection[str] = ()
) -> ClusterObjects:
    """The same cluster with only the fields that a scheduler reads; objects that have no others stay the same, as do
    those of kinds that kubesched does not decode.

    Args:
        keep_annotations: keep all annotations but that of `kubectl apply`.
        whole: kinds whose objects keep their JSON, for plugins with `wants_raw` and for extenders.
    """
    objects = tuple(
        known if isinstance(known, Unstructured) or kind_of(known) in whole else _reduced(known, keep_annotations)
        for known in cluster.objects
    )
    return msgspec.structs.replace(cluster, objects=objects)


def _reduced(known: T, keep_annotations: bool) -> T:
    """A copy without its JSON, so that `raw` is made from the fields."""
    metadata = _with_kept_annotations(known.metadata, keep_annotations)
    if isinstance(known, ResourceClaimTemplate):
        of_claims = _with_kept_annotations(known.spec.metadata, keep_annotations)
        return msgspec.structs.replace(
            known, metadata=metadata, spec=msgspec.structs.replace(known.spec, metadata=of_claims)
        )
    return msgspec.structs.replace(known, metadata=metadata)


def _with_kept_annotations(metadata: MetadataT, keep_annotations: bool) -> MetadataT:
    if not metadata.annotations:
        return metadata
    kept = {key: value for key, value in metadata.annotations.items() if _is_kept(key, keep_annotations)}
    return msgspec.structs.replace(metadata, annotations=kept or None)


def _is_kept(key: str, keep_annotations: bool) -> bool:
    return key != LAST_APPLIED if keep_annotations else key in READ_ANNOTATIONS
