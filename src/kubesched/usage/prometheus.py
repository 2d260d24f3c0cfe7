"""Asks Prometheus for the usage of nodes, with one query."""

import asyncio
import os
import re
import ssl
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

import aiohttp
import msgspec

from kubesched.config import FieldError, child
from kubesched.documents import describe_fault, shorten
from kubesched.errors import InputError
from kubesched.usage.samples import MOST, Sample

DEFAULT_QUERY: Final = (
    'label_replace(sum by (node) (rate(container_cpu_usage_seconds_total{id="/"}[2m])), "resource", "cpu", "", "") '
    'or label_replace(sum by (node) (container_memory_working_set_bytes{id="/"}), "resource", "memory", "", "")'
)
"""Of the kubelets' cAdvisor metrics, as kube-prometheus scrapes them."""
_SECONDS: Final = 10.0
_SHOWN: Final = 300
_YEAR_10000: Final = 253_402_300_800  # in seconds since 1970; times are shown with four digits for the year
_USER: Final = re.compile(r"//.*@", re.DOTALL)
_NOT_IN_URL: Final = frozenset(" ?#")
_MAX_BYTES: Final = 16 * 2**20  # two values of a node have some 200 bytes, with many labels 2,000


class PrometheusSource(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Where to ask, and what.

    Attributes:
        url: of Prometheus, such as `http://prometheus.monitoring:9090`; the API is below it, at `/api/v1/query`.
        query: its result is a vector. Each value has the labels `node`, the name of the node, and `resource`: `cpu` in
            cores or `memory` in bytes.
        ca_file: authorities that the server's certificate may be from; those of the system by default.
        token_file: a bearer token, read for each query.
    """

    url: Annotated[str, msgspec.Meta(description="URL of Prometheus.")]
    query: str = DEFAULT_QUERY
    ca_file: str = ""
    token_file: str = ""

    @property
    def shown_url(self) -> str:
        """The URL for messages: without user and password."""
        return _USER.sub("//***@", self.url)

    def faults(self, path: str) -> list[FieldError]:
        """What is wrong with the fields."""
        found = []
        if wrong := _wrong_in(self.url):
            found.append(FieldError.invalid(child(path, "url"), self.shown_url, wrong))
        if not self.query:
            found.append(FieldError.required(child(path, "query"), "a PromQL query"))
        return found


def _wrong_in(url: str) -> str:
    """What is wrong with a URL; empty if nothing is."""
    if not url.startswith(("http://", "https://")):
        return "must begin with http:// or https://"
    if not url.isprintable() or not _NOT_IN_URL.isdisjoint(url):
        return "must have no blanks, no control characters, no ? and no #; the API is below it, at /api/v1/query"
    try:
        parts = urlsplit(url)
        return "" if parts.hostname and parts.port != 0 else "must have a host, and a port from 1 to 65535 if any"
    except ValueError:
        return "must be a URL such as http://prometheus.monitoring:9090, with a port from 1 to 65535 if any"


class _Value(msgspec.Struct):
    metric: dict[str, str]
    value: tuple[float, str]


class _Result(msgspec.Struct):
    resultType: str = ""  # noqa: N815 - Prometheus' name
    result: list[msgspec.Raw] = []


class _Answer(msgspec.Struct):
    status: str
    data: _Result = msgspec.field(default_factory=_Result)
    error: str = ""


async def query_usage(source: PrometheusSource) -> dict[str, Sample]:
    """Ask once, for ten seconds at most.

    Raises:
        InputError: there is no answer, or it is not a vector with the labels `node` and `resource`.
    """
    try:
        body = await _ask(source)
        return await asyncio.to_thread(read_answer, body)  # that of a large cluster takes a while
    except (aiohttp.ClientError, OSError, ValueError, RecursionError, InputError) as error:
        raise InputError(f"{source.shown_url}: {_in_short(_why(error))}") from None


def _why(error: Exception) -> str:
    """Why there are no figures, in words that are the same each time and that do not have the URL."""
    match error:
        case TimeoutError():
            return f"no answer within {_SECONDS:g} s"
        case aiohttp.ClientConnectorCertificateError():
            return f"the server's certificate is not valid: {error.certificate_error}"
        case aiohttp.ClientConnectorError():
            code = error.os_error.errno or 0
            return f"cannot connect: {os.strerror(code) if code > 0 else error.os_error.strerror}"
        case aiohttp.ClientResponseError():
            return f"the answer is not valid HTTP: {error.message}"
        case aiohttp.InvalidURL():
            return "the URL is not valid"
        case RecursionError() | UnicodeDecodeError():
            return str(describe_fault(error))
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError() | ConnectionError():
            return "the connection was closed before the answer was complete"
    return str(error) or type(error).__name__


def _in_short(text: str) -> str:
    """One line of at most 300 characters, for what a server wrote."""
    cut = text[:_SHOWN]
    line = "".join(letter if letter.isprintable() else " " for letter in cut)
    return line if len(cut) == len(text) else f"{line}..."


async def _ask(source: PrometheusSource) -> bytes:
    """The body of the answer."""
    headers = {"Authorization": f"Bearer {await _token(source)}"} if source.token_file else {}
    limits = aiohttp.ClientTimeout(total=_SECONDS)
    context = await asyncio.to_thread(ssl.create_default_context, cafile=source.ca_file or None)
    url = f"{source.url.rstrip('/')}/api/v1/query"
    async with (
        aiohttp.ClientSession(timeout=limits, cookie_jar=aiohttp.DummyCookieJar()) as session,
        session.post(url, data={"query": source.query}, headers=headers, ssl=context, allow_redirects=False) as answer,
    ):
        body = bytearray()
        async for part in answer.content.iter_any():
            body += part
            if len(body) > _MAX_BYTES:
                raise InputError(f"the answer has more than {_MAX_BYTES >> 20} MiB; narrow the query")
        if answer.status != 200 and not body.lstrip().startswith(b"{"):
            raise InputError(f"the answer has status {answer.status}; expected 200")
        return bytes(body)


async def _token(source: PrometheusSource) -> str:
    return (await asyncio.to_thread(Path(source.token_file).read_text, encoding="utf-8")).strip()


def read_answer(body: bytes) -> dict[str, Sample]:
    """The samples in an answer, by node.

    Raises:
        InputError: it is an error, or not a vector with the labels `node` and `resource`.
        ValueError: it is not JSON, or has other fields.
        RecursionError: it is nested too deeply.
    """
    answer = msgspec.json.decode(body, type=_Answer)
    if answer.status != "success":
        raise InputError(f"the query failed: {_in_short(answer.error)}")
    if answer.data.resultType != "vector":
        raise InputError(f"the query returns a {_in_short(answer.data.resultType)}; expected a vector")
    amounts: dict[str, dict[str, float]] = {}
    times: dict[str, float] = {}
    for raw in answer.data.result:
        one = msgspec.json.decode(raw, type=_Value)
        node, resource = one.metric.get("node"), one.metric.get("resource")
        if not node or resource not in ("cpu", "memory"):
            labels = shorten(one.metric)
            raise InputError(f"a value has the labels {labels}; expected node, and resource with cpu or memory")
        amounts.setdefault(node, {})[resource] = float(one.value[1])
        if not 0 <= one.value[0] < _YEAR_10000:
            raise InputError(
                f"a value of node {shorten(node)} has the time {one.value[0]:g}; expected seconds since 1970"
            )
        times[node] = min(times.get(node, one.value[0]), one.value[0])
    return {node: Sample(*_in_units(found), times[node]) for node, found in amounts.items()}


def _in_units(found: dict[str, float]) -> tuple[int, int]:
    """Milli-CPU and bytes, CPU rounded up; -1 for what was not measured or cannot be."""
    cpu, memory = found.get("cpu", -1.0) * 1000, found.get("memory", -1.0)
    return int(cpu + 0.999) if 0 <= cpu <= MOST else -1, int(memory) if 0 <= memory <= MOST else -1
