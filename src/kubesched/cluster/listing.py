"""Lists what exists now, without the contents: names, versions, and the node of a pod."""

from typing import Final

import msgspec

from kubesched.cluster.client import ApiClient
from kubesched.cluster.resources import FIELD_SELECTORS, list_path
from kubesched.cluster.watch_lines import ListMeta

__all__ = ["ListedObject", "list_objects"]

_PAGE_SIZE: Final = 500
_SECONDS: Final = 120.0


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class ListedObject(msgspec.Struct):
    """One object of a list."""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)

    @property
    def key(self) -> str:
        """As KubeObject.key."""
        metadata = self.metadata
        return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


class _Page(msgspec.Struct):
    metadata: ListMeta
    items: list[ListedObject] | None = None


async def list_objects(client: ApiClient, kind: str) -> dict[str, ListedObject]:
    """The newest state of all objects of a kind that a scheduler watches, by key. Read in pages, so that no answer
    keeps the event loop for more than some milliseconds.

    Raises:
        ClusterError: the API server refused, or did not answer.
    """
    selector = FIELD_SELECTORS.get(kind, "")
    query: dict[str, str | int] = {"limit": _PAGE_SIZE} | ({"fieldSelector": selector} if selector else {})
    listed: dict[str, ListedObject] = {}
    while True:
        page = await client.request("GET", list_path(kind), query=query, type=_Page, timeout=_SECONDS)
        listed |= {item.key: item for item in page.items or ()}
        if not page.metadata.continue_:
            return listed
        query["continue"] = page.metadata.continue_
