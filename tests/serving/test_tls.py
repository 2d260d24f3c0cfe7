import asyncio
import ssl
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from kubesched.errors import InputError
from kubesched.serving import Certificates, QuickHandler, TlsFiles, allow_clients, peer_common_names
from tests.serving.certificates import Authority
from tests.serving.running import connected, new_server, serving

TLS_1_2 = ssl.TLSVersion.TLSv1_2


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


def files_of(pair, client_ca=None):
    return TlsFiles(certificate=pair[0], key=pair[1], client_ca=client_ca)


def client_context(authority, pair=None):
    context = ssl.create_default_context(cafile=authority.path)
    context.set_alpn_protocols(["h2", "http/1.1"])
    if pair:
        context.load_cert_chain(*pair)
    return context


@asynccontextmanager
async def speaking(server, context, name="localhost"):
    async with connected(server, ssl=context, server_hostname=name) as client:
        yield client


def served_name(client):
    subject = client.writer.get_extra_info("peercert")["subject"]
    return subject[0][0][1]


async def who(request):
    return web.Response(text=",".join(peer_common_names(request)))


def new_tls_server(files):
    return new_server([("GET", "/", who)], tls=files)


def touch(path, text):
    """Replace a file as kubelet does: by another one."""
    other = path.with_suffix(".new")
    other.write_bytes(text)
    other.replace(path)


def test_https_is_served_as_http_1_1(authority):
    async def story():
        async with (
            serving(new_tls_server(files_of(authority.issue("web")))) as server,
            speaking(server, client_context(authority)) as client,
        ):
            return (
                (await client.ask("GET", "/"))[0],
                client.writer.get_extra_info("ssl_object").selected_alpn_protocol(),
                server.url.partition(":")[0],
            )

    assert run(story()) == (200, "http/1.1", "https")


def test_tls_1_1_is_refused(authority):
    context = Certificates(files_of(authority.issue("web"))).context
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_a_client_without_certificate_is_turned_away_where_one_is_asked_for(authority):
    async def story():
        files = files_of(authority.issue("web"), authority.path)
        async with (
            serving(new_tls_server(files)) as server,
            speaking(server, client_context(authority)) as client,
        ):
            await client.send("GET", "/")
            with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
                await client.answer()

    run(story())


def test_a_client_with_certificate_is_known_by_its_common_name(authority):
    async def story():
        files = files_of(authority.issue("web"), authority.path)
        async with (
            serving(new_tls_server(files)) as server,
            speaking(server, client_context(authority, authority.issue("system:kube-scheduler"))) as client,
        ):
            return (await client.ask("GET", "/"))[2]

    assert run(story()) == "system:kube-scheduler"


@pytest.mark.parametrize("name", ["localhost", ""])
def test_new_connections_get_the_new_certificate_with_and_without_a_server_name(authority, name):
    async def story():
        files = files_of(authority.issue("old", files="web"))
        certificates = Certificates(files)
        context = client_context(authority)
        context.check_hostname = bool(name)
        listener = await asyncio.start_server(
            lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=certificates.context
        )
        address = listener.sockets[0].getsockname()
        names = []
        for change in ("old", "new"):
            authority.issue(change, files="web")
            certificates.reload_if_changed()
            _, writer = await asyncio.open_connection(*address, ssl=context, server_hostname=name)
            names.append(writer.get_extra_info("peercert")["subject"][0][0][1])
            writer.close()
        listener.close()
        return names

    assert run(story()) == ["old", "new"]


def test_a_call_of_many_records_arrives_whole_the_short_way(authority):
    body = bytes(range(256)) * 1000

    async def story():
        server = new_tls_server(files_of(authority.issue("web")))
        came = []
        handler = QuickHandler(
            lambda received: (200, b"text/plain", [came.append(bytes(received)) or b"ok"]), came.append
        )
        server.quick = {b"/": handler}
        async with serving(server), speaking(server, client_context(authority)) as client:
            headers = ("User-Agent: Go-http-client/1.1", "Content-Type: application/json", "Accept-Encoding: gzip")
            assert (await client.ask("POST", "/", body, length=len(body), headers=headers))[2] == "ok"
            assert (await client.ask("GET", "/"))[0] == 200  # the connection goes to aiohttp, and stays a TLS one
            assert (await client.ask("GET", "/"))[0] == 200
        return came

    assert run(story()) == [body]


