"""Asks an API server for its version."""

from typing import Final

import msgspec

from kubesched.cluster.api_client import ApiClient
from kubesched.errors import ClusterError

_SECONDS: Final = 5.0


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


async def server_version(client: ApiClient) -> str:
    """What the server says at `/version`, such as `v1.36.3`; empty where it does not answer that within seconds."""
    try:
        version = await client.request("GET", "/version", type=_Version, timeout=_SECONDS, retry=False)
    except ClusterError:
        return ""
    return version.git_version
