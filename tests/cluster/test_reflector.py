import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from kubesched.api import KINDS, WatchEvent
from kubesched.cluster import Access, Reflector, Restart, list_path
from kubesched.cluster.content import Content
from kubesched.cluster.credentials import ConfiguredCredentials
from tests.cluster.fake_api_server import (
    Answer,
    FakeApiServer,
    bookmark,
    client_of,
    line,
    no_answer,
    node,
    objects,
    says,
    silence,
    status,
    status_object,
    stream,
)
from tests.cluster.fake_timing import FakeTiming, run
from tests.cluster.reflecting import Heard, reflecting, told

NODES = "/api/v1/nodes"


# --- list and watch ---


def test_what_is_there_is_added_and_then_followed() -> None:
    events, story = told(
        [objects(node("a"), node("b"), version="10")],
        [
            stream(
                line("ADDED", node("c", "11")) + line("MODIFIED", node("a", "12", zone="x")),
                line("DELETED", node("b", "13")),
            )
        ],
        5,
    )
    assert events == [
        ("ADDED", "a", "1"),
        ("ADDED", "b", "1"),
        ("ADDED", "c", "11"),
        ("MODIFIED", "a", "12"),
        ("DELETED", "b", "13"),
    ]
    assert story.heard.events[3].object.labels == {"zone": "x"}
    assert story.restarts == {}
    counts = story.reflector.counts
    assert (counts.lists, counts.watches, counts.events) == (1, 1, 5)


def test_the_first_list_takes_any_state_and_the_watch_goes_on_from_it() -> None:
    async def scenario() -> None:
        async with reflecting([objects(version="10")], [stream()], field_selector="a!=b") as story:
            await story.watching(1)
            await story.reflector.synced.wait()
            assert story.lists == [{"resourceVersion": "0", "fieldSelector": "a!=b"}]
            assert story.server.asked_for("WATCH")[0].query == {
                "watch": "true",
                "allowWatchBookmarks": "true",
                "resourceVersion": "10",
                "timeoutSeconds": "300",
                "fieldSelector": "a!=b",
            }

    run(scenario())


def test_watches_end_at_different_times() -> None:
    class ByChance(FakeTiming):
        def __init__(self) -> None:
            super().__init__()
            self.rng = random.Random(1)  # type: ignore[assignment]

    async def scenario() -> set[int]:
        closed = stream(bookmark("11"), end="close")
        async with reflecting([objects()], [closed], timing=ByChance()) as story:
            await story.watching(20)
            return {int(asked.query["timeoutSeconds"]) for asked in story.server.asked_for("WATCH")}

    seconds = run(scenario())
    assert len(seconds) > 10
    assert min(seconds) >= 300
    assert max(seconds) <= 600


@pytest.mark.parametrize("size", [1, 10, 64])
def test_lines_are_whole_however_the_network_cuts_them(size: int) -> None:
    text = line("ADDED", node("a", "11")) + line("ADDED", node("b", "12"))
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert told([objects()], [stream(*pieces)], 2)[0] == [("ADDED", "a", "11"), ("ADDED", "b", "12")]


def test_changes_that_come_together_are_told_together() -> None:
    piece = b"".join(line("ADDED", node(f"n{i}", str(i))) for i in range(11, 31))
    _, story = told([objects()], [stream(piece)], 20)
    assert story.heard.batches == 1


def test_objects_keep_their_json_where_it_is_wanted() -> None:
    extra = node("a") | {"status": {"phase": "x"}}
    watches = [stream(line("ADDED", node("b", "11") | {"extra": 1}))]
    _, story = told([objects(extra)], watches, 2, keep_source=True)
    assert [event.object.document.get("status") for event in story.heard.events] == [{"phase": "x"}, None]
    assert story.heard.events[1].object.document["extra"] == 1
    _, story = told([objects(extra)], watches, 2)
    assert ["extra" in event.object.document for event in story.heard.events] == [False, False]