def test_a_running_server_notices_new_files(authority, monkeypatch):
    async def story():
        server = new_tls_server(files_of(authority.issue("old", files="web")))
        monkeypatch.setattr(Certificates.watch, "__defaults__", (0.01,))
        async with (
            serving(server),
            speaking(server, client_context(authority)) as first,
        ):
            authority.issue("new", files="web")
            name = "old"
            while name == "old":
                async with speaking(server, client_context(authority)) as client:
                    name = served_name(client)
            return name, (await first.ask("GET", "/"))[0]

    assert run(story()) == ("new", 200)


def test_a_new_client_authority_replaces_the_old_one(tmp_path, authority):
    async def attempt(server, pair):
        async with speaking(server, client_context(authority, pair)) as client:
            try:
                return (await client.ask("GET", "/"))[2]
            except (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError):
                return "refused"

    async def story():
        ca, other = tmp_path / "ca.crt", Authority(tmp_path, "other")
        ca.write_bytes(authority.path.read_bytes())
        server = new_tls_server(files_of(authority.issue("web"), ca))
        pairs = [authority.issue("first"), other.issue("second")]
        async with serving(server):
            before = [await attempt(server, pair) for pair in pairs]
            touch(ca, other.path.read_bytes())
            server._certificates.reload_if_changed()
            return before, [await attempt(server, pair) for pair in pairs]

    assert run(story()) == (["first", "refused"], ["refused", "second"])


def test_half_written_files_leave_the_old_ones_in_force_and_are_logged_once(authority, caplog):
    certificate, key = authority.issue("web")
    certificates = Certificates(files_of((certificate, key)))
    old_certificate, old_key = certificate.read_bytes(), key.read_bytes()
    authority.issue("web")
    touch(key, old_key)
    assert not certificates.reload_if_changed()
    assert not certificates.reload_if_changed()
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{key}: the private key does not belong to the certificate in {certificate}; give a certificate and its key; "
        "the earlier certificates stay in use"
    )
    touch(certificate, old_certificate)
    assert certificates.reload_if_changed()


def test_a_file_that_vanishes_leaves_the_old_ones_in_force(authority, caplog):
    certificate, key = authority.issue("web")
    certificates = Certificates(files_of((certificate, key)))
    key.unlink()
    assert not certificates.reload_if_changed()
    assert f"{key}: cannot be read (No such file or directory)" in caplog.text


def test_a_missing_file_is_named(authority, tmp_path):
    certificate, _ = authority.issue("web")
    with pytest.raises(InputError, match=r"none.key: cannot be read \(No such file or directory\); give a PEM file"):
        Certificates(files_of((certificate, tmp_path / "none.key")))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "web.key: has no PRIVATE KEY block; give a private key in PEM"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----", "web.key: the private key is encrypted"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", r"web.crt, .*web.key: cannot be used \("),
    ],
)
def test_a_key_that_is_none_is_explained(authority, text, words):
    pair = authority.issue("web")
    pair[1].write_text(text)
    with pytest.raises(InputError, match=words):
        Certificates(files_of(pair))


def test_swapped_files_are_explained(authority):
    certificate, key = authority.issue("web")
    with pytest.raises(InputError, match=r"web\.key: has no CERTIFICATE block"):
        Certificates(files_of((key, certificate)))


def test_a_key_of_another_certificate_is_explained(authority):
    with pytest.raises(InputError, match=r"two\.key: the private key does not belong to the certificate in .*one.crt"):
        Certificates(files_of((authority.issue("one")[0], authority.issue("two")[1])))


