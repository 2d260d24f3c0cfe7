import base64
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.cluster import Access, Auth
from kubesched.cluster.exec_plugin import ExecCredentials
from kubesched.cluster.kubeconfig import load_kubeconfig
from kubesched.cluster.kubeconfig_access import access_of
from kubesched.errors import ConfigError
from tests.cluster.fake_timing import FakeTiming, run
from tests.cluster.kubeconfigs import kubeconfig, write

EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "get-token", "interactiveMode": "Never"}


def read(folder: Path, *args: Any, environ: dict[str, str] | None = None, **fields: Any) -> Access:
    file = write(folder / "config", kubeconfig(*args, **fields))
    return access_of(load_kubeconfig([file]), "", environ or {}, FakeTiming())


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_everything_that_a_cluster_says_arrives(tmp_path: Path) -> None:
    access = read(
        tmp_path,
        {
            "server": "https://rancher.example/k8s/clusters/c-1/",
            "tls-server-name": "api.internal",
            "certificate-authority-data": encoded("authority"),
            "proxy-url": "http://proxy.example:3128",
            "disable-compression": True,
        },
        context={"namespace": "shop"},
    )
    assert access.server == "https://rancher.example/k8s/clusters/c-1"
    assert (access.tls_server_name, access.proxy, access.namespace) == (
        "api.internal",
        "http://proxy.example:3128",
        "shop",
    )
    assert (access.compression, access.insecure) == (False, False)
    assert access.ca is not None
    assert access.ca.read() == b"authority"


def test_defaults_are_those_of_kubectl(tmp_path: Path) -> None:
    access = read(tmp_path)
    assert (access.ca, access.proxy, access.tls_server_name, access.insecure) == (None, "", "", False)
    assert (access.compression, access.namespace, access.headers) == (True, "default", ())
    assert run(access.credentials.current()) == Auth()


def test_relative_paths_start_at_the_file_that_they_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "configs"
    for name in ("ca.crt", "me.crt", "me.key", "token"):
        write(folder / "pki" / name, f"{name} content")
    monkeypatch.chdir(tmp_path)
    access = read(
        folder,
        {"certificate-authority": "pki/ca.crt"},
        {"client-certificate": "pki/me.crt", "client-key": "pki/me.key", "tokenFile": "pki/token"},
    )
    assert access.ca is not None
    assert access.ca.read() == b"ca.crt content"
    assert run(access.credentials.current()) == Auth("Bearer token content", b"me.crt content", b"me.key content")


def test_data_goes_before_files(tmp_path: Path) -> None:
    access = read(
        tmp_path,
        {"certificate-authority": "absent", "certificate-authority-data": encoded("authority")},
        {
            "client-certificate": "absent",
            "client-certificate-data": encoded("certificate"),
            "client-key": "absent",
            "client-key-data": encoded("key"),
        },
    )
    assert access.ca is not None
    assert access.ca.read() == b"authority"
    assert run(access.credentials.current()) == Auth("", b"certificate", b"key")


def test_a_token_file_goes_before_a_token(tmp_path: Path) -> None:
    write(tmp_path / "token", "from the file")
    access = read(tmp_path, None, {"token": "old", "tokenFile": "token"})
    assert run(access.credentials.current()) == Auth("Bearer from the file")


@pytest.mark.parametrize(
    ("user", "authorization"),
    [({"token": "abc"}, "Bearer abc"), ({"username": "ann", "password": "pw"}, "Basic YW5uOnB3")],
)
def test_tokens_and_passwords_become_headers(tmp_path: Path, user: dict[str, str], authorization: str) -> None:
    assert run(read(tmp_path, None, user).credentials.current()) == Auth(authorization)


def test_impersonation_becomes_headers(tmp_path: Path) -> None:
    user = {"as": "ann", "as-uid": "7", "as-groups": ["dev", "ops"], "as-user-extra": {"reason": ["test"]}}
    assert read(tmp_path, None, user).headers == (
        ("Impersonate-User", "ann"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-reason", "test"),
    )


def test_an_exec_plugin_is_told_of_the_cluster_if_it_asks(tmp_path: Path) -> None:
    cluster = {
        "server": "https://api.example",
        "certificate-authority-data": encoded("authority"),
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}],
    }
    access = read(tmp_path, cluster, {"exec": EXEC | {"provideClusterInfo": True}})
    assert isinstance(access.credentials, ExecCredentials)
    told = access.credentials._plugin.cluster
    assert msgspec.json.decode(msgspec.json.encode(told)) == {
        "server": "https://api.example",
        "certificate-authority-data": encoded("authority"),
        "config": {"audience": "x"},
    }


