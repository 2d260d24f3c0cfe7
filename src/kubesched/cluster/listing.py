"""Lists what exists now, page by page: whole objects, or only names, versions and the node of a pod."""

from collections.abc import AsyncGenerator, Mapping
from itertools import count
from typing import Any, Final, TypeVar

import msgspec

from kubesched.api import KINDS, Kind
from kubesched.cluster.api_client import ApiClient
from kubesched.cluster.resources import FIELD_SELECTORS, list_path
from kubesched.cluster.watch_lines import ListMeta, ListPage
from kubesched.errors import ClusterError, GoneError

PageT = TypeVar("PageT", bound=Any)

_PAGE_SIZE: Final = 500
_SECONDS: Final = 120.0
_MAX_PAGES: Final = 2_000
"""Of a list: a million objects in pages of 500, six times as many pods as a cluster may have."""
_PAGE_SIZES: Final = (_PAGE_SIZE, _PAGE_SIZE, 0)  # of the tries of one list; 0 is all at once, which cannot expire


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
    kind: str = ""
    api_version: str = msgspec.field(default="", name="apiVersion")
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[ListedObject] | None = None


async def list_objects(client: ApiClient, kind: str) -> dict[str, ListedObject]:
    """The newest state of all objects of a kind that a scheduler watches, by key. Read in pages, so that no answer
    keeps the event loop for more than some milliseconds.

    Raises:
        ClusterError: the API server refused, or did not answer.
    """
    return {item.key: item async for page in _pages(client, kind, _Page) for item in page.items or ()}


async def list_raw(client: ApiClient, kind: str | Kind, *, name: str = "") -> AsyncGenerator[list[msgspec.Raw]]:
    """Yield the JSON of all objects of a kind that a scheduler or a plugin reads, 500 for each request, one by one.

    If the API server forgets the version that the first page has, the list begins again, so that an object may come
    twice; the later one is newer. The third list is not in pages, as with client-go's pager.

    Args:
        name: of the objects that are meant, in all namespaces; empty for all.
    Raises:
        ClusterError: the API server refused, did not answer, or forgot the version three times.
    """
    for page_size in _PAGE_SIZES:
        try:
            async for page in _pages(client, kind, ListPage, page_size, name):
                yield page.items or []
            return
        except GoneError as error:
            if not page_size:
                raise GoneError(f"{error}; try again", status=error.status, reason=error.reason) from error


async def request_page(
    client: ApiClient,
    kind: str | Kind,
    query: Mapping[str, str | int],
    type: type[PageT],
    *,
    number: int,
    retry: bool = True,
) -> PageT:
    """One page of a list, as a type with `kind`, `metadata` and `items`.

    Args:
        number: of the page in its list, from 1.
    Raises:
        ClusterError: the API server refused, did not answer, or answered with anything but a list of this kind. A
            Status or the answer of a proxy must not count as an empty list. Or the list does not end.
    """
    page = await client.request("GET", list_path(kind), query=query, type=type, timeout=_SECONDS, retry=retry)
    wrong, known = "", KINDS[kind] if isinstance(kind, str) else kind
    expected = f"{known.name}List"
    if page.kind != expected:
        found = f"kind {page.kind}" if page.kind else "an object without a kind"
        wrong = f"the answer does not match the request: expected a {expected}, found {found}"
    elif page.api_version not in ("", known.api_version):
        wrong = f"the answer does not match the request: expected {known.api_version}, found {page.api_version}"
    elif page.metadata.continue_ and page.metadata.continue_ == query.get("continue"):
        wrong = "the list does not end: a continue token came twice"
    elif page.metadata.continue_ and number >= _MAX_PAGES:
        wrong = f"the list does not end: after {number:,} pages the API server still announces another one"
    if wrong:
        raise ClusterError(f"GET {client.access.server}{list_path(kind)}: {wrong}", status=200)
    return page


async def _pages(
    client: ApiClient, kind: str | Kind, type: type[PageT], page_size: int = _PAGE_SIZE, name: str = ""
) -> AsyncGenerator[PageT]:
    """Each page of a list, as a type with `metadata` and `items`."""
    selector = FIELD_SELECTORS.get(kind, "") if isinstance(kind, str) else ""
    selector = f"metadata.name={name}" if name else selector
    query: dict[str, str | int] = {"limit": page_size} | ({"fieldSelector": selector} if selector else {})
    for number in count(1):
        page = await request_page(client, kind, query, type, number=number)
        yield page
        if not page.metadata.continue_:
            return
        query["continue"] = page.metadata.continue_
