"""The errors of extenders that give no answer. The texts are those of a Go 1.26 client against the same servers."""

import asyncio
import re
import socket
import ssl
import struct
import threading
import time
from pathlib import Path

import pytest

from kubesched.config import ExtenderConfig, ExtenderTLSConfig
from kubesched.errors import ExtenderError
from kubesched.extender_client import ExtenderClient
from tests.extender_client.test_client import BODY, echo, extender
from tests.serving.certificates import Authority

OK = b"HTTP/1.1 200 OK\r\n"
RESET = "read tcp: read: connection reset by peer"
BROKEN = "net/http: HTTP/1.x transport connection broken: "
INVALID = "tls: failed to verify certificate: x509: "


def refusal(address: str, **config: object) -> str:
    """Why an extender at this address gave no answer, without the address."""

    async def story() -> None:
        settings = ExtenderConfig(url_prefix=address, **config)  # type: ignore[arg-type]
        async with ExtenderClient(settings) as client:
            await client.call("filter", BODY)

    with pytest.raises(ExtenderError) as caught:
        asyncio.run(story())
    return str(caught.value).removeprefix(f'Post "{address}/filter": ')


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "https://127.0.0.1:1/base"])
def test_an_extender_that_is_not_there_is_an_error_in_the_words_of_kube_scheduler(address: str) -> None:
    where = address.split("/")[2]
    assert refusal(address) == f"dial tcp {where}: connect: connection refused"


def test_an_ipv6_address_is_in_brackets() -> None:
    reasons = "connection refused|cannot assign requested address|address family not supported by protocol"
    assert re.fullmatch(rf"dial tcp \[::1\]:1: connect: ({reasons})", refusal("http://[::1]:1"))


def test_the_address_behind_a_name_is_in_the_error() -> None:
    assert re.fullmatch(
        r"dial tcp (127\.0\.0\.1|\[::1\]):1: connect: connection refused", refusal("http://localhost:1")
    )


def test_a_host_that_does_not_exist_is_named() -> None:
    assert re.match("dial tcp: lookup nowhere.invalid: (no such host|Temporary)", refusal("http://nowhere.invalid"))


def test_the_password_of_an_address_is_in_no_error() -> None:
    said = refusal("http://me:secret@127.0.0.1:1")
    assert said == 'Post "http://me:***@127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused'


def test_a_proxy_that_is_not_there_is_an_error_of_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://me:secret@127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert refusal("http://devices:80") == "proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused"


def against(answer: bytes, *, is_reset: bool = False, scheme: str = "http") -> str:
    """What is said when a server sends these bytes, and closes or resets the connection."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await (reader.readuntil(BODY) if scheme == "http" else reader.read(5))
        writer.write(answer)
        await writer.drain()
        if is_reset:
            if answer:
                await asyncio.sleep(0.1)  # it would overtake what was sent
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        writer.close()

    async def story() -> str:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            address = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            return await asyncio.to_thread(refusal, address)

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "EOF"),
        (OK + b"X: y\r\n", BROKEN + "unexpected EOF"),
        (b"SSH-2.0-x\r\n", BROKEN + "Bad status line: "),
        (OK + b"Content-Length: 100\r\n\r\n{", "unexpected EOF"),
        (OK + b"Content-Length: 100\r\n\r\n", "unexpected EOF"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "unexpected EOF"),
        (OK + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "Can not decode content-encoding: gzip"),
    ],
)
def test_an_answer_that_is_cut_is_an_error_in_the_words_of_kube_scheduler(answer: bytes, words: str) -> None:
    said = against(answer)
    assert said == words or (words.endswith(": ") and said.startswith(words))
    assert "\n" not in said


@pytest.mark.parametrize("answer", [b"", OK + b"Content-Length: 100\r\n\r\n{"])
def test_a_connection_that_is_reset_is_an_error_in_the_words_of_kube_scheduler(answer: bytes) -> None:
    assert against(answer, is_reset=True) == RESET


def test_tls_with_a_server_that_has_none_is_an_error_in_the_words_of_kube_scheduler() -> None:
    said = against(b"HTTP/1.1 400 Bad Request\r\n\r\n", scheme="https")
    assert said == "http: server gave HTTP response to HTTPS client"
    assert against(b"", scheme="https") in ("EOF", RESET)
    assert against(b"", scheme="https", is_reset=True) == RESET


# --- certificates ---


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def over_tls(authority: Authority, context: ssl.SSLContext, **tls: str) -> str:
    """What is said of an extender at 127.0.0.1 that speaks TLS so."""

    async def story() -> str:
        async with extender(echo, context) as address:
            settings = ExtenderTLSConfig(ca_file=str(authority.path), **tls)
            return await asyncio.to_thread(refusal, address, tls_config=settings)

    return asyncio.run(story())


@pytest.mark.parametrize("names", [("other.example",), ("10.0.0.1", "other.example")])
def test_a_certificate_for_other_names_is_an_error_with_the_name_that_it_lacks(
    authority: Authority, names: tuple[str, ...]
) -> None:
    context = authority.server_context(authority.issue("devices", *names))
    assert over_tls(authority, context) == INVALID + "certificate is valid for other names, not 127.0.0.1"
    said = over_tls(authority, context, server_name="devices.example")
    assert said == INVALID + "certificate is valid for other names, not devices.example"


def test_an_authority_that_is_not_known_and_an_expired_certificate_are_told_apart(
    authority: Authority, tmp_path: Path
) -> None:
    expired = authority.server_context(authority.issue("old", "127.0.0.1", is_expired=True))
    reason = "certificate has expired or is not yet valid: certificate has expired"
    assert over_tls(authority, expired) == INVALID + reason
    good = authority.server_context(authority.issue("devices", "127.0.0.1"))
    other = Authority(tmp_path, "another authority")
    assert over_tls(other, good) == INVALID + "certificate signed by unknown authority"


def test_a_server_that_wants_a_certificate_says_so_in_an_alert(authority: Authority) -> None:
    context = authority.server_context(authority.issue("devices", "127.0.0.1"), wants_client=True)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # it ends the handshake, and TLS 1.3 the first answer
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as secured:
                with pytest.raises(ssl.SSLError):
                    secured.do_handshake()
                time.sleep(0.2)  # what it did not read would have the connection reset, and the alert lost

        thread = threading.Thread(target=serve)
        thread.start()
        address = f"https://127.0.0.1:{listener.getsockname()[1]}"
        said = refusal(address, tls_config=ExtenderTLSConfig(ca_file=str(authority.path)))
        thread.join()
    assert said == "remote error: tls: handshake failure"
