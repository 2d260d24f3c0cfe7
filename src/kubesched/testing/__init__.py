"""The test kit for plugin authors: objects in a line, one plugin asked without a cluster, checks of the contract."""

from kubesched.testing.builders import make_node, make_object, make_pod
from kubesched.testing.cluster import FakeCluster, filter_all, minimal_profile, score_all

__all__ = ["FakeCluster", "filter_all", "make_node", "make_object", "make_pod", "minimal_profile", "score_all"]
