"""Files that people have, as Kubernetes objects, and back."""

from kubesched.snapshot.load import load_snapshot
from kubesched.snapshot.objects import ClusterObjects, kind_of
from kubesched.snapshot.writer import write_snapshot

__all__ = ["ClusterObjects", "kind_of", "load_snapshot", "write_snapshot"]
