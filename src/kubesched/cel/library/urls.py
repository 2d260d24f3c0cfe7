"""URLs.

Rule: Kubernetes v1.36 CEL library "urls", on Go 1.26 net/url: an absolute URI, or a path from the root.
"""

import re
from dataclasses import dataclass
from typing import Final

from kubesched.cel.cel_values import register_type
from kubesched.errors import CelRuntimeError

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_PORT: Final = re.compile(r"(?::[0-9]*)?", re.ASCII)
_USER: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_BAD_HOST: Final = re.compile(r"""[^A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>"%\x80-\U0010ffff]""")
_HOST_ESCAPE: Final = re.compile(r"%[0-7][0-9A-Fa-f]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_UNSAFE_IN_PATH: Final = re.compile(rb"[^A-Za-z0-9_.~/$&+,:;=@-]")
_ENCODED_PATH: Final = re.compile(r"[A-Za-z0-9\-_.~!$&'()*+,;=:@\[\]%/]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL.

    Attributes:
        host: with the port.
        path: escaped.
    """

    scheme: str
    host: str
    path: str
    query: str
    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        if self.host.startswith("["):
            return self.host[1 : self.host.rfind("]")]
        return self.host.partition(":")[0]

    @property
    def port(self) -> str:
        """The port, empty if there is none."""
        rest = self.host[self.host.rfind("]") + 1 :] if self.host.startswith("[") else self.host
        return rest.partition(":")[2]

    def values(self) -> dict[str, list[str]]:
        """The values of the query by key; what does not parse is left out."""
        result: dict[str, list[str]] = {}
        for pair in self.query.split("&"):
            key, _, value = pair.partition("=")
            if pair and ";" not in pair and not _BAD_ESCAPE.search(pair):
                result.setdefault(_unescaped(key), []).append(_unescaped(value))
        return result


register_type(Url, "kubernetes.URL")


def _unescaped(text: str) -> str:
    return _octets(text.replace("+", " ")).decode(errors="replace")


def _octets(text: str) -> bytes:
    """A text without escapes."""
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), text.encode())


def parse_url(text: str) -> Url:
    """Parse a URL.

    Raises:
        CelRuntimeError: with the text of Go.
    """
    problem = url_problem(text)
    if problem:
        raise CelRuntimeError(f"URL parse error during conversion from string: {problem}")
    scheme, rest = _without_scheme(text.partition("#")[0])
    path, _, query = rest.partition("?")
    host = ""
    if path.startswith("//") and (scheme or not path.startswith("///")):
        authority, slash, after = path[2:].partition("/")
        host, path = authority.rpartition("@")[2].replace("%25", "%"), slash + after
    return Url(scheme.lower(), host, _escaped(path) if path.startswith(("/", "*")) else "", query, text)


def _without_scheme(text: str) -> tuple[str, str]:
    match = _SCHEME.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def _escaped(path: str) -> str:
    """A path as `EscapedPath` has it."""
    if path == "*" or _ENCODED_PATH.fullmatch(path):
        return path
    return _UNSAFE_IN_PATH.sub(lambda match: b"%%%02X" % match[0][0], _octets(path)).decode()


def url_problem(text: str) -> str:
    """What is wrong with a URL in the words of Go, empty if nothing is."""
    reason = _reason(text)
    return f"parse {_go_quoted(text)}: {reason}" if reason else ""


def _go_quoted(text: str) -> str:
    names = {"\\": "\\\\", '"': '\\"', **{chr(7 + i): f"\\{letter}" for i, letter in enumerate("abtnvfr")}}
    return '"' + "".join(names.get(c) or (c if c >= " " and c != "\x7f" else f"\\x{ord(c):02x}") for c in text) + '"'


def _reason(text: str) -> str:
    if _CONTROL.search(text):
        return "net/url: invalid control character in URL"
    if not text or text == "*":
        return "" if text else "empty url"
    if text.startswith(":"):
        return "missing protocol scheme"
    scheme, rest = _without_scheme(text)
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return "" if scheme else "invalid URI for request"
    if scheme and rest.startswith("//"):
        authority, slash, after = rest[2:].partition("/")
        return _authority_reason(authority) or _escape_reason(slash + after)
    return _escape_reason(rest)


def _escape_reason(text: str) -> str:
    match = _BAD_ESCAPE.search(text)
    return f"invalid URL escape {_go_quoted(match[0])}" if match else ""


def _authority_reason(authority: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and not _USER.fullmatch(user):
        return "net/url: invalid userinfo"
    return _host_reason(host)


def _host_reason(host: str) -> str:
    port = host[host.rfind(":") :] if ":" in host else ""
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            return "missing ']' in host"
        port = host[end + 1 :]
        host = host[:end].replace("%25", "")
    if not _PORT.fullmatch(port):
        return f"invalid port {_go_quoted(port)} after host"
    return _host_character_reason(host)


def _host_character_reason(host: str) -> str:
    escape = _HOST_ESCAPE.search(host)
    if escape:
        return f"invalid URL escape {_go_quoted(escape[0])}"
    wrong = _BAD_HOST.search(host)
    if wrong:
        return f"invalid character {_go_quoted(wrong[0])} in host name"
    return _escape_reason(host)
