"""Lists of an API server, page by page."""

from typing import Any

import pytest

from kubesched.cluster import api_client, list_path, list_raw, listing
from kubesched.errors import ClusterError, GoneError
from tests.cluster.fake_api_server import Answer, FakeApiServer, client_of, node, objects, says, status
from tests.cluster.fake_timing import run

NODES = list_path("Node")


async def _list(server: FakeApiServer, *answers: Answer) -> list[str] | ClusterError:
    async with server, client_of(server) as asking:
        server.on("LIST", NODES, *answers)
        try:
            return [bytes(raw).decode() async for page in list_raw(asking, "Node") for raw in page]
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


def test_a_list_of_a_kind_whose_name_several_groups_have_is_read() -> None:
    kind, page = (
        "CoschedulingPodGroup",
        {"kind": "PodGroupList", "metadata": {}, "items": [{"metadata": {"name": "g"}}]},
    )

    async def story() -> int:
        server = FakeApiServer()
        async with server, client_of(server) as asking:
            server.on("LIST", list_path(kind), says(page))
            return sum([len(one) async for one in list_raw(asking, kind)])

    assert run(story()) == 1


def test_a_list_without_items_is_empty() -> None:
    assert listed(says({"kind": "NodeList", "metadata": {}, "items": None}))[0] == []
    assert len(listed(objects(node("n1")))[0]) == 1  # type: ignore[arg-type]


def test_a_list_that_expires_twice_is_asked_for_at_once() -> None:
    begun, expired = objects(node("n1"), more="next"), status(410, "Expired")
    found, server = listed(begun, expired, begun, expired, objects(node("n1"), node("n2")))
    assert [asked.query["limit"] for asked in server.asked_for("LIST")] == ["500", "500", "500", "500", "0"]
    assert len(found) == 4  # type: ignore[arg-type]


def test_a_list_that_expires_again_and_again_is_an_error_with_advice() -> None:
    begun, expired = objects(node("n1"), more="next"), status(410, "Expired")
    error, _ = listed(begun, expired, begun, expired, begun, expired)
    assert isinstance(error, GoneError)
    assert str(error).endswith("410 Expired; try again")


def test_a_continue_token_that_comes_twice_is_an_error() -> None:
    error, server = listed(objects(node("n1"), more="next"))
    assert "the list does not end: a continue token came twice" in str(error)
    assert len(server.asked) == 2


@pytest.mark.parametrize("items", [(), (node("n1"),)], ids=["empty", "with items"])
def test_a_list_whose_pages_do_not_end_is_an_error(items: tuple[dict[str, Any], ...], monkeypatch) -> None:
    monkeypatch.setattr(listing, "_MAX_PAGES", 3)
    pages = [objects(*items, more=f"page-{i}") for i in range(2, 6)]
    error, server = listed(*pages)
    assert str(error).endswith(
        f"{NODES}: the list does not end: after 3 pages the API server still announces another one"
    )
    assert len(server.asked) == 3
    found, _ = listed(*pages[:2], objects(node("n2")))
    assert len(found) == 2 * len(items) + 1  # type: ignore[arg-type]


def test_a_page_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_client, "_MAX_PAGE", 2**20)
    error, server = listed(objects(node("n" * 2**21)))
    assert f"{NODES}: the answer has more than 1 MiB; expected less" in str(error)
    assert len(server.asked) == 1
