import pytest

from kubesched.cluster.proxies import check_server, proxy_from_environment
from kubesched.errors import ConfigError

PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


@pytest.mark.parametrize("url", ["https://h:port", "https://h:99999", "https://[::1", "ftp://h", "https://", "h:1", ""])
def test_what_is_no_url_of_a_server_is_refused_with_its_place(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^clusters\[0\].cluster.server: .*expected https://HOST"):
        check_server(url, "clusters[0].cluster.server")


def test_a_server_may_have_a_path_and_loses_its_last_slash() -> None:
    assert check_server("https://rancher/k8s/c-1/", "x") == "https://rancher/k8s/c-1"


def test_the_scheme_of_the_server_chooses_the_variable() -> None:
    environ = {"HTTPS_PROXY": "http://a:1", "http_proxy": "http://b:2"}
    assert proxy_from_environment("https://api.example", environ) == "http://a:1"
    assert proxy_from_environment("http://api.example", environ) == "http://b:2"
    assert proxy_from_environment("https://api.example", {}) == ""


def test_a_proxy_without_a_scheme_is_an_http_proxy() -> None:
    assert proxy_from_environment("https://api.example", {"https_proxy": "proxy:3128"}) == "http://proxy:3128"


def test_a_proxy_that_we_cannot_use_is_an_error_without_its_password() -> None:
    with pytest.raises(ConfigError, match=r"^HTTPS_PROXY: expected http://") as raised:
        proxy_from_environment("https://api.example", {"HTTPS_PROXY": "socks5://u:s3cret@h:1"})
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("server", ["https://localhost:6443", "https://127.0.0.1:6443", "https://[::1]:6443"])
def test_loopback_needs_no_proxy(server: str) -> None:
    assert proxy_from_environment(server, PROXY) == ""


@pytest.mark.parametrize(
    ("server", "no_proxy", "is_direct"),
    [
        ("https://10.96.0.1:443", "10.0.0.0/8", True),
        ("https://11.0.0.1", "10.0.0.0/8", False),
        ("https://10.96.0.1", "10.96.0.1", True),
        ("https://[fd00::1]:6443", "fd00::/8", True),
        ("https://api.corp.example", "corp.example", True),
        ("https://corp.example", "corp.example", True),
        ("https://corp.example", ".corp.example", False),
        ("https://notcorp.example", "corp.example", False),
        ("https://api.example:6443", "api.example:6443", True),
        ("https://api.example:6443", "api.example:443", False),
        ("https://api.example", "api.example:443", True),
        ("https://api.example", "a.b, *", True),
        ("https://api.example", ", ,", False),
    ],
)
def test_no_proxy_is_read_as_go_does(server: str, no_proxy: str, is_direct: bool) -> None:
    assert (proxy_from_environment(server, PROXY | {"NO_PROXY": no_proxy}) == "") is is_direct
