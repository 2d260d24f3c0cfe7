"""A synchronous client of the API server for tests: objects made in bulk, read, watched and deleted."""

import asyncio
import json
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from kubesched.api import KINDS, KubeObject

T = TypeVar("T")
Document = dict[str, Any]

# Kinds that tests read or clean up and a scheduler has no struct for: API prefix, plural, whether namespaced.
OTHER_KINDS = {
    "Binding": ("/api/v1", "bindings", True),
    "CronJob": ("/apis/batch/v1", "cronjobs", True),
    "DaemonSet": ("/apis/apps/v1", "daemonsets", True),
    "Event": ("/apis/events.k8s.io/v1", "events", True),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases", True),
}
MADE_BY_SERVER = ("uid", "resourceVersion", "creationTimestamp")
LONGEST_LINE = 1 << 24
APPLY = "application/apply-patch+yaml"


class ApiError(Exception):
    """The API server says no.

    Attributes:
        status: the HTTP status, such as 410.
        reason: the word for it, such as "Expired".
    """

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason


class ApiClient:
    """Asks one server; to be closed after use.

    Connections live in a thread of their own, so they notice when a server goes away between two calls.
    """

    def __init__(self, url: str, *, token: str = "", ca_file: Path | None = None, connections: int = 64) -> None:
        self.url = url
        self._connections = connections
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"client of {url}", daemon=True)
        self._thread.start()
        self._http = self._run(self._open(token, ca_file))

    def close(self) -> None:
        self._run(self._http.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, method: str, path: str, body: object = None, **params: str) -> Document:
        """One request with JSON in and out.

        Raises:
            ApiError: the answer is no success.
            aiohttp.ClientError: there is no answer.
        """
        answer: Document = json.loads(self._run(self._call(method, path, body, params)))
        return answer

    def text(self, path: str) -> str:
        """What a page like /metrics says."""
        return self._run(self._call("GET", path, None, {}))

    def is_up(self, path: str) -> bool:
        """Whether a page like /readyz can be read."""
        try:
            self.text(path)
        except (ApiError, aiohttp.ClientError, OSError):
            return False
        return True

    def create(self, thing: KubeObject | Document) -> Document:
        """Make one object, from a builder of kubesched.testing or as the wire has it; gives it as it is stored."""
        return self.create_all([thing])[0]

    def create_all(self, things: Iterable[KubeObject | Document]) -> list[Document]:
        """Make many objects at once, over all connections; gives them as they are stored, in the same order."""
        return self._run(self._create_all([document_of(thing) for thing in things]), seconds=300)

    def apply(self, document: Document, **params: str) -> Document:
        """Server-side apply of an object of any kind with a regular plural; unknown fields are errors."""
        body = json.dumps(document)  # which is YAML, too
        strict = {"fieldManager": "test", "force": "true", "fieldValidation": "Strict"}
        params = {**strict, **params}
        return json.loads(self._run(self._call("PATCH", applied_path(document), body, params, APPLY)))

    def get(self, kind: str, name: str, namespace: str = "default") -> Document:
        return self.call("GET", f"{path_of(kind, namespace)}/{name}")

    def read_all(self, kind: str, namespace: str = "", **params: str) -> list[Document]:
        """All objects of a kind, of one namespace or of all."""
        found: list[Document] = self.read_list(kind, namespace, **params)["items"]
        return found

    def read_list(self, kind: str, namespace: str = "", **params: str) -> Document:
        """The same with the list's own metadata: `resourceVersion`, `continue`."""
        return self.call("GET", path_of(kind, namespace), **params)

    def patch(self, kind: str, name: str, changes: Document, namespace: str = "default", part: str = "") -> Document:
        """Merge `changes` into an object, or into a part of it such as "status"."""
        path = f"{path_of(kind, namespace)}/{name}" + (f"/{part}" if part else "")
        return self.call("PATCH", path, changes)

    def bind(self, name: str, node: str, namespace: str = "default") -> None:
        """Put a pod on a node, as a scheduler does."""
        body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        self.call("POST", f"{path_of('Pod', namespace)}/{name}/binding", body)

    def delete(self, kind: str, name: str, namespace: str = "default") -> None:
        """Delete one object, without the grace that a kubelet would use."""
        self.call("DELETE", f"{path_of(kind, namespace)}/{name}", {"gracePeriodSeconds": 0})

    def delete_all(self, kind: str, namespace: str = "", **params: str) -> None:
        """Delete all objects of a kind; of namespaced ones those of one namespace."""
        self.call("DELETE", path_of(kind, namespace), {"gracePeriodSeconds": 0}, **params)

    def watch(
        self,
        kind: str,
        resource_version: str,
        until: Callable[[Document], bool],
        *,
        namespace: str = "",
        seconds: float = 15,
    ) -> list[Document]:
        """The events after a version, the last one being the first of which `until` is true.

        Raises:
            ApiError: the server answers with an error, at once or as an event; 410 if the version is too old.
            TimeoutError: no such event came in time.
        """
        return self._run(self._watch(path_of(kind, namespace), resource_version, until), seconds=seconds)

    def _run(self, work: Coroutine[Any, Any, T], seconds: float = 60) -> T:
        async def within() -> T:
            async with asyncio.timeout(seconds):
                return await work

        bounded = within()
        try:
            running = asyncio.run_coroutine_threadsafe(bounded, self._loop)
        except RuntimeError:  # the loop is closed: a coroutine that nothing awaits warns in some later test
            bounded.close()
            work.close()
            raise
        return running.result()

    async def _open(self, token: str, ca_file: Path | None) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            self.url,
            connector=aiohttp.TCPConnector(ssl=trusting(ca_file), limit=self._connections),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            read_bufsize=LONGEST_LINE,
        )

    async def _call(
        self, method: str, path: str, body: object, params: Mapping[str, str], content_type: str = ""
    ) -> str:
        usual = "application/merge-patch+json" if method == "PATCH" else "application/json"
        data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": content_type or usual}
        async with self._http.request(method, path, data=data, params=params, headers=headers) as answer:
            return await _read(answer)

    async def _create_all(self, documents: list[Document]) -> list[Document]:
        made: list[Document] = [{}] * len(documents)
        waiting = iter(enumerate(documents))

        async def worker() -> None:
            for row, document in waiting:
                path = path_of(document["kind"], document["metadata"].get("namespace", "default"))
                made[row] = json.loads(await self._call("POST", path, document, {}))

        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(self._connections, len(documents))):
                    workers.create_task(worker())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return made

    async def _watch(self, path: str, version: str, until: Callable[[Document], bool]) -> list[Document]:
        seen: list[Document] = []
        params = {"watch": "1", "resourceVersion": version}
        async with self._http.get(path, params=params, timeout=aiohttp.ClientTimeout(total=None)) as answer:
            if answer.status != 200:
                await _read(answer)
            async for line in answer.content:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise _error(event["object"])
                seen.append(event)
                if until(event):
                    return seen
        raise TimeoutError(f"the server ended the watch of {path} after {len(seen)} events")