def test_a_bookmark_counts_as_contact() -> None:
    async def scenario() -> None:
        timing = FakeTiming()
        more = asyncio.Event()

        async def bookmark_later(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            await more.wait()
            await response.write(bookmark("20"))
            return response

        async with reflecting([objects()], [bookmark_later, silence], timing=timing) as story:
            await story.watching(1)
            assert story.reflector.last_contact == 1000.0
            timing.seconds = 1060.0
            more.set()
            await story.watching(2)
            assert story.reflector.last_contact == 1060.0

    run(scenario())


# --- watches that end ---


@pytest.mark.parametrize(
    ("end", "rest", "restart"),
    [
        ("close", b"", Restart.CLOSED),
        ("cut", b"", Restart.CUT),
        ("cut", line("ADDED", node("lost", "99"))[:40], Restart.CUT),
        ("close", line("ADDED", node("lost", "99"))[:40], Restart.CUT),
        ("close", b"garbage\n", Restart.CUT),
    ],
    ids=["closed", "cut", "cut in a line", "closed in a line", "no JSON"],
)
def test_a_watch_that_ends_is_resumed_after_the_last_change(end: str, rest: bytes, restart: Restart) -> None:
    first = stream(line("ADDED", node("a", "11")) + rest, end=end)
    events, story = told([objects(version="10")], [first, stream(line("ADDED", node("b", "12")))], 2)
    assert events == [("ADDED", "a", "11"), ("ADDED", "b", "12")]
    assert story.versions == ["10", "11"]
    assert len(story.lists) == 1
    assert story.restarts == {restart: 1}
    assert story.timing.naps == []  # a watch that was worth something is resumed at once


def test_a_watch_goes_on_from_the_last_bookmark() -> None:
    first = stream(line("ADDED", node("a", "11")), bookmark("40"), end="close")
    _, story = told([objects(version="10")], [first, stream(line("ADDED", node("b", "41")))], 2)
    assert story.versions == ["10", "40"]
    assert story.reflector.counts.bookmarks == 1


def test_what_a_deletion_says_moves_the_version_on() -> None:
    first = stream(line("DELETED", node("a", "33")), end="cut")
    _, story = told([objects(node("a"))], [first, stream(line("ADDED", node("b", "34")))], 3)
    assert story.versions == ["10", "33"]


def test_a_server_that_ends_every_watch_at_once_is_not_asked_without_pause() -> None:
    async def scenario() -> list[float]:
        async with reflecting([objects()], [stream(end="close")]) as story:
            await story.watching(4)
            return story.timing.naps[:3]

    assert run(scenario()) == [0.8, 1.6, 3.2]


def test_a_server_that_goes_away_and_comes_back_is_watched_on() -> None:
    class ComesBack(FakeTiming):
        server: FakeApiServer

        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            if len(self.naps) == 3:
                await self.server.start()

    async def scenario() -> None:
        timing = ComesBack()
        watches = [stream(line("ADDED", node(name, version))) for name, version in (("a", "11"), ("b", "12"))]
        async with reflecting([objects(version="10")], watches, timing=timing) as story:
            await story.heard.at_least(1)
            timing.server = story.server
            await story.server.stop()
            assert await story.heard.at_least(2) == [("ADDED", "a", "11"), ("ADDED", "b", "12")]
            assert (len(story.lists), set(story.versions[1:])) == (1, {"11"})
            assert story.restarts[Restart.CUT] >= 3
            assert timing.naps[:3] == [0.8, 1.6, 3.2]

    run(scenario())


# --- lists that are needed again ---


@pytest.mark.parametrize(
    "expired",
    [
        status(410, "Expired", "too old resource version: 10 (500)"),
        stream(line("ERROR", status_object(410, "Expired", "too old resource version: 10 (500)")), end="close"),
        stream(line("ERROR", status_object(410, "Gone")), end="close"),
    ],
    ids=["answer", "event", "gone"],
)
def test_a_version_that_is_too_old_means_a_new_list_of_differences(expired: Answer) -> None:
    events, story = told(
        [
            objects(node("stays"), node("goes", "5"), node("changes", "6"), node("again", "7"), version="10"),
            objects(
                node("stays"), node("changes", "501"), node("again", "502", uid="other"), node("new"), version="510"
            ),
        ],
        [expired, stream(line("MODIFIED", node("new", "511")))],
        10,
    )
    assert events[4:] == [
        ("DELETED", "goes", "5"),
        ("MODIFIED", "changes", "501"),
        ("DELETED", "again", "7"),
        ("ADDED", "again", "502"),
        ("ADDED", "new", "1"),
        ("MODIFIED", "new", "511"),
    ]
    assert story.versions == ["10", "510"]
    assert [query["resourceVersion"] for query in story.lists] == ["0", "10"]  # never older than what was known
    assert story.restarts == {Restart.EXPIRED: 1}
    assert story.timing.naps == [0.8]


def test_changes_before_an_error_in_the_same_piece_are_told() -> None:
    piece = line("ADDED", node("a", "11")) + line("ERROR", status_object(410, "Expired"))
    events, _ = told([objects(), objects(node("a", "11"), node("b", "12"), version="12")], [stream(piece), stream()], 2)
    assert events == [("ADDED", "a", "11"), ("ADDED", "b", "12")]


@pytest.mark.parametrize("error", [status_object(500, "InternalError", "etcd"), {"kind": "Status", "code": "x"}])
def test_any_other_error_in_the_stream_means_a_new_list_too(error: dict[str, Any]) -> None:
    watches = [stream(line("ERROR", error)), stream()]
    events, story = told([objects(), objects(node("a"))], watches, 1)
    assert events == [("ADDED", "a", "1")]
    assert story.restarts == {Restart.FAILED: 1}


@pytest.mark.parametrize(
    "refusal",
    [
        status(410, "Expired", "too old"),
        status(504, "Timeout", "Too large resource version: 10, current: 3"),
        status(400, "BadRequest", 'invalid resource version: "10"'),
    ],
    ids=["too old", "too new", "of another server"],
)
def test_where_no_list_can_go_on_from_the_version_the_newest_state_is_asked_for(refusal: Answer) -> None:
    _, story = told(
        [objects(version="10"), refusal, objects(node("a"), version="3")],
        [status(410, "Expired"), stream()],
        1,
    )
    assert [query.get("resourceVersion", "newest") for query in story.lists] == ["0", "10", "newest"]
    assert story.timing.naps == [0.8]  # before the list with the version; the one without it follows at once


def test_the_newest_state_comes_in_pages() -> None:
    events, story = told(
        [
            status(410, "Expired"),
            objects(node("a"), more="page-2"),
            objects(node("b"), more="page-3"),
            objects(node("c"), version="12"),
        ],
        [stream()],
        3,
        page_size=1,
    )
    assert [name for _, name, _ in events] == ["a", "b", "c"]
    assert story.lists[1:] == [
        {"limit": "1"},
        {"limit": "1", "continue": "page-2"},
        {"limit": "1", "continue": "page-3"},
    ]


def test_pages_that_expire_while_they_are_read_mean_one_big_list() -> None:
    events, story = told(
        [
            status(410, "Expired"),
            objects(node("a"), more="page-2"),
            status(410, "Expired", "the provided continue parameter is too old"),
            objects(node("a"), node("b")),
        ],
        [stream()],
        2,
    )
    assert len(events) == 2
    assert story.lists[1:] == [{"limit": "500"}, {"limit": "500", "continue": "page-2"}, {}]


def test_lists_are_tried_until_one_works_with_growing_delays() -> None:
    refused = [status(500, "InternalError"), status(403, "Forbidden"), status(503, "ServiceUnavailable")]
    events, story = told([*refused, objects(node("a"))], [stream()], 1)
    assert events == [("ADDED", "a", "1")]
    assert story.timing.naps == [0.8, 1.6, 3.2]
    assert "503 ServiceUnavailable" in story.reflector.last_error
    assert story.reflector.counts.lists == 4


ABSENT = status(404, "NotFound")


def test_an_optional_kind_that_comes_later_is_found(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    events, story = told([ABSENT, ABSENT, objects(node("gpu"))], [stream()], 1, kind="DeviceClass")
    assert events == [("ADDED", "gpu", "1")]
    assert story.timing.naps == [60.0, 60.0]
    (said,) = [record.message for record in caplog.records if "(absent)" in record.message]
    assert said.startswith("watching deviceclasses.resource.k8s.io: GET ")


def test_a_server_that_once_denies_an_optional_kind_takes_nothing_away() -> None:
    expired = stream(line("ERROR", status_object(410, "Expired")), end="close")
    lists = [objects(node("gpu")), ABSENT, objects(node("gpu"), node("nic"))]
    events, _ = told(lists, [expired, stream()], 2, kind="DeviceClass")
    assert events == [("ADDED", "gpu", "1"), ("ADDED", "nic", "1")]


def test_an_optional_kind_that_is_removed_is_empty() -> None:
    expired = stream(line("ERROR", status_object(410, "Expired")), end="close")
    events, _ = told([objects(node("gpu")), ABSENT], [expired], 2, kind="DeviceClass")
    assert events == [("ADDED", "gpu", "1"), ("DELETED", "gpu", "1")]


def test_a_kind_is_watched_in_the_version_that_the_server_has_after_an_upgrade_too() -> None:
    kind, expired = KINDS["PodGroup"], stream(line("ERROR", status_object(410, "Expired")), end="close")
    alpha = list_path(replace(kind, version="v1alpha2"))
    first, second = ({"metadata": {"name": name, "resourceVersion": "1"}} for name in ("a", "b"))

    async def scenario() -> None:
        async with reflecting([ABSENT, objects(first, second)], [stream()], kind="PodGroup") as story:
            versions = [says({"versions": [{"version": one}]}) for one in ("v1alpha2", "v1beta1")]
            story.server.on("GET", "/apis/scheduling.k8s.io", *versions)
            page = {"kind": "PodGroupList", "metadata": {"resourceVersion": "1"}, "items": [first]}
            story.server.on("LIST", alpha, says(page), ABSENT)
            story.server.on("WATCH", alpha, expired)
            assert await story.heard.at_least(2) == [("ADDED", "a", "1"), ("ADDED", "b", "1")]
            assert not [nap for nap in story.timing.naps if nap >= 60]

    run(scenario())


def test_an_optional_kind_that_is_there_and_forbidden_is_waited_for() -> None:
    served = says({"resources": [{"name": "deviceclasses", "kind": "DeviceClass", "verbs": ["list", "watch"]}]})

    async def scenario() -> None:
        lists = [status(403, "Forbidden"), objects(node("gpu"))]
        async with reflecting(lists, [stream()], kind="DeviceClass") as story:
            story.server.on("GET", "/apis/resource.k8s.io/v1", served)
            await story.heard.at_least(1)
            assert story.timing.naps == [0.8]
            assert story.restarts == {Restart.REFUSED: 1}

    run(scenario())


def test_a_server_that_asks_for_time_gets_it() -> None:
    busy = status(429, "TooManyRequests", headers={"Retry-After": "17"})
    _, story = told([objects(version="10")], [busy, stream(line("ADDED", node("a")))], 1)
    assert story.timing.naps == [17.0]
    assert (story.versions, len(story.lists)) == (["10", "10"], 1)
    assert story.restarts == {Restart.REFUSED: 1}


@pytest.mark.parametrize(
    "busy",
    [
        status(503, "ServiceUnavailable", headers={"Retry-After": "86400"}),
        stream(line("ERROR", status_object(503, "ServiceUnavailable", retryAfterSeconds=86400)), end="close"),
    ],
)
def test_a_server_that_asks_for_a_day_is_asked_again_sooner(busy: Answer) -> None:
    lists = [objects(version="10"), objects(node("a"), version="11")]
    _, story = told(lists, [busy, stream()], 1)
    assert story.timing.naps == [30.0]


@pytest.mark.parametrize(
    ("other", "fault"),
    [
        ({}, "expected a NodeList, found an object without a kind"),
        ({"kind": "Status", "status": "Success"}, "expected a NodeList, found kind Status"),
        ({"kind": "NodeList", "metadata": {}, "items": []}, "the list has no metadata.resourceVersion"),
    ],
)
def test_an_answer_that_is_no_list_does_not_delete_what_is_known(other: dict[str, Any], fault: str) -> None:
    gone = stream(line("ERROR", status_object(410, "Expired")), end="close")
    lists = [objects(node("a"), version="10"), says(other), objects(node("a"), node("b"), version="12")]
    events, story = told(lists, [gone, stream()], 2)
    assert events == [("ADDED", "a", "1"), ("ADDED", "b", "1")]
    assert story.restarts == {Restart.EXPIRED: 1, Restart.FAILED: 1}
    assert fault in story.reflector.last_error


def test_a_server_that_gives_up_in_the_middle_of_a_list_is_asked_again() -> None:
    events, story = told([no_answer, no_answer, objects(node("a"))], [stream()], 1)
    assert events == [("ADDED", "a", "1")]
    assert story.restarts == {Restart.CUT: 1}


def test_a_token_that_is_rejected_is_no_reason_for_a_new_list() -> None:
    _, story = told([objects()], [status(401, "Unauthorized"), stream(line("ADDED", node("a", "11")))], 1)
    assert (len(story.lists), story.restarts) == (1, {Restart.REFUSED: 1})


# --- a server whose past is gone ---


def after(seconds: float, timing: FakeTiming, answer: Answer) -> Answer:
    """An answer that takes its time, on the clock of the story."""

    async def late(request: web.Request) -> web.StreamResponse:
        timing.seconds += seconds
        return await answer(request)

    return late


def from_which(lists: list[dict[str, str]]) -> list[str]:
    return [query.get("resourceVersion", "newest") for query in lists]


def test_a_watch_that_says_nothing_is_followed_by_a_list_of_the_newest_state_in_pages() -> None:
    events, story = told(
        [objects(node("a"), version="10"), objects(node("a"), more="page-2"), objects(node("b"), version="12")],
        [stream(), stream(line("ADDED", node("c", "13")))],
        3,
        silence=0.05,
    )
    assert events[:3] == [("ADDED", "a", "1"), ("ADDED", "b", "1"), ("ADDED", "c", "13")]
    assert story.lists[:3] == [{"resourceVersion": "0"}, {"limit": "500"}, {"limit": "500", "continue": "page-2"}]
    assert story.versions[:2] == ["10", "12"]
    assert set(story.restarts) == {Restart.IDLE}


def test_a_server_that_is_well_and_sends_no_bookmarks_costs_a_list_and_tells_nothing() -> None:
    async def scenario() -> None:
        well = objects(node("a"), node("b"), version="10")
        async with reflecting([well], [stream()], silence=0.05) as story:
            await story.watching(4)
            assert story.heard.told == [("ADDED", "a", "1"), ("ADDED", "b", "1")]
            assert from_which(story.lists)[:4] == ["0", "newest", "newest", "newest"]
            assert len(story.timing.naps) >= 3  # with some chance, so that kinds and clients drift apart

    run(scenario())


@pytest.mark.parametrize("end", ["close", "cut"])
def test_silence_adds_up_over_watches_since_the_last_bookmark(end: str) -> None:
    timing = FakeTiming()
    watches = [after(60, timing, stream(*said, end=end)) for said in ([], [bookmark("40")], [], [])]
    events, story = told([objects(), objects(node("a"))], [*watches, stream()], 1, timing=timing)
    assert events == [("ADDED", "a", "1")]
    assert story.versions == ["10", "10", "40", "40"]
    assert from_which(story.lists) == ["0", "newest"]


def test_a_watch_that_is_never_answered_is_given_up_for_a_list() -> None:
    async def scenario() -> None:
        async with reflecting([objects(), objects(node("a"))], [silence], timeout=0.02) as story:
            assert await story.heard.at_least(1) == [("ADDED", "a", "1")]
            assert 120 <= sum(story.timing.naps) < 180
            assert story.lists[1] == {"limit": "500"}
            assert set(story.restarts) == {Restart.CUT}

    run(scenario())


def test_a_list_that_is_lower_replaces_what_is_known(caplog: pytest.LogCaptureFixture) -> None:
    timing = FakeTiming()
    events, story = told(
        [
            objects(node("stays", "90"), node("goes", "95"), node("again", "96"), node("earlier", "99"), version="100"),
            objects(node("stays", "90", zone="x"), node("again", "7", uid="other"), node("earlier", "8"), version="9"),
        ],
        [
            after(120, timing, stream(end="cut")),
            stream(line("MODIFIED", node("stays", "10")) + line("DELETED", node("again", "11", uid="other"))),
        ],
        11,
        timing=timing,
    )
    assert events[4:] == [
        ("DELETED", "goes", "95"),
        ("MODIFIED", "stays", "90"),  # a version that was given out twice
        ("DELETED", "again", "96"),
        ("ADDED", "again", "7"),
        ("MODIFIED", "earlier", "8"),
        ("MODIFIED", "stays", "10"),
        ("DELETED", "again", "11"),
    ]
    assert story.versions == ["100", "9"]
    assert "watching nodes: the resource version went back from 100 to 9" in caplog.text


@pytest.mark.parametrize(("before", "now"), [("9", "10"), ("10", "10"), ("b", "a"), ("10", "a"), ("b", "9")])
def test_versions_that_do_not_go_back_are_trusted(before: str, now: str) -> None:
    timing = FakeTiming()
    events, story = told(
        [objects(node("a", "5"), version=before), objects(node("a", "5", zone="x"), node("b"), version=now)],
        [after(120, timing, stream(end="cut")), stream()],
        2,
        timing=timing,
    )
    assert events == [("ADDED", "a", "5"), ("ADDED", "b", "1")]
    assert story.versions[0] == before


def test_a_version_that_the_server_has_not_reached_is_not_asked_for_again_when_the_list_hangs() -> None:
    timing = FakeTiming()
    hangs = after(60, timing, no_answer)
    _, story = told(
        [objects(version="100"), hangs, hangs, objects(node("a"), version="3")],  # aiohttp asks a second time
        [status(500, "InternalError"), stream()],
        1,
        timing=timing,
    )
    assert from_which(story.lists) == ["0", "100", "100", "newest"]


def test_a_server_that_was_away_for_long_is_listed_when_it_comes_back() -> None:
    class ComesBack(FakeTiming):
        server: FakeApiServer

        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            if self.seconds > 1150:
                await self.server.start()

    async def scenario() -> None:
        timing = ComesBack()
        lists = [objects(node("old"), version="100"), objects(node("new"), version="101")]
        async with reflecting(lists, [stream()], timing=timing) as story:
            await story.watching(1)
            timing.server = story.server
            await story.server.stop()
            assert (await story.heard.at_least(3))[1:] == [("DELETED", "old", "1"), ("ADDED", "new", "1")]
            assert story.lists[1] == {"limit": "500"}

    run(scenario())


# --- objects that do not decode ---

BROKEN = {"spec": {"taints": "none"}}


def test_an_object_that_does_not_decode_is_skipped_and_said_so(caplog: pytest.LogCaptureFixture) -> None:
    events, story = told(
        [objects(node("bad") | BROKEN, node("a"))],
        [stream(line("ADDED", node("worse", "11") | BROKEN), line("ADDED", node("b", "12")))],
        2,
    )
    assert [name for _, name, _ in events] == ["a", "b"]
    assert story.reflector.counts.skipped == 2
    assert "Node bad is skipped, because it does not decode: spec.taints: expected a list, found " in caplog.text
    assert story.restarts == {}


def test_an_object_that_no_longer_decodes_stays_as_it_was_and_can_be_deleted() -> None:
    again = stream(line("ERROR", status_object(410, "Expired")), end="close")
    events, story = told(
        [objects(node("a", "5")), objects(node("a", "6") | BROKEN, version="12")],
        [
            stream(line("MODIFIED", node("a", "11") | BROKEN), end="close"),
            again,
            stream(line("DELETED", node("a", "20") | BROKEN)),
        ],
        2,
    )
    assert events == [("ADDED", "a", "5"), ("DELETED", "a", "5")]
    assert story.versions[1] == "11"  # what was skipped is not asked for again


def test_words_that_nobody_knows_yet_are_left_alone() -> None:
    events, story = told([objects()], [stream(line("RENAMED", {}), line("ADDED", node("a", "11")))], 1)
    assert events == [("ADDED", "a", "11")]
    assert story.restarts == {}


def test_an_object_of_any_depth_is_heard_of_and_so_is_what_comes_after_it() -> None:
    deep = {**node("deep", "11")["metadata"], "managedFields": [{"fieldsV1": "FIELDS"}]}

    def in_depth(text: str) -> bytes:
        return text.replace('"FIELDS"', '{"f:a":' * 9_000 + "{}" + "}" * 9_000).encode()

    async def listed(request: web.Request) -> web.StreamResponse:
        items = [{"metadata": deep}, node("a")]
        page = json.dumps({"kind": "NodeList", "metadata": {"resourceVersion": "10"}, "items": items})
        return web.Response(body=in_depth(page))

    changed = in_depth(
        json.dumps({"type": "MODIFIED", "object": {"metadata": deep | {"resourceVersion": "12"}}}) + "\n"
    )
    events, story = told([listed], [stream(changed, line("ADDED", node("b", "13")))], 4)
    assert [(name, version) for _, name, version in events] == [("deep", "11"), ("a", "1"), ("deep", "12"), ("b", "13")]
    assert story.restarts == {}


# --- the rest ---


def test_a_large_list_lets_others_run_in_between() -> None:
    async def scenario() -> int:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += bool(story.reflector.counts.lists) and not story.reflector.synced.is_set()
                await asyncio.sleep(0)

        async with reflecting([objects(*(node(f"n{i}") for i in range(5000)))], [stream()]) as story:
            task = asyncio.create_task(other())
            await story.heard.at_least(1)
            seen = turns
            await story.heard.at_least(5000)
            task.cancel()
            return turns - seen

    assert run(scenario()) >= 3


def test_what_the_sink_raises_ends_the_watch() -> None:
    def refuse(events: list[WatchEvent]) -> None:
        raise ValueError("enough")

    async def scenario() -> None:
        async with FakeApiServer() as server, client_of(server) as client:
            server.on("LIST", NODES, objects(node("a")))
            await Reflector(client, "Node", refuse).run()

    with pytest.raises(ValueError, match="enough"):
        run(scenario())


def test_credentials_that_cannot_be_had_are_waited_for(tmp_path: Path) -> None:
    token = tmp_path / "token"

    class Appears(FakeTiming):
        async def sleep(self, seconds: float) -> None:
            token.write_text("t")
            await super().sleep(seconds)

    async def scenario() -> Reflector:
        timing, heard = Appears(), Heard()
        async with FakeApiServer() as server, client_of(server, timing=timing) as client:
            server.on("LIST", NODES, objects(node("a")))
            server.on("WATCH", NODES, stream())
            credentials = ConfiguredCredentials(token=Content("token", timing, path=token))
            client.access = Access("test", server.url, credentials)
            reflector = Reflector(client, "Node", heard)
            task = asyncio.create_task(reflector.run())
            await heard.at_least(1)
            task.cancel()
        return reflector

    reflector = run(scenario())
    assert reflector.counts.restarts[Restart.REFUSED] == 1
    assert "cannot be read" in reflector.last_error
