"""Finds the version of Kubernetes that a cluster has."""

from collections.abc import Callable, Collection, Iterable

from kubesched.api import KubeObject, Node
from kubesched.release import DEFAULT_RELEASE, DecidingVersion, VersionSource, numbers_of, release_of
from kubesched.snapshot.cluster_objects import ClusterObjects


def version_of(cluster: Iterable[KubeObject]) -> DecidingVersion:
    """The version of the API server; else the highest of the kubelets; else the one that decides by default.

    Args:
        cluster: of ClusterObjects, `server_version` counts.

    Example:
        assert version_of([make_node("n1")]).release == Release()
    """
    server = cluster.server_version if isinstance(cluster, ClusterObjects) else ""
    if numbers_of(server):
        return DecidingVersion(release_of(server)[0], VersionSource.SERVER, server)
    highest = newest({one.status.node_info.kubelet_version for one in cluster if isinstance(one, Node)}, _is_kubelet)
    if highest:
        return DecidingVersion(release_of(highest)[0], VersionSource.KUBELETS, highest, server)
    return DecidingVersion(DEFAULT_RELEASE, VersionSource.SERVER, server) if server else DecidingVersion()


def version_of_files(servers: Collection[str], kubelets: Collection[str]) -> tuple[str, list[str]]:
    """What several files have as the version of the API server, and a note where they are of different clusters.

    Args:
        servers: what API servers say in some of the files, also what is not a version.
        kubelets: the versions of the nodes of other files. No kubelet is newer than its API server: where one is, the
            files are of different clusters, and it decides.
    """
    server, kubelet = newest(servers), newest(kubelets, _is_kubelet)
    if server and _order(kubelet)[:2] > _order(server)[:2]:
        return "", _versions_note([*servers, kubelet])
    return server or min(servers, default=""), _versions_note(servers)


def newest(versions: Collection[str], is_meant: Callable[[str], bool] = bool) -> str:
    """The highest of some versions; empty where none is a version."""
    orders = {version: _order(version) for version in versions if is_meant(version)}
    return max((version for version in orders if orders[version]), key=orders.__getitem__, default="")


def _is_kubelet(version: str) -> bool:
    """Whether a kubelet of Kubernetes has the version: virtual and hollow nodes often have another one."""
    return _order(version)[:1] == (1,)


def _versions_note(versions: Collection[str]) -> list[str]:
    """A note where files are of clusters with different versions."""
    found = sorted({f"v{order[0]}.{order[1]}" for order in map(_order, versions) if order})
    if len(found) < 2:
        return []
    return [f"the files are of clusters with {' and '.join(found)}; the newest one decides"]


def _order(version: str) -> tuple[int, ...]:
    """By what versions are compared; empty for a text that is none."""
    return tuple(int(number) for number in numbers_of(version) or ())
