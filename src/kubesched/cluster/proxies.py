"""Checks URLs of servers and proxies, and finds the proxy that the environment sets."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from kubesched.errors import ConfigError


def check_server(url: str, label: str) -> str:
    """The URL of an API server without a slash at the end.

    Raises:
        ConfigError: it is none; the message begins with the label.
    """
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or parts.query or parts.username:
        given = f"found {url!r}" if "@" not in url else "found a URL with a user"
        raise ConfigError(f"{label}: {given if url else 'missing'}; expected https://HOST[:PORT][/PATH], or http://")
    return url.rstrip("/")


def check_proxy(url: str, label: str) -> str:
    """The URL of a proxy, or nothing.

    Raises:
        ConfigError: it is none that we can use; the message does not show it, for there may be a password in it.
    """
    parts = _split(url)
    if url and (parts is None or parts.scheme not in ("http", "https")):
        raise ConfigError(f"{label}: expected http://[USER:PASSWORD@]HOST[:PORT], or https://; SOCKS is not supported")
    return url


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.hostname else None


def proxy_from_environment(server: str, environ: Mapping[str, str]) -> str:
    """The proxy for a server, empty for none.

    Rule: Go's net/http: HTTPS_PROXY or HTTP_PROXY, in capitals or not; never for loopback; NO_PROXY lists host names
    (with all below them), addresses, networks, each perhaps with a port, or `*`.
    """
    parts = urlsplit(server)
    host = parts.hostname or ""
    name = f"{parts.scheme}_proxy"
    proxy = environ.get(name.upper()) or environ.get(name) or ""
    if not proxy or host == "localhost" or _is_loopback(host):
        return ""
    excluded = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if any(_excludes(rule.strip().lower(), host, port) for rule in excluded.split(",")):
        return ""
    return check_proxy(proxy if "://" in proxy else f"http://{proxy}", name.upper())


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _excludes(rule: str, host: str, port: int) -> bool:
    if rule == "*":
        return True
    name, _, wanted = rule.rpartition(":") if rule.count(":") == 1 else (rule, "", "")
    if not name or (wanted and wanted != str(port)):
        return False
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(name, strict=False)
    except ValueError:
        suffix = name.removeprefix("*").removeprefix(".")
        return host.endswith(f".{suffix}") or (host == suffix and not name.startswith((".", "*")))
