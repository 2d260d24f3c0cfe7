"""Lists of an API server, page by page."""

from typing import Any

import pytest

from kubesched.cluster import list_path, list_raw
from kubesched.errors import ClusterError
from tests.cluster.fake_api_server import Answer, FakeApiServer, client_of, node, objects, says
from tests.cluster.fake_timing import run

NODES = list_path("Node")


async def _list(server: FakeApiServer, *answers: Answer) -> list[str] | ClusterError:
    async with server, client_of(server) as client:
        server.on("LIST", NODES, *answers)
        try:
            return [bytes(raw).decode() async for page in list_raw(client, "Node") for raw in page]
        except ClusterError as error:
            return error


def listed(*answers: Answer) -> tuple[list[str] | ClusterError, FakeApiServer]:
    """The objects of a list, or the error, and the server that was asked."""
    server = FakeApiServer()
    return run(_list(server, *answers)), server


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"kind": "Status", "status": "Failure", "code": 403, "message": "no"}, "kind Status"),
        ({"kind": "List", "metadata": {}, "items": None}, "kind List"),
        ({"kind": "PodList", "metadata": {}, "items": []}, "kind PodList"),
        ({"ok": True}, "an object without a kind"),
    ],
)
def test_another_answer_does_not_count_as_an_empty_list(answer: dict[str, Any], found: str) -> None:
    error, _ = listed(says(answer))
    assert isinstance(error, ClusterError)
    assert str(error).endswith(f"{NODES}: the answer does not match the request: expected a NodeList, found {found}")


def test_a_list_without_items_is_empty() -> None:
    assert listed(says({"kind": "NodeList", "metadata": {}, "items": None}))[0] == []
    assert len(listed(objects(node("n1")))[0]) == 1  # type: ignore[arg-type]
