"""A live scheduler over an API server in memory with claims and pods: versions, conflicts, finalizers, a watch."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from random import Random
from typing import Any

import msgspec

from kubesched.api import EventType, KubeObject, WatchEvent, decode_object
from kubesched.errors import ClusterError, ConflictError, NotFoundError
from kubesched.framework import RecordEvent, Services
from kubesched.live import ApiWriter, LiveScheduler
from kubesched.metrics import SchedulerMetrics
from kubesched.setup import set_up
from kubesched.state import ClusterState
from tests.extender.virtual_time import LoopClock, now, settle
from tests.live.fake_api import FakeApi

Document = dict[str, Any]
KINDS = {"pods": "Pod", "resourceclaims": "ResourceClaim"}


def claim_rejected(verb: str, message: str, status: int = 403, reason: str = "Forbidden") -> ClusterError:
    return ClusterError(f"{verb}: {status} {reason}: {message}", status=status, reason=reason, message=message)


class ClaimServer:
    """The API server, and the scheduler that runs on it.

    Attributes:
        documents: of claims and pods, by resource and name.
        writes: what was carried out, such as `PUT resourceclaims/mine/status`.
        before: called with each write before it is looked at, such as another client that is quicker.
        ends_after: so many writes end the process, before it has the answer to the last one.
        lag: whether the watch is behind: changes are shown by `catch_up`.
        events: what was recorded.
    """

    def __init__(
        self, *objects: KubeObject | Document, config: bytes | None = None, clock: Callable[[], Any] = LoopClock
    ) -> None:
        self.documents: dict[str, dict[str, Document]] = {"pods": {}, "resourceclaims": {}}
        self.writes: list[str] = []
        self.before: Callable[[str], None] = lambda write: None
        self.ends_after = 1_000_000
        self.lag = False
        self.events: list[RecordEvent] = []
        self._config, self._clock = config, clock
        self._others: list[tuple[str, KubeObject]] = []
        self._late: list[WatchEvent] = []
        self._version = 100
        self._live: LiveScheduler | None = None
        for obj in objects:
            document = deepcopy(obj) if isinstance(obj, dict) else {"kind": type(obj).__name__, **obj.document}
            resource = next((name for name, kind in KINDS.items() if kind == document["kind"]), "")
            if resource:
                self.documents[resource][document["metadata"]["name"]] = self._renewed(document)
            else:
                self._others.append((document["kind"], decoded(document)))

    # --- the scheduler ---

    @asynccontextmanager
    async def scheduling(self) -> Any:
        """A scheduler that has listed everything; it ends as a process that is killed."""
        self.api = FakeApi(self._answer)
        self.api.request = self._request  # type: ignore[method-assign]
        self.metrics = SchedulerMetrics()
        self._live = live = LiveScheduler(
            set_up(self._config),
            self._writer,
            clock=self._clock(),
            rng=Random(0),
            observer=self.metrics,
            services=Services(metrics_of=self.metrics.plugins.of),
        )
        found = [(KINDS[resource], decoded(one)) for resource, kept in self.documents.items() for one in kept.values()]
        live.feed([WatchEvent(EventType.ADDED, kind, obj) for kind, obj in (*self._others, *found)])
        live.feed.hand_over()
        live.feed.release()
        running = asyncio.create_task(live.run())
        try:
            yield live
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            self._live = None

    def _writer(self, cluster_state: ClusterState) -> ApiWriter:
        return ApiWriter(self.api, cluster_state, self.events.append)  # type: ignore[arg-type]

    # --- other clients ---

    def add(self, obj: KubeObject | Document) -> None:
        document = obj if isinstance(obj, dict) else {"kind": type(obj).__name__, **obj.document}
        resource = next(name for name, kind in KINDS.items() if kind == document["kind"])
        self._put(resource, deepcopy(document), EventType.ADDED)

    def change(self, name: str, edit: Callable[[Document], object], resource: str = "resourceclaims") -> None:
        """Change a claim, as somebody else would."""
        document = deepcopy(self.documents[resource][name])
        edit(document)
        self._put(resource, document)

    def remove(self, name: str, resource: str = "resourceclaims") -> None:
        """Take away a claim with its finalizers."""
        gone = self._renewed(self.documents[resource].pop(name))
        self._show(EventType.DELETED, gone)

    def catch_up(self, n: int = 1_000_000) -> None:
        """Show what the watch has not shown yet."""
        for _ in range(min(n, len(self._late))):
            self._tell(self._late.pop(0))

    def claim(self, name: str) -> Document:
        return self.documents["resourceclaims"][name]

    def message(self, pod: str) -> str:
        """What PodScheduled says."""
        conditions = self.documents["pods"][pod].get("status", {}).get("conditions", [])
        return next((one["message"] for one in conditions if one["type"] == "PodScheduled"), "")

    def node_of(self, pod: str) -> str:
        return self.documents["pods"][pod]["spec"].get("nodeName", "")

    def devices(self) -> list[tuple[str, str]]:
        """The devices that are allocated, each as often as it is, with the node of their claim's pool."""
        claims = self.documents["resourceclaims"].values()
        allocations = [found for claim in claims if (found := claim.get("status", {}).get("allocation"))]
        return sorted((one["pool"], one["device"]) for found in allocations for one in found["devices"]["results"])

    # --- requests ---

    async def _request(self, method: str, path: str, *, body: Any = None, type: Any = None, **_: Any) -> Any:
        await self._while_it_lives()
        await asyncio.sleep(0)
        answer = self._answer(method, path, msgspec.json.decode(msgspec.json.encode(body)))
        await self._while_it_lives()
        return answer if type is None else msgspec.json.decode(answer, type=type)

    async def _while_it_lives(self) -> None:
        if len(self.writes) >= self.ends_after:
            await asyncio.Event().wait()

    def _answer(self, method: str, path: str, body: Any) -> bytes:
        _, found, rest = path.partition("/namespaces/default/")
        if not found:
            return b"{}"
        resource, name, part = (*rest.split("/"), "", "")[:3]
        write = "/".join(filter(None, (f"{method} {resource}", name, part)))
        if method != "GET" and resource in KINDS:
            self.before(write)
        answer = self._done(method, resource, name, part, body)
        if method != "GET" and resource in KINDS:
            self.writes.append(write)
        return json.dumps(answer).encode()

    def _done(self, method: str, resource: str, name: str, part: str, body: Any) -> Document:
        if resource not in KINDS:
            return {}
        if method == "POST" and not name:
            body["metadata"]["name"] = f"{body['metadata']['generateName']}{self._version}"
            body["metadata"]["uid"] = f"uid-{self._version}"
            return self._put(resource, body, EventType.ADDED)
        known = self.documents[resource].get(name)
        if known is None:
            text = f'{resource} "{name}" not found'
            raise NotFoundError(f"{method}: 404 NotFound: {text}", status=404, reason="NotFound", message=text)
        if method == "GET":
            return known
        if method == "DELETE":
            return self._delete(resource, known)
        self._check(method, known, body, part)
        document = deepcopy(known)
        if part == "binding":
            document["spec"]["nodeName"] = body["target"]["name"]
        elif method == "PATCH":
            _merge_status(document, body["status"])
        elif part == "status":
            document["status"] = status = body.get("status", {})
            if "allocation" not in status:  # what drivers report goes with the devices
                status.pop("devices", None)
        else:
            document["metadata"]["finalizers"] = body["metadata"].get("finalizers", [])
        if document["metadata"].get("deletionTimestamp") and not document["metadata"].get("finalizers"):
            self.remove(name, resource)
            return document
        return self._put(resource, document)

    def _check(self, method: str, known: Document, body: Document, part: str) -> None:
        """Refuse what was decided on another version, or on another object of that name."""
        about = body["metadata"]
        version, uid = about.get("resourceVersion"), about.get("uid")
        if (version and version != known["metadata"]["resourceVersion"]) or (uid and uid != known["metadata"]["uid"]):
            text = f'Operation cannot be fulfilled on "{known["metadata"]["name"]}": the object has been modified'
            raise ConflictError(f"{method}: 409 Conflict: {text}", status=409, reason="Conflict", message=text)
        before = known.get("status", {}).get("allocation")
        after = body.get("status", {}).get("allocation")
        if (method, part) == ("PUT", "status") and before and after and before != after:
            raise claim_rejected(method, "status.allocation: field is immutable", 422, "Invalid")

    def _delete(self, resource: str, known: Document) -> Document:
        if known["metadata"].get("finalizers"):
            known = deepcopy(known)
            known["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            return self._put(resource, known)
        self.remove(known["metadata"]["name"], resource)
        return known

    def _renewed(self, document: Document) -> Document:
        self._version += 1
        document["metadata"]["resourceVersion"] = str(self._version)
        document["metadata"].setdefault("uid", f"uid-{self._version}")
        document["metadata"].setdefault("namespace", "default")
        return document

    def _put(self, resource: str, document: Document, type_: EventType = EventType.MODIFIED) -> Document:
        document.setdefault("kind", KINDS[resource])
        self.documents[resource][document["metadata"]["name"]] = self._renewed(document)
        self._show(type_, document)
        return document

    def _show(self, type_: EventType, document: Document) -> None:
        event = WatchEvent(type_, document["kind"], decoded(document))
        self._late.append(event)
        if not self.lag:
            self.catch_up()

    def _tell(self, event: WatchEvent) -> None:
        if self._live is not None:
            self._live.feed([event])


def decoded(document: Mapping[str, Any]) -> KubeObject:
    return decode_object(document["kind"], json.dumps(document).encode())


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait on the clock of the loop, which passes at once."""
    end = now() + seconds
    while not condition():
        assert now() < end, "in vain"
        await settle()
        await asyncio.sleep(0.1)


def _merge_status(document: Document, changes: Document) -> None:
    status = document.setdefault("status", {})
    for name, value in changes.items():
        if name == "conditions":
            kept = [one for one in status.get(name, []) if one["type"] not in {new["type"] for new in value}]
            status[name] = [*kept, *value]
        elif isinstance(value, list) and value and "$patch" in value[0]:
            gone = {one["uid"] for one in value}
            status[name] = [one for one in status.get(name, []) if one["uid"] not in gone]
        elif value is None:
            status.pop(name, None)
        else:
            status[name] = value
