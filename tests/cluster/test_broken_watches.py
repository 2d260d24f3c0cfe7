"""Lists and watches that send what no API server should send."""

import pytest
from aiohttp import web

from kubesched.cluster import Restart
from tests.cluster.fake_api_server import Answer, bookmark, line, node, objects, says, status, status_object, stream
from tests.cluster.fake_timing import run
from tests.cluster.reflecting import Story, reflecting, told

POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "ghost", "resourceVersion": "99"}}
FUTURE = {"kind": "Node", "apiVersion": "v2", "metadata": {"name": "ghost", "resourceVersion": "99"}}
BROKEN = [
    b"<html>502 Bad Gateway</html>\n",
    b'{"type":"ADDED","object":{"kind":"No\n',
    b"[]\n",
    b'{"type":"ADDED"}\n',
    b'{"type":5,"object":{}}\n',
    b"\xff\xfe\n",
    line("ADDED", POD),
    line("DELETED", FUTURE),
]
IDS = ["html", "half", "list", "nothing", "number", "bytes", "other kind", "future"]
NAMELESS = {"kind": "Node", "apiVersion": "v1", "metadata": {"resourceVersion": "12"}}
FIRST, SECOND = objects(node("a"), version="10"), objects(node("a"), node("b"), version="20")


@pytest.mark.parametrize("broken", BROKEN, ids=IDS)
def test_a_watch_that_begins_with_what_is_not_an_event_is_given_up_for_a_list(broken: bytes) -> None:
    events, story = told([FIRST, SECOND], [stream(broken), stream()], 2)
    assert events == [("ADDED", "a", "1"), ("ADDED", "b", "1")]
    assert story.restarts == {Restart.FAILED: 1}
    assert story.timing.naps == [0.8]


@pytest.mark.parametrize("broken", BROKEN, ids=IDS)
def test_a_watch_that_brought_something_before_is_watched_on_at_once(broken: bytes) -> None:
    watches = [stream(line("ADDED", node("b", "11")) + broken), stream(line("ADDED", node("c", "12")))]
    events, story = told([FIRST], watches, 3)
    assert [name for _, name, _ in events] == ["a", "b", "c"]
    assert (story.versions, story.timing.naps) == (["10", "11"], [])
    assert story.restarts == {Restart.CUT: 1}


@pytest.mark.parametrize("ending", [b"", b"<html>\n"], ids=["closed", "garbage"])
def test_a_server_that_says_the_same_again_and_again_is_asked_less_and_less_often(ending: bytes) -> None:
    async def scenario() -> list[float]:
        same = stream(line("MODIFIED", node("a", "10")) + bookmark("10") + ending, end="close")
        async with reflecting([FIRST], [same]) as story:
            await story.watching(4)
            return story.timing.naps[:3]

    assert run(scenario()) == [0.8, 1.6, 3.2]


@pytest.mark.parametrize(
    "harmless",
    [
        line("BOOKMARK", {"kind": "Node", "apiVersion": "v1"}),
        b'{"type":"BOOKMARK","object":null}\n',
        b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":5}}}\n',
        line("PATCHED", node("ghost", "99")),
        line("ADDED", NAMELESS),
        line("ADDED", {**node("b", "11"), "future": {"field": [1]}}),
    ],
    ids=["no metadata", "null", "number", "unknown type", "no name", "unknown field"],
)
def test_what_can_be_left_out_does_not_end_the_watch(harmless: bytes) -> None:
    events, story = told([FIRST], [stream(harmless + line("ADDED", node("b", "13")))], 2)
    assert {name for _, name, _ in events} == {"a", "b"}
    assert story.restarts == {}


def test_an_amount_that_nobody_can_read_leaves_the_object_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    broken = {**node("a", "11"), "status": {"allocatable": {"cpu": "4", "memory": "much"}}}
    listed = objects(node("a"), {**broken, "metadata": {"name": "c"}})
    events, _ = told([listed], [stream(line("MODIFIED", broken) + line("DELETED", broken))], 2)
    assert events == [("ADDED", "a", "1"), ("DELETED", "a", "1")]
    (first, second, third) = caplog.messages
    why = "is skipped, because it does not decode: status.allocatable.memory: 'much' is not a quantity"
    assert first.startswith(f"Node c {why}")
    assert second.startswith(f"Node a {why}")
    assert second == third


