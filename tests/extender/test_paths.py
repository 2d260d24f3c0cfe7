"""Verbs below a prefix, and what is logged of paths that ask for none."""

import logging
from typing import Any

import pytest

from kubesched.errors import InputError
from kubesched.extender.paths import QuickBelowPrefix, VerbPaths
from kubesched.serving import QuickHandler
from tests.extender.asking import captured
from tests.extender.wired import Client, First, Wired, filtered, posted, tell

ANY = VerbPaths(("First", "sample.plugin", "filter"))


@pytest.mark.parametrize(
    ("path", "exact"),
    [
        ("/api/scheduler/filter", "/filter"),
        ("/filter", "/filter"),
        ("/a/b/c/preemption", "/preemption"),
        ("/api/predicates/First", "/predicates/First"),
        ("/api/priorities/sample.plugin", "/priorities/sample.plugin"),
        ("/api/predicates/filter", "/predicates/filter"),
        ("/predicates/prioritize", "/prioritize"),
        ("/predicates/Third", "/predicates/Third"),
        ("/api/metrics", ""),
        ("/api/filters", ""),
        ("/api/filter/", ""),
        ("/", ""),
        ("", ""),
    ],
)
def test_the_end_of_a_path_is_the_verb(path: str, exact: str) -> None:
    assert ANY.exact(path) == exact


@pytest.mark.parametrize("prefix", ["/api/scheduler", "api/scheduler/", "//api/scheduler"])
def test_with_a_prefix_no_other_is_served(prefix: str) -> None:
    only = VerbPaths(("First",), prefix)
    assert only.exact("/api/scheduler/filter") == "/filter"
    assert only.exact("/api/scheduler/predicates/First") == "/predicates/First"
    for path in ("/api/filter", "/api/scheduler2/filter", "/api/scheduler/more/filter", "/x/api/scheduler/filter"):
        assert only.exact(path) == ""


UNCALLABLE = (
    "?x",
    "/a?b=c",
    "/a#b",
    "/%2e%2e",
    "http://h/x",
    "/a b",
    " ",
    "/a\n",
    "/..",
    "a/./b",
    "/a//b",
    "\udcff",
    "\\",
)


@pytest.mark.parametrize("prefix", UNCALLABLE)
def test_a_prefix_that_no_client_can_call_is_refused_in_one_sentence(prefix: str) -> None:
    with pytest.raises(
        InputError, match=r"^--path-prefix: found \".*; expected the path of urlPrefix alone.*segments$"
    ):
        VerbPaths((), prefix)


@pytest.mark.parametrize("prefix", ["", "/"])
def test_an_empty_prefix_serves_the_exact_paths_alone(prefix: str) -> None:
    assert VerbPaths((), prefix).exact("/filter") == "/filter"
    assert VerbPaths((), prefix).exact("/api/filter") == ""


@pytest.mark.parametrize(("path", "status"), [("/api/filter", 200), ("/filter", 200), ("/other/filter", 404)])
def test_a_call_is_answered_below_the_prefix_and_at_its_exact_path(path: str, status: int) -> None:
    async def story(_: Wired, client: Client) -> Any:
        return await client.post(path, captured("filter-names"))

    assert tell(story, First, path_prefix="/api").status == status


@pytest.mark.parametrize("escaped", ["%E2%82%AC", "%FF", "%ED%A0%80", "%F0%9F%98%80", "%00", "%", "%zz", "%C3%A9"])
@pytest.mark.parametrize("before", ["/x/predicates/", "/predicates/", "/x/", "/"])
def test_any_escaped_path_is_answered(caplog: pytest.LogCaptureFixture, before: str, escaped: str) -> None:
    answer = posted(f"{before}{escaped}", captured("filter-names"))
    assert answer.status == 404
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_plugin_with_a_name_in_any_script_is_answered_in_one_step() -> None:
    handler = QuickHandler(lambda body: (200, b"", []), lambda remote: None)
    quick = QuickBelowPrefix({"/predicates/Größe".encode(): handler}, VerbPaths(("Größe",)))
    for path in ("/api/predicates/Gr%C3%B6%C3%9Fe", "/predicates/Gr%c3%b6%c3%9fe", "/api/predicates/Größe"):
        assert quick.get(path.encode()) is handler
    assert quick.get(b"/api/predicates/\xff") is None


def test_a_get_below_a_prefix_is_not_allowed() -> None:
    async def story(_: Wired, client: Client) -> Any:
        return await client.get("/api/filter")

    assert (tell(story).status, tell(story).text) == (
        405,
        'method GET is not allowed at "/api/filter"; allowed: POST\n',
    )


def test_small_calls_below_a_prefix_are_answered_in_one_step() -> None:
    handler = QuickHandler(lambda body: (200, b"", []), lambda remote: None)
    quick = QuickBelowPrefix({b"/filter": handler}, ANY)
    assert quick.get(b"/api/filter") is quick.get(b"/filter") is handler
    assert quick.get(b"/api/bind") is None
    assert filtered(posted("/api/filter", captured("filter-names"))).NodeNames == ["n1"]


def warnings_of(caplog: pytest.LogCaptureFixture, *asked: str, **options: str) -> list[str]:
    async def story(_: Wired, client: Client) -> None:
        for path in asked:
            await client.post(path, captured("filter-names"))

    caplog.set_level(logging.WARNING)
    caplog.clear()
    tell(story, **options)
    return [record.getMessage() for record in caplog.records if record.name == "kubesched.extender"]


def test_an_unknown_path_is_one_warning_with_the_known_ones(caplog: pytest.LogCaptureFixture) -> None:
    (text,) = warnings_of(caplog, *["/api/fliter"] * 5)
    assert text.startswith('POST from 127.0.0.1: no such path: "/api/fliter"; expected one of /bind, /filter, ')
    assert text.endswith("; compare urlPrefix and the verbs in kube-scheduler's configuration")
    (text,) = warnings_of(caplog, "/api/predicates/Thrid")
    assert "no plugin named 'Thrid'; expected one of First; compare" in text


def test_an_unknown_path_is_answered_with_the_known_ones_below_the_only_prefix(
    caplog: pytest.LogCaptureFixture,
) -> None:
    (text,) = warnings_of(caplog, "/other/filter", path_prefix="/api")
    known = text.partition("expected one of ")[2].partition(";")[0].split(", ")
    assert {"/api/filter", "/api/predicates/{name}", "/inspect", "/healthz"} <= set(known)
    assert {"/filter", "/predicates/{name}", "/api/inspect", "/api/healthz"}.isdisjoint(known)


def test_a_client_cannot_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    assert len(warnings_of(caplog, *(f"/{number}" for number in range(30)))) == 8


def test_a_client_cannot_fill_the_log_with_calls_that_have_no_pod(caplog: pytest.LogCaptureFixture) -> None:
    async def story(_: Wired, client: Client) -> None:
        for number in range(20):
            await client.post(f"/pre{number}/filter", b"")
            await client.post(f"/pre{number}/prioritize", b"{")

    caplog.set_level(logging.WARNING)
    tell(story)
    texts = [record.getMessage() for record in caplog.records if record.name == "kubesched.extender"]
    assert sorted(text.partition(": ")[0] for text in texts) == ["filter ?", "prioritize ?"]


def test_a_path_cannot_look_like_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    (text,) = warnings_of(caplog, f"/%0aERROR%1b[2J/{'x' * 5000}")
    assert "\n" not in text
    assert "\x1b" not in text
    assert len(text) < 600
