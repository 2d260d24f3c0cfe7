"""Finds the version of Kubernetes that a cluster has."""

from collections.abc import Collection, Iterable

from kubesched.api import KubeObject, Node
from kubesched.errors import InputError
from kubesched.release import DEFAULT_RELEASE, DecidingVersion, numbers_of, release_of
from kubesched.snapshot.cluster_objects import ClusterObjects


def version_of(cluster: Iterable[KubeObject]) -> DecidingVersion:
    """The version of the API server; else the highest of the kubelets; else the one that decides by default.

    Args:
        cluster: of ClusterObjects, `server_version` counts.

    Example:
        assert version_of([make_node("n1")]).release == Release()
    """
    server = cluster.server_version if isinstance(cluster, ClusterObjects) else ""
    if server:
        try:
            release, _ = release_of(server)
        except InputError:
            release = DEFAULT_RELEASE
        return DecidingVersion(release, "the version of the API server", server)
    highest = newest({one.status.node_info.kubelet_version for one in cluster if isinstance(one, Node)})
    if not highest:
        return DecidingVersion()
    return DecidingVersion(release_of(highest)[0], "the highest kubelet version of the nodes", highest)


def newest(versions: Collection[str]) -> str:
    """The highest of some versions; empty where none is a version."""
    known = {version: _order(version) for version in versions}
    return max((version for version in known if known[version]), key=lambda one: known[one], default="")


def versions_note(versions: Collection[str]) -> list[str]:
    """A note where files are of clusters with different versions."""
    found = sorted({f"v{order[0]}.{order[1]}" for order in map(_order, versions) if order})
    if len(found) < 2:
        return []
    return [f"the files are of clusters with {' and '.join(found)}; the newest one decides"]


def _order(version: str) -> tuple[int, ...]:
    """By what versions are compared; empty for a text that is none."""
    return tuple(int(number) for number in numbers_of(version) or ())
