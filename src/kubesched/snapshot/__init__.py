"""Files that people have, as Kubernetes objects, and back."""

from kubesched.snapshot.load import load_snapshot
from kubesched.snapshot.objects import ClusterObjects, kind_of

__all__ = ["ClusterObjects", "kind_of", "load_snapshot"]
