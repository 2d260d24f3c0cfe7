import logging
import ssl
from pathlib import Path
from typing import Any

import pytest

from kubesched.cluster import Access, ApiClient, Auth
from kubesched.cluster.client_tls import TlsContexts
from kubesched.cluster.content import Content
from kubesched.cluster.credentials import ConfiguredCredentials
from kubesched.errors import ClusterError, ConfigError
from tests.cluster.fake_api_server import FakeApiServer, says
from tests.cluster.fake_timing import FakeTiming, run
from tests.serving.certificates import Authority, Pair


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def serving(authority: Authority) -> Pair:
    return authority.issue("server", "127.0.0.1", "api.internal")


def access(server: str = "https://127.0.0.1", ca: Path | None = None, **fields: Any) -> Access:
    timing = FakeTiming()
    content = Content("kubeconfig k: clusters[0].cluster.certificate-authority", timing, path=ca) if ca else None
    return Access(
        **{"label": "kubeconfig k", "server": server, "credentials": ConfiguredCredentials(), "ca": content} | fields
    )


def get(tls: ssl.SSLContext, **fields: Any) -> bytes:
    async def scenario() -> bytes:
        async with FakeApiServer(tls) as server:
            server.on("GET", "/version", says("v1"))
            async with ApiClient(access(server.url, **fields), timing=FakeTiming()) as client:
                return await client.request("GET", "/version")

    return run(scenario())


def test_a_server_that_our_authority_vouches_for_is_trusted(authority: Authority, serving: Pair) -> None:
    assert get(authority.server_context(serving), ca=authority.path) == b'"v1"'


def test_an_authority_without_key_usage_and_identifiers_is_as_good_as_for_go(tmp_path: Path) -> None:
    plain = Authority(tmp_path, is_strict=False)
    assert get(plain.server_context(plain.issue("server", "127.0.0.1")), ca=plain.path) == b'"v1"'


def test_other_servers_are_not_trusted(authority: Authority, serving: Pair, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "stranger")
    with pytest.raises(ClusterError, match=r"the server's certificate is not valid: .*; check certificate-authority"):
        get(authority.server_context(serving), ca=stranger.path)


def test_the_systems_authorities_count_where_none_is_named(authority: Authority, serving: Pair) -> None:
    with pytest.raises(ClusterError, match="the server's certificate is not valid"):
        get(authority.server_context(serving))


def test_a_certificate_for_another_name_does_not_hold(authority: Authority) -> None:
    other = authority.issue("other", "api.internal")
    context = authority.server_context(other)
    with pytest.raises(ClusterError, match=r"the server's certificate is not valid: .*127.0.0.1"):
        get(context, ca=authority.path)
    assert get(context, ca=authority.path, tls_server_name="api.internal") == b'"v1"'


def test_insecure_trusts_anybody(authority: Authority, serving: Pair) -> None:
    assert get(authority.server_context(serving), insecure=True) == b'"v1"'


def test_a_client_certificate_is_shown(authority: Authority, serving: Pair) -> None:
    ours = authority.issue("ann", "ann")
    timing = FakeTiming()
    certificate = Content("c", timing, data=ours.certificate.read_bytes())
    key = Content("k", timing, path=ours.key)
    context = authority.server_context(serving, wants_client=True)
    credentials = ConfiguredCredentials(certificate=certificate, key=key)
    assert get(context, ca=authority.path, credentials=credentials) == b'"v1"'
    with pytest.raises(ClusterError):
        get(context, ca=authority.path)


