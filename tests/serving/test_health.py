import asyncio
import json

import pytest
from aiohttp import web

from kubesched.serving import HEALTH_PATHS, add_health
from kubesched.version import VERSION
from tests.serving.running import connected, new_server, serving

UNKNOWN = 'warn: some health checks cannot be excluded: no matches for "x"'


def ask(*paths, live=None, ready=None, method="GET"):
    async def story():
        app = web.Application()
        add_health(app, live=live or {}, ready=ready or {})
        async with serving(new_server(app=app)) as server, connected(server) as client:
            return [await client.ask(method, path) for path in paths]

    return [(status, text) for status, _, text in asyncio.run(asyncio.wait_for(story(), 20))]


def good():
    return ""


def bad():
    return "not synced yet"


def test_a_healthy_server_says_ok_and_no_more():
    assert ask(*HEALTH_PATHS, live={"loop": good}, ready={"sync": good}) == [(200, "ok")] * 3


def test_verbose_lists_the_checks():
    (answer,) = ask("/readyz?verbose", live={"loop": good}, ready={"sync": good})
    assert answer == (200, "[+]ping ok\n[+]loop ok\n[+]sync ok\nreadyz check passed\n")


def test_a_failing_check_is_named_without_asking():
    (answer,) = ask("/readyz", ready={"sync": bad})
    assert answer == (500, "[+]ping ok\n[-]sync failed: not synced yet\nreadyz check failed\n")


def test_not_ready_is_not_dead():
    assert ask("/livez", "/healthz", ready={"sync": bad}) == [(200, "ok")] * 2


def test_what_only_a_restart_mends_fails_everywhere(caplog):
    assert [status for status, _ in ask(*HEALTH_PATHS, live={"loop": bad})] == [500] * 3
    assert "livez failed: loop: not synced yet" in caplog.text


def test_a_check_can_be_excluded_and_asked_alone():
    found = ask("/readyz?exclude=sync", "/readyz?verbose&exclude=sync&exclude=x", "/readyz/sync", ready={"sync": bad})
    assert found == [
        (200, "ok"),
        (
            200,
            f"[+]ping ok\n[+]sync excluded: ok\n{UNKNOWN}\nreadyz check passed\n",
        ),
        (500, "[-]sync failed: not synced yet\nsync check failed\n"),
    ]


@pytest.mark.parametrize("path", HEALTH_PATHS)
def test_a_post_is_refused(path):
    assert [status for status, _ in ask(path, method="POST")] == [405]


def test_the_version_has_the_fields_of_kubernetes():
    ((status, text),) = ask("/version")
    info = json.loads(text)
    assert (status, info["gitVersion"]) == (200, f"v{VERSION}")
    assert f"{info['major']}.{info['minor']}." in f"{VERSION}."
    assert all(isinstance(value, str) for value in info.values())
