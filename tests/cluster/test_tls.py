import logging
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kubesched.cluster import Access, ApiClient, Auth
from kubesched.cluster.content import Content
from kubesched.cluster.credentials import ConfiguredCredentials
from kubesched.cluster.tls import TlsContexts
from kubesched.errors import ClusterError, ConfigError
from tests.cluster.certificates import Authority, Pair
from tests.cluster.fake_api_server import FakeApiServer, says
from tests.cluster.fake_timing import FakeTiming, run


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def serving(authority: Authority) -> Pair:
    return authority.issue("server", "IP:127.0.0.1,DNS:api.internal")


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
    assert get(authority.server_context(serving), ca=authority.certificate) == b'"v1"'


def test_other_servers_are_not_trusted(authority: Authority, serving: Pair, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "stranger")
    with pytest.raises(ClusterError, match=r"the server's certificate does not hold: .*; check certificate-authority"):
        get(authority.server_context(serving), ca=stranger.certificate)


def test_the_systems_authorities_count_where_none_is_named(authority: Authority, serving: Pair) -> None:
    with pytest.raises(ClusterError, match="the server's certificate does not hold"):
        get(authority.server_context(serving))


def test_a_certificate_for_another_name_does_not_hold(authority: Authority) -> None:
    other = authority.issue("other", "DNS:api.internal")
    context = authority.server_context(other)
    with pytest.raises(ClusterError, match=r"the server's certificate does not hold: .*127.0.0.1"):
        get(context, ca=authority.certificate)
    assert get(context, ca=authority.certificate, tls_server_name="api.internal") == b'"v1"'


def test_insecure_trusts_anybody(authority: Authority, serving: Pair) -> None:
    assert get(authority.server_context(serving), insecure=True) == b'"v1"'


def test_a_client_certificate_is_shown(authority: Authority, serving: Pair) -> None:
    ours = authority.issue("ann", "DNS:ann")
    timing = FakeTiming()
    certificate = Content("c", timing, data=ours.certificate.read_bytes())
    key = Content("k", timing, path=ours.key)
    context = authority.server_context(serving, wants_client=True)
    credentials = ConfiguredCredentials(certificate=certificate, key=key)
    assert get(context, ca=authority.certificate, credentials=credentials) == b'"v1"'
    with pytest.raises(ClusterError):
        get(context, ca=authority.certificate)


def test_a_context_is_made_anew_when_a_certificate_changes(authority: Authority, tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_bytes(authority.certificate.read_bytes())
    timing = FakeTiming()
    contexts = TlsContexts(Access("k", "https://h", ConfiguredCredentials(), Content("ca", timing, path=ca)))
    first = contexts.context(Auth())
    assert contexts.context(Auth("Bearer other")) is first
    ours = authority.issue("ben", "DNS:ben")
    shown = contexts.context(Auth("", ours.certificate.read_bytes(), ours.key.read_bytes()))
    assert shown is not first
    ca.write_bytes(Authority(tmp_path, "next").certificate.read_bytes())
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
    ours, theirs = authority.issue("eve", "DNS:eve"), authority.issue("fay", "DNS:fay")
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


def test_an_encrypted_key_is_refused_and_nobody_is_asked(authority: Authority, tmp_path: Path) -> None:
    ours = authority.issue("gil", "DNS:gil")
    locked = tmp_path / "locked.key"
    command = ["openssl", "pkcs8", "-topk8", "-in", str(ours.key), "-out", str(locked), "-passout", "pass:s3cret"]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(ConfigError, match="unencrypted key"):
        TlsContexts(access(ca=authority.certificate)).context(
            Auth("", ours.certificate.read_bytes(), locked.read_bytes())
        )