def test_an_exec_command_with_a_slash_is_relative_to_its_file(tmp_path: Path) -> None:
    access = read(tmp_path, None, {"exec": EXEC | {"command": "./bin/get-token"}})
    assert isinstance(access.credentials, ExecCredentials)
    assert access.credentials._plugin.command == str(tmp_path / "bin" / "get-token")


def test_the_environment_may_ask_for_a_proxy(tmp_path: Path) -> None:
    assert read(tmp_path, environ={"HTTPS_PROXY": "http://p:1"}).proxy == "http://p:1"
    assert read(tmp_path, {"proxy-url": "http://own:2"}, environ={"HTTPS_PROXY": "http://p:1"}).proxy == "http://own:2"


@pytest.mark.parametrize(
    ("cluster", "user", "fault"),
    [
        ({"server": ""}, {}, "clusters[0].cluster.server: missing; expected https://HOST[:PORT][/PATH], or http://"),
        ({"server": "api.example:6443"}, {}, "clusters[0].cluster.server: found 'api.example:6443'; expected"),
        ({"server": "https://ann:s3cret@h"}, {}, "clusters[0].cluster.server: found a URL with a user; expected"),
        ({"proxy-url": "socks5://ann:s3cret@h"}, {}, "clusters[0].cluster.proxy-url: expected http://"),
        (
            {"insecure-skip-tls-verify": True, "certificate-authority-data": "YQ=="},
            {},
            "clusters[0].cluster.insecure-skip-tls-verify: found true together with certificate-authority",
        ),
        (
            {"certificate-authority-data": "?s3cret"},
            {},
            "clusters[0].cluster.certificate-authority-data: not valid base64",
        ),
        ({"certificate-authority": "x.crt"}, {}, "clusters[0].cluster.certificate-authority: the file"),
        ({}, {"tokenFile": "absent"}, "users[0].user.tokenFile: the file"),
        ({}, {"token": "s3cret", "username": "u"}, "users[0].user: found token and username; give only one of them"),
        ({}, {"token": "s3cret", "exec": EXEC}, "users[0].user: found token and exec; give only one of them"),
        ({}, {"client-key-data": "YQ=="}, "users[0].user.client-certificate: missing"),
        ({}, {"client-certificate-data": "YQ=="}, "users[0].user.client-key: missing"),
        (
            {},
            {"exec": EXEC, "client-certificate-data": "YQ==", "client-key-data": "YQ=="},
            "users[0].user: found exec and client-certificate; give only one of them",
        ),
        ({}, {"auth-provider": {"name": "gcp"}}, "users[0].user.auth-provider: Kubernetes no longer supports this"),
        (
            {},
            {"exec": EXEC | {"apiVersion": "client.authentication.k8s.io/v1alpha1"}},
            "users[0].user.exec.apiVersion: found 'client.authentication.k8s.io/v1alpha1'; expected ",
        ),
        ({}, {"exec": EXEC | {"command": ""}}, "users[0].user.exec.command: missing"),
        ({}, {"exec": EXEC | {"interactiveMode": None}}, "users[0].user.exec.interactiveMode: missing; expected "),
        ({}, {"as-groups": ["ops"]}, "users[0].user.as: missing; as-uid, as-groups and as-user-extra need it"),
    ],
)
def test_a_fault_has_its_place_and_shows_no_secret(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any], fault: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"kubeconfig {tmp_path / 'config'}: {fault}")) as raised:
        read(tmp_path, cluster, user)
    assert "s3cret" not in str(raised.value)


def test_the_older_exec_version_needs_no_interactive_mode(tmp_path: Path) -> None:
    old = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "get-token"}
    access = read(tmp_path, None, {"exec": old})
    assert isinstance(access.credentials, ExecCredentials)
    assert access.credentials._plugin.interactive_mode == "IfAvailable"
