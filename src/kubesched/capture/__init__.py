"""Takes the objects of a live cluster as a snapshot."""

from kubesched.capture.live_cluster import Progress, read_live_cluster

__all__ = ["Progress", "read_live_cluster"]