def test_a_client_authority_that_is_none_is_explained(authority, tmp_path):
    broken = tmp_path / "ca.crt"
    broken.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(InputError, match=r"ca.crt: cannot be used \("):
        Certificates(files_of(authority.issue("web"), broken))


def ask_as(authority, *clients):
    """What a server that lets in `scheduler` alone answers to clients at / and at /healthz, which is open."""

    async def story():
        app = web.Application(middlewares=[allow_clients({"scheduler"}, open_paths={"/healthz"})])
        server = new_server(
            [("GET", "/", who), ("GET", "/healthz", who)], app=app, tls=files_of(authority.issue("web"), authority.path)
        )
        answers = []
        async with serving(server):
            for pair in clients:
                async with speaking(server, client_context(authority, pair)) as client:
                    answers.append([(await client.ask("GET", path))[0::2] for path in ("/", "/healthz")])
        return answers

    return run(story())


def test_only_named_clients_are_let_in_and_open_paths_take_all(authority, caplog):
    answers = ask_as(authority, authority.issue("scheduler"), authority.issue("eve"))
    refused = 'the client certificate\'s common name "eve" is not allowed here\n'
    assert answers == [[(200, "scheduler"), (200, "scheduler")], [(403, refused), (200, "eve")]]
    assert 'common name "eve" is not allowed here; expected one of scheduler' in caplog.text


@pytest.mark.parametrize(("first", "second"), [("scheduler", "eve"), ("eve", "scheduler"), ("scheduler", "scheduler")])
def test_a_certificate_with_two_common_names_is_refused(authority, caplog, first, second):
    """Go takes the last one; a name that depends on the reader vouches for nobody."""
    ((call, health),) = ask_as(authority, authority.issue(first, second_name=second))
    refused = f'the client certificate has 2 common names, "{first}" and "{second}"; expected exactly one'
    assert call == (403, f"{refused}\n")
    assert health == (200, f"{first},{second}")
    assert f"{refused}; expected one of scheduler" in caplog.text


def asked(authority, path="/", pair=None, version=None, **options):
    """The answer and the cipher for one client; None where the handshake fails."""
    server_pair = authority.issue("server")

    async def story():
        files = TlsFiles(certificate=server_pair.certificate, key=server_pair.key, **options)
        context = client_context(authority, pair)
        if version is not None:
            context.maximum_version = version
        async with serving(new_tls_server(files)) as server:
            try:
                async with speaking(server, context) as client:
                    answer = await client.ask("GET", path)
                    return answer[2], client.writer.get_extra_info("cipher")[0]
            except (ssl.SSLError, ConnectionError):
                return None

    return run(story())


def test_a_client_certificate_may_be_optional(authority):
    options = {"client_ca": authority.path, "requires_client": False}
    assert asked(authority, **options)[0] == ""
    assert asked(authority, pair=authority.issue("client"), **options)[0] == "client"


def test_cipher_suites_are_those_of_the_options(authority):
    suites = ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",)
    assert asked(authority, version=TLS_1_2, cipher_suites=suites)[1] == "ECDHE-ECDSA-CHACHA20-POLY1305"


def test_tls_1_3_can_be_required(authority):
    assert asked(authority, version=TLS_1_2)
    assert not asked(authority, version=TLS_1_2, min_version=ssl.TLSVersion.TLSv1_3)
    assert not asked(authority, version=TLS_1_2, cipher_suites=("TLS_AES_128_GCM_SHA256",))


def test_an_unknown_cipher_suite_is_an_error(authority):
    pair = authority.issue("server")
    files = TlsFiles(certificate=pair.certificate, key=pair.key, cipher_suites=("TLS_RSA_WITH_RC4_128_SHA",))
    with pytest.raises(InputError, match='no cipher suite named "TLS_RSA_WITH_RC4_128_SHA"; expected some of TLS_AES'):
        Certificates(files)
