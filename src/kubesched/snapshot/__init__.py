"""Files that people have, as Kubernetes objects, and back."""

from kubesched.snapshot.checks import decode_checked
from kubesched.snapshot.load import load_snapshot, read_pod
from kubesched.snapshot.missing import MissingKinds, missing_kinds
from kubesched.snapshot.objects import ClusterObjects, kind_of
from kubesched.snapshot.writer import write_snapshot

__all__ = [
    "ClusterObjects",
    "MissingKinds",
    "decode_checked",
    "kind_of",
    "load_snapshot",
    "missing_kinds",
    "read_pod",
    "write_snapshot",
]
