"""Reads and writes snapshot files: Kubernetes objects in all common file formats."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.snapshot.cluster_objects import ClusterObjects
    from kubesched.snapshot.fields import READ_ANNOTATIONS, only_read_fields
    from kubesched.snapshot.left_out import left_out_sentences
    from kubesched.snapshot.listed import ListedObjects
    from kubesched.snapshot.loading import AdmittedObjects, admit_manifests, load_snapshot, read_pod
    from kubesched.snapshot.missing import MissingKinds, missing_kinds
    from kubesched.snapshot.unusable_input import SAVE_CLUSTER
    from kubesched.snapshot.writer import check_target, replacing, write_snapshot

__all__ = [
    "READ_ANNOTATIONS",
    "SAVE_CLUSTER",
    "AdmittedObjects",
    "ClusterObjects",
    "ListedObjects",
    "MissingKinds",
    "admit_manifests",
    "check_target",
    "left_out_sentences",
    "load_snapshot",
    "missing_kinds",
    "only_read_fields",
    "read_pod",
    "replacing",
    "write_snapshot",
]
