"""Reads and writes snapshot files: Kubernetes objects in all common file formats."""

from kubesched.snapshot.listed import ListedObjects
from kubesched.snapshot.load import admit_manifests, load_snapshot, read_pod
from kubesched.snapshot.missing import MissingKinds, missing_kinds
from kubesched.snapshot.objects import ClusterObjects
from kubesched.snapshot.writer import write_snapshot

__all__ = [
    "ClusterObjects",
    "ListedObjects",
    "MissingKinds",
    "admit_manifests",
    "load_snapshot",
    "missing_kinds",
    "read_pod",
    "write_snapshot",
]