def test_an_unknown_event_type_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    odd = line("PATCHED", node("ghost", "99")) * 3
    told([FIRST], [stream(odd + line("ADDED", node("b", "13")))], 2)
    assert caplog.messages == [
        "watching nodes: an event of the unknown type 'PATCHED', and all others like it, are left out"
    ]


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.cluster.reflector.MAX_LINE", 2**20)
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"a" * 2**16)
            sent += 2**16

    _, story = told([FIRST, SECOND], [endless, stream()], 2)
    assert story.restarts == {Restart.FAILED: 1}
    assert sent < 2**24


def test_items_of_another_type_are_skipped_and_the_others_taken(caplog: pytest.LogCaptureFixture) -> None:
    events, _ = told([objects(POD, FUTURE, node("a"))], [stream()], 1)
    assert events == [("ADDED", "a", "1")]
    assert caplog.messages == [
        "Node ghost is skipped, because it does not decode: found v1/Pod; expected v1/Node",
        "Node ghost is skipped, because it does not decode: found v2/Node; expected v1/Node",
    ]


def test_a_list_of_another_version_takes_nothing_away() -> None:
    future = says({"kind": "NodeList", "apiVersion": "v2", "metadata": {"resourceVersion": "11"}, "items": []})
    events, story = told([FIRST, future, SECOND], [status(410, "Expired"), stream()], 2)
    assert events == [("ADDED", "a", "1"), ("ADDED", "b", "1")]
    assert story.restarts == {Restart.EXPIRED: 1, Restart.FAILED: 1}


# --- a server that asks for time ---

BUSY = status(429, "TooManyRequests", headers={"Retry-After": "1"})


def naps_of(lists: list[Answer], watches: list[Answer], count: int) -> tuple[list[float], Story]:
    _, story = told(lists, watches, count)
    return story.timing.naps, story


def test_a_watch_that_is_refused_for_a_while_waits_just_that_while() -> None:
    naps, story = naps_of([objects()], [BUSY, BUSY, BUSY, stream(line("ADDED", node("a")))], 1)
    assert naps == [1.0, 1.0, 1.0]
    assert len(story.lists) == 1


def test_a_server_that_stays_busy_is_asked_less_and_less_often() -> None:
    naps, _ = naps_of([objects()], [BUSY] * 13 + [stream(line("ADDED", node("a")))], 1)
    assert naps == [1.0] * 11 + [1.6, 3.2]  # of which the eleventh is our own, and longer by chance


def test_a_watch_that_opens_only_to_ask_for_time_is_asked_less_and_less_often() -> None:
    busy = {"kind": "Status", "code": 429, "reason": "TooManyRequests", "details": {"retryAfterSeconds": 0}}
    watches = [stream(line("ERROR", busy), end="close")] * 12 + [stream(line("ADDED", node("a")))]
    assert naps_of([objects()], watches, 1)[0] == [0.0] * 10 + [0.8, 1.6]


def test_a_list_for_which_the_server_stays_busy_after_a_watch_is_asked_for_less_and_less_often() -> None:
    lists = [objects(), *[BUSY] * 13, objects(node("b"))]
    expired = status_object(410, "Expired")
    watches = [stream(line("ADDED", node("a", "11")) + line("ERROR", expired), end="close"), stream()]
    naps, _ = naps_of(lists, watches, 3)
    assert naps == [0.8] + [1.0] * 10 + [1.6, 3.2, 6.4]


def test_a_long_list_goes_on_with_the_page_for_which_the_server_was_busy() -> None:
    pages = [objects(node("a"), more="page-2"), BUSY, BUSY, objects(node("b"), version="12")]
    _, story = told([status(410, "Expired"), *pages], [stream()], 2)
    assert [query.get("continue", "") for query in story.lists[1:]] == ["", "page-2", "page-2", "page-2"]
    assert story.timing.naps == [1.0, 1.0]
    assert story.restarts == {Restart.EXPIRED: 1, Restart.REFUSED: 2}


def test_time_that_a_watch_asks_for_in_its_stream_is_given() -> None:
    busy = {"kind": "Status", "code": 429, "reason": "TooManyRequests", "details": {"retryAfterSeconds": 1}}
    naps, _ = naps_of([objects()], [stream(line("ERROR", busy), end="close"), stream(line("ADDED", node("a")))], 1)
    assert naps == [1.0]
