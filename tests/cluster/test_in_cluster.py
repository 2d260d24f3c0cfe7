from pathlib import Path

import pytest

from kubesched.cluster import Auth
from kubesched.cluster.find_access import in_cluster_access
from kubesched.errors import ConfigError
from tests.cluster.fake_timing import FakeTiming, run
from tests.cluster.kubeconfigs import write

ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def service_account(folder: Path) -> Path:
    for name, text in (("token", "first"), ("ca.crt", "authority"), ("namespace", "kube-system\n")):
        write(folder / name, text)
    return folder


def test_a_pod_finds_its_server_authority_and_namespace(tmp_path: Path) -> None:
    access = in_cluster_access(ENVIRON, FakeTiming(), service_account(tmp_path))
    assert (access.server, access.namespace) == ("https://10.96.0.1:443", "kube-system")
    assert access.ca is not None
    assert access.ca.read() == b"authority"
    assert run(access.credentials.current()) == Auth("Bearer first")


def test_an_ipv6_address_stands_in_brackets(tmp_path: Path) -> None:
    environ = ENVIRON | {"KUBERNETES_SERVICE_HOST": "fd00::1"}
    assert in_cluster_access(environ, FakeTiming(), service_account(tmp_path)).server == "https://[fd00::1]:443"


def test_a_token_that_kubelet_replaced_is_used_within_seconds(tmp_path: Path) -> None:
    timing = FakeTiming()
    access = in_cluster_access(ENVIRON, timing, service_account(tmp_path))
    write(tmp_path / "token", "second")
    timing.seconds += 10
    assert run(access.credentials.current()) == Auth("Bearer second")


def test_outside_a_pod_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only inside a pod"):
        in_cluster_access({}, FakeTiming(), service_account(tmp_path))


def test_a_pod_without_a_service_account_token_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^service account token: the file .*/token cannot be read"):
        in_cluster_access(ENVIRON, FakeTiming(), tmp_path)