def trusting(ca_file: Path | None) -> ssl.SSLContext:
    """Trust one certificate; for None, those of the system."""
    trusted = ssl.create_default_context(cafile=ca_file)
    # Certificates that Go's servers make for themselves lack an extension which Python 3.13 asks for.
    trusted.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return trusted


def path_of(kind: str, namespace: str = "default") -> str:
    """Where the objects of a kind are; an empty namespace stands for all."""
    if kind in KINDS:
        known = KINDS[kind]
        prefix = f"/apis/{known.api_version}" if known.group else "/api/v1"
        plural, namespaced = known.plural, known.namespaced
    else:
        prefix, plural, namespaced = OTHER_KINDS[kind]
    return f"{prefix}/namespaces/{namespace}/{plural}" if namespaced and namespace else f"{prefix}/{plural}"


def applied_path(document: Document) -> str:
    """The path of one object whose kind has a regular plural, such as a Deployment."""
    version, metadata = document["apiVersion"], document["metadata"]
    prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
    place = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{prefix}{place}/{document['kind'].lower()}s/{metadata['name']}"


def document_of(thing: KubeObject | Document) -> Document:
    """An object as it is sent to be created, without what the server makes up."""
    if isinstance(thing, dict):
        return thing
    document: Document = json.loads(thing.raw)
    for name in MADE_BY_SERVER:
        document["metadata"].pop(name, None)
    return document


async def _read(answer: aiohttp.ClientResponse) -> str:
    said = await answer.text()
    if answer.ok:
        return said
    try:
        status = json.loads(said)
    except ValueError:
        status = {}
    raise _error({"code": answer.status, "reason": answer.reason, "message": said} | status)


def _error(status: Document) -> ApiError:
    return ApiError(status["code"], status.get("reason", ""), status.get("message", ""))
