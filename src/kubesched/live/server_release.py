"""As which version of Kubernetes a live scheduler decides: that of its API server, unless somebody names another.

It is asked for once, at the start. A server that is upgraded later changes neither a scheduler that runs nor a
kube-scheduler: the next start does.
"""

from kubesched.cluster import Access, ApiClient, server_version
from kubesched.documents import escape_controls
from kubesched.errors import ClusterError, ConfigError
from kubesched.release import Release, numbers_of
from kubesched.snapshot import ClusterObjects, version_of


async def version_of_server(access: Access) -> str:
    """What the API server says at `/version`; empty where it gives no answer within seconds."""
    try:
        async with ApiClient(access) as client:
            return await server_version(client)
    except (ClusterError, ConfigError):  # raised again by the run
        return ""


def start_sentence(release: Release, server: str, about: str = "") -> str:
    """What the log says at the start of the version that decides.

    Args:
        server: what the API server says of itself; empty for nothing.
        about: why it is this version, where that is not the one that is meant.

    Rule: the version skew policy of Kubernetes: a kube-scheduler is not newer than its API server, and at most one
        minor version older.

    Example:
        assert start_sentence(Release(36), "v1.36.3") == "decides as kube-scheduler v1.36; the API server is v1.36.3"
    """
    decides = about or f"decides as kube-scheduler {release}"
    if not server:
        return f"{decides}; the API server does not answer what its version is"
    numbers = numbers_of(server)
    if numbers is None:
        return about or f"{decides}; the API server reports the version {server[:60]!r}"
    sentence = f"{decides}; the API server is {escape_controls(server):.60}"
    decided, known = (1, release.minor), numbers[:2]
    if decided == known:
        return sentence
    if decided > known:
        return f"{sentence}, and a kube-scheduler must not be newer than its API server"
    older = f"{sentence}, and a kube-scheduler may be one minor version older than its API server"
    return f"{older}: this is allowed" if (1, release.minor + 1) == known else f"{older}, not more: this is not allowed"


async def check_version(client: ApiClient, release: Release) -> None:
    """Ask an API server again that did not answer at the start.

    Raises:
        ClusterError: it has another version than the one that decides in its place.
    """
    server = await server_version(client)
    if numbers_of(server) and version_of(ClusterObjects((), server_version=server)).release != release.bare:
        raise ClusterError(
            f"the API server is {escape_controls(server):.60}; it did not answer when this process started, which "
            f"decides as {release} since then; start it again, or give --kubernetes-version"
        )
