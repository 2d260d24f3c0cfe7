"""An API server that has one Lease and any faults, and clients of it with clocks of their own."""

import asyncio
import json
from collections.abc import Callable
from random import Random
from typing import Any, cast

import msgspec

from kubesched.cluster import ApiClient, Timing
from kubesched.config import LeaderElectionConfiguration
from kubesched.errors import ClusterError, ConflictError, NotFoundError
from kubesched.live.leader import LeaderElector
from kubesched.live.lease import LeaseLock

PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kubesched"


class LeaseServer:
    """Attributes:
    lease: as it is stored; None if there is none.
    asked: method and path of each request that was carried out.
    events: bodies of events.
    """

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.asked: list[str] = []
        self.events: list[dict[str, Any]] = []
        self._version = 0

    def answer(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        """Carry a request out.

        Raises:
            ClusterError: as an API server refuses.
        """
        self.asked.append(method)
        if path.endswith("/events"):
            assert body is not None
            self.events.append(body)
            return body
        if method == "POST":
            if self.lease is not None:
                raise ConflictError("it exists", status=409)
        elif self.lease is None:
            raise NotFoundError("there is none", status=404)
        if body is None:
            assert self.lease is not None
            return self.lease
        if self.lease is not None and body["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            raise ConflictError("the object has been modified", status=409)
        return self.store(body)

    def store(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Change the Lease, as anybody with the right to do so."""
        self._version += 1
        metadata = {"uid": "uid-1", **lease["metadata"], "resourceVersion": str(self._version)}
        self.lease = {**lease, "metadata": metadata}
        return self.lease

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        spec: dict[str, Any] = self.lease["spec"]
        return spec

    def held_by(self, holder: str, **spec: Any) -> None:
        """Somebody else has it."""
        known = {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3, **spec}
        self.store({"metadata": (self.lease or {}).get("metadata", {}), "spec": known})


class Fault(msgspec.Struct, frozen=True):
    """What happens to one request.

    Attributes:
        before, after: seconds until it is carried out, and until the answer arrives after that.
        status: the server refuses with this code, and does not carry it out.
    """

    before: float = 0.01
    after: float = 0.01
    status: int = 0


NEVER = 1e6
NO_FAULT = Fault()
NO_ANSWER = Fault(before=NEVER)
LOST_ANSWER = Fault(after=NEVER)
REFUSED = Fault(status=500)


class LoopTiming(Timing):
    """The clock of the event loop, with a rate and a time of day of its own."""

    def __init__(self, *, rate: float = 1.0, wall: float = 1.7e9, seed: int = 0) -> None:
        self.rng = Random(seed)
        self._rate = rate
        self._wall = wall

    def jump(self, seconds: float) -> None:
        """Set the time of day, as an operator or a time server does."""
        self._wall += seconds

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() * self._rate

    def now(self) -> float:
        return self._wall + self.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._rate)


class FakeClient:
    """Attributes:
    fault: decides about each request, by its method.
    """

    def __init__(self, server: LeaseServer, timing: Timing, timeout: float = 5.0) -> None:
        self.server = server
        self.timing = timing
        self.fault: Callable[[str], Fault] = lambda method: NO_FAULT
        self._timeout = timeout
        self._under_way: set[asyncio.Task[Any]] = set()

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        type: type | None = None,
        retry: bool | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as the client has it
    ) -> Any:
        """A request that the server may carry out long after the client has given up."""
        task = asyncio.create_task(self._carry_out(self.fault(method), method, path, body))
        self._under_way.add(task)
        task.add_done_callback(lambda done: (self._under_way.discard(done), done.cancelled() or done.exception()))
        try:
            answer = await asyncio.wait_for(asyncio.shield(task), timeout or self._timeout)
        except TimeoutError:
            raise ClusterError(f"{method}: no answer") from None
        return msgspec.json.decode(json.dumps(answer), type=type) if type else answer

    async def _carry_out(self, fault: Fault, method: str, path: str, body: object) -> dict[str, Any]:
        sent = None if body is None else msgspec.json.decode(msgspec.json.encode(body))
        await asyncio.sleep(fault.before)
        if fault.status:
            raise ClusterError(f"{method}: refused", status=fault.status)
        answer = self.server.answer(method, path, sent)
        await asyncio.sleep(fault.after)
        return answer


class Candidate:
    """An elector with a client of its own."""

    def __init__(
        self,
        server: LeaseServer,
        identity: str = "a",
        election: LeaderElectionConfiguration | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.server = server
        self.client = FakeClient(server, timing or LoopTiming())
        names = {"identity": identity, "component": "default-scheduler"}
        self.lock = LeaseLock(cast(ApiClient, self.client), "kube-system", "kubesched", **names)
        self.left: list[float] = []
        self.elector = LeaderElector(
            self.lock, election or LeaderElectionConfiguration(), self.client.timing, self.left.append
        )
