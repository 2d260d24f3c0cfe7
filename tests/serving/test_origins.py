"""What a web page has a browser send is refused, whatever way it comes in."""

import asyncio

import pytest

from kubesched.serving import QuickHandler
from kubesched.serving.origins import allows_host_on
from tests.serving.running import connected, hello, new_server, serving


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8888", "localhost.", "127.0.0.1", "127.1.2.3:80", "[::1]:8888", "here.test:1", ""]
)
def test_loopback_names_and_the_servers_own_are_allowed(host: str):
    assert allows_host_on("127.0.0.1", "here.test")(host)


@pytest.mark.parametrize(
    "host", ["evil.test", "evil.test:8888", "127.0.0.1.evil.test", "localhost.evil.test", "10.0.0.1", "["]
)
def test_other_names_are_refused_on_loopback_and_allowed_elsewhere(host: str):
    assert not allows_host_on("127.0.0.1", "127.0.0.1")(host)
    assert not allows_host_on("::1", "::1")(host)
    assert allows_host_on("10.0.0.1", "10.0.0.1")(host)


PAGES = [
    (["Origin: http://evil.test"], "it has the header Origin, so it comes from a web page"),
    (["Origin: null"], "it has the header Origin, so it comes from a web page"),
    (["Sec-Fetch-Site: cross-site"], "it has the header Sec-Fetch-Site, so it comes from a web page"),
]


@pytest.mark.parametrize(("headers", "why"), PAGES)
@pytest.mark.parametrize("path", ["/call", "/page", "/aside"])
def test_requests_of_web_pages_are_refused_with_a_sentence(path: str, headers: list[str], why: str):
    assert answered(path, "localhost", headers) == (403, f"this request is refused because {why}\n")


@pytest.mark.parametrize("path", ["/call", "/page", "/aside"])
def test_a_name_that_was_made_to_mean_this_machine_is_refused(path: str):
    why = 'its Host is "evil.test:1"; expected localhost, or the name given with --host'
    assert answered(path, "evil.test:1") == (403, f"this request is refused because {why}\n")
    assert answered(path, "127.0.0.1:1")[0] == 200


@pytest.mark.parametrize("path", ["/call", "/page", "/aside"])
def test_a_name_that_is_not_ascii_is_refused_like_any_other(path: str):
    status, text = answered(path, "\xe9.test")
    assert status == 403
    assert "its Host is" in text


def answered(path: str, host: str, headers: list[str] = ()) -> tuple[int, str]:
    """What a server answers: `/call` the short way, `/page` by aiohttp, `/aside` in its other thread."""
    return asked(path, [host], headers)[0]


def asked(path: str, hosts: list[str], headers: list[str] = ()) -> list[tuple[int, str]]:
    """What a server answers to several requests, each on its own connection."""

    async def story() -> list[tuple[int, str]]:
        server = new_server([("POST", "/call", hello), ("GET", "/page", hello)])
        server.aside.router.add_get("/aside", hello)
        server.quick = {b"/call": QuickHandler(lambda body: (200, b"text/plain", [b"quick"]), lambda remote: None)}
        answers = []
        async with serving(server):
            for host in hosts:
                async with connected(server) as client:
                    lines = [f"{'POST' if path == '/call' else 'GET'} {path} HTTP/1.1", f"Host: {host}", *headers]
                    await client.send_raw("\r\n".join([*lines, "Content-Length: 0", "", ""]).encode("latin-1"))
                    status, _, text = await client.answer()
                    answers.append((status, text))
        return answers

    return asyncio.run(asyncio.wait_for(story(), 20))


@pytest.mark.parametrize("path", ["/page", "/aside", "/call"])
def test_refused_requests_do_not_fill_the_log(path: str, caplog: pytest.LogCaptureFixture):
    asked(path, [f"evil{number}.test" for number in range(20)])
    assert len([record for record in caplog.records if "was refused" in record.getMessage()]) == 8