def test_a_context_is_made_anew_when_a_certificate_changes(authority: Authority, tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_bytes(authority.path.read_bytes())
    timing = FakeTiming()
    contexts = TlsContexts(Access("k", "https://h", ConfiguredCredentials(), Content("ca", timing, path=ca)))
    first = contexts.context(Auth())
    assert contexts.context(Auth("Bearer other")) is first
    ours = authority.issue("ben", "ben")
    shown = contexts.context(Auth("", ours.certificate.read_bytes(), ours.key.read_bytes()))
    assert shown is not first
    ca.write_bytes(Authority(tmp_path, "next").path.read_bytes())
    timing.seconds += 10
    assert contexts.context(Auth("", ours.certificate.read_bytes(), ours.key.read_bytes())) is not shown


def test_a_server_without_tls_needs_no_context() -> None:
    assert TlsContexts(access("http://127.0.0.1")).context(Auth()) is True


def test_an_authority_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("s3cret")
    with pytest.raises(ConfigError, match=r"^kubeconfig k: clusters\[0\].cluster.certificate-authority: found no cert"):
        TlsContexts(access(ca=tmp_path / "ca.crt")).context(Auth())


@pytest.mark.parametrize("spoil", ["certificate", "key", "mismatch"])
def test_a_client_certificate_that_cannot_be_used_shows_before_the_first_request(
    authority: Authority, spoil: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ours, theirs = authority.issue("eve", "eve"), authority.issue("fay", "fay")
    certificate = b"s3cret" if spoil == "certificate" else ours.certificate.read_bytes()
    key = {"key": b"s3cret", "mismatch": theirs.key.read_bytes()}.get(spoil, ours.key.read_bytes())
    timing = FakeTiming()
    credentials = ConfiguredCredentials(
        certificate=Content("c", timing, data=certificate), key=Content("k", timing, data=key)
    )

    async def scenario() -> None:
        async with ApiClient(access(credentials=credentials), timing=timing):
            pass

    with pytest.raises(ConfigError, match=r"^kubeconfig k: the client certificate and key cannot be used") as raised:
        run(scenario())
    assert "s3cret" not in str(raised.value) + caplog.text


@pytest.mark.parametrize("half", ["the new certificate and the old key", "not PEM"])
def test_while_a_pair_is_being_replaced_the_earlier_one_stays_in_use(
    authority: Authority, serving: Pair, tmp_path: Path, half: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Between the two writes the certificate does not belong to the key; ten seconds later it does. A leader that can
    send nothing for so long loses its lease.
    """
    old, new = authority.issue("old", "ann"), authority.issue("new", "ann")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(old.certificate.read_bytes())
    key.write_bytes(old.key.read_bytes())
    timing = FakeTiming()
    credentials = ConfiguredCredentials(
        certificate=Content("c", timing, path=certificate), key=Content("k", timing, path=key)
    )

    async def scenario() -> list[bytes]:
        async with FakeApiServer(authority.server_context(serving, wants_client=True)) as server:
            server.on("GET", "/version", says("v1"))
            fields = access(server.url, ca=authority.path, credentials=credentials)
            async with ApiClient(fields, timing=timing) as client:
                certificate.write_bytes(new.certificate.read_bytes() if "new" in half else b"a")
                timing.seconds += 10
                answers = [await client.request("GET", "/version") for _ in range(2)]
                async with client.stream("/version", query={}, idle_timeout=5) as pieces:
                    answers += [piece async for piece in pieces]
                key.write_bytes(new.key.read_bytes())
                certificate.write_bytes(new.certificate.read_bytes())
                timing.seconds += 10
                return [*answers, await client.request("GET", "/version")]

    assert run(scenario()) == [b'"v1"'] * 4
    (message,) = caplog.messages
    assert "the client certificate and key cannot be used" in message
    assert message.endswith("; the earlier certificates stay in use")


def test_an_authority_that_is_being_replaced_stays_in_use(
    authority: Authority, serving: Pair, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ca, timing = tmp_path / "ca.crt", FakeTiming()
    ca.write_bytes(authority.path.read_bytes())

    async def scenario() -> bytes:
        async with FakeApiServer(authority.server_context(serving)) as server:
            server.on("GET", "/version", says("v1"))
            fields = Access("k", server.url, ConfiguredCredentials(), ca=Content("ca", timing, path=ca))
            async with ApiClient(fields, timing=timing) as client:
                ca.write_text("-----BEGIN CERTIFICATE-----\nMIIB")
                timing.seconds += 10
                return await client.request("GET", "/version")

    assert run(scenario()) == b'"v1"'
    assert caplog.messages == [
        "ca: found no certificate; expected certificates in PEM form; the earlier certificates stay in use"
    ]


def test_a_server_with_a_new_authority_is_trusted_as_soon_as_the_file_has_it(
    authority: Authority, serving: Pair, tmp_path: Path
) -> None:
    """The file was read a moment ago, so it is not due."""
    folder = tmp_path / "other"
    folder.mkdir()
    other, ca, timing = Authority(folder, "other authority"), tmp_path / "ca.crt", FakeTiming()
    ca.write_bytes(authority.path.read_bytes())

    async def scenario() -> bytes:
        tls = other.server_context(other.issue("server", "localhost", "127.0.0.1"))
        async with FakeApiServer(tls) as server:
            server.on("GET", "/version", says("v1"))
            fields = Access("k", server.url, ConfiguredCredentials(), ca=Content("ca", timing, path=ca))
            async with ApiClient(fields, timing=timing) as client:
                with pytest.raises(ClusterError, match="certificate is not valid"):
                    await client.request("GET", "/version", retry=False)
                ca.write_bytes(other.path.read_bytes())
                return await client.request("GET", "/version", retry=False)

    assert run(scenario()) == b'"v1"'


def test_an_encrypted_key_is_refused_and_nobody_is_asked(authority: Authority) -> None:
    locked = authority.issue("gil", password=b"s3cret")
    with pytest.raises(ConfigError, match="unencrypted key"):
        TlsContexts(access(ca=authority.path)).context(
            Auth("", locked.certificate.read_bytes(), locked.key.read_bytes())
        )
