"""Stops the scheduler at each write for pods with resource claims, and looks at what really happened.

The process is killed before the API server gets the write, or after it has carried it out, or the answer alone is lost.
"""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from campaigns.faults.history import History, read
from campaigns.faults.replica import Replica
from campaigns.faults.run import RecordedPlane
from campaigns.live.claims import control, names_of
from campaigns.live.device_steps import GPUS, claim, device_class, exactly, gpus, node, pod, template, wants
from tests.integration.api_client import ApiClient, Document
from tests.integration.cleaning import clear
from tests.integration.processes import NotInTime, wait_until

WAYS: Final = ("killed before", "killed after", "answer lost after")
N_WRITES: Final = 24
"""More than the pods need: the last runs are without a stop."""

_SECONDS: Final = 40.0
_WRITES: Final = re.compile(r"/resourceclaims(/[^/]+(/status)?)?$|/pods/[^/]+/(status|binding)$")
_SETUP: Final = (
    device_class("gpu", extendedResourceName=GPUS),
    *(node("n1"), node("n2"), gpus("n1", 2), gpus("n2", 2)),
    *(template("one"), claim("shared"), claim("three", wants(exactly(3)))),
)
_PODS: Final = (
    pod("extended", extended={GPUS: "1"}),
    *(pod("first", "shared"), pod("second", "shared"), pod("own", of="one")),
    pod("waits", "three"),
)
_BOUND: Final = {"extended", "first", "second", "own"}
_PENDING: Final = "0/2 nodes are available: 2 cannot allocate all claims."


class ClaimStop:
    """One run with a stop.

    Args:
        number: at which write the scheduler is stopped; 1 is the first one.
        way: one of WAYS.
    Attributes:
        at: the write at which it was stopped; empty when there were fewer.
        harm: what must not happen.
    """

    def __init__(self, plane: RecordedPlane, folder: Path, number: int, way: str) -> None:
        clear(plane.client)
        folder.mkdir(parents=True)
        self.at = ""
        self.harm: list[str] = []
        self._plane, self._left, self._way = plane, number, way
        self._target = "", ""
        self._revision = plane.etcd.revision()
        for _, do in _SETUP:
            do(plane.client)
        self._replica = Replica(plane, folder / "replica", number, elects=False)
        try:
            self._play()
        finally:
            self._replica.stop()

    def _play(self) -> None:
        replica, client = self._replica, self._plane.client
        wait_until(replica.is_leading, "the scheduler", seconds=60)
        replica.proxy.on_request = self._strike
        for _, do in _PODS:
            do(client)

        def is_over() -> bool:
            control(client)
            time.sleep(0.2)
            return not unsettled(client)

        with suppress(NotInTime):
            wait_until(is_over, "all pods", seconds=_SECONDS)
        time.sleep(0.5)
        history = read(self._plane.etcd.changes(self._revision))
        self.harm += [*unsettled(client), *lost(history), *twice(history)]
        faults = [line for line in replica.lines() if " ERROR " in line or "Traceback" in line]
        self.harm += [f"log: {line}" for line in faults]

    def _strike(self, phase: str, method: str, path: str) -> None:
        """Count the writes, and stop the scheduler at the right one."""
        replica = self._replica
        if phase == "before":
            replica.proxy.is_deaf = False
        if method == "GET" or not _WRITES.search(path):
            return
        if phase == "before":
            self._left -= 1
            if self._left == 0:
                self._target = method, path
        if (method, path) == self._target and not self.at and phase == ("before" if self._is_before else "done"):
            self.at = f"{method} {path.partition('/namespaces/default/')[2]}"
            if self._way == WAYS[-1]:
                replica.proxy.is_deaf = True
            else:
                replica.kill()

    @property
    def _is_before(self) -> bool:
        return self._way == WAYS[0]


def stops(plane: RecordedPlane, folder: Path) -> Iterator[tuple[int, str, ClaimStop]]:
    """All runs."""
    for number in range(1, N_WRITES + 1):
        for way in WAYS:
            yield number, way, ClaimStop(plane, folder / f"stop-{number}-{way.replace(' ', '-')}", number, way)


def unsettled(client: ApiClient) -> list[str]:
    """What is not as it would be without a stop."""
    pods = {one["metadata"]["name"]: one for one in client.read_all("Pod", "default")}
    bound = {name for name, one in pods.items() if one["spec"].get("nodeName")}
    lines = [f"{name} is not bound" for name in sorted(_BOUND - bound)]
    conditions = pods["waits"]["status"].get("conditions", ())
    if not any(one.get("message", "").startswith(_PENDING) for one in conditions):
        lines.append(f"the pod that waits does not say why: {conditions}")
    return lines


def lost(history: History) -> Iterator[str]:
    """Pods without the devices that they are bound for, and devices that are held for nobody, at the end."""
    users: dict[str, set[str]] = {}
    for one in history.pods.values():
        for name in names_of(one) if one["spec"].get("nodeName") else ():
            users.setdefault(name, set()).add(one["metadata"]["uid"])
    for name in users.keys() - history.claims.keys():
        yield f"the claim {name} of a pod that is bound is gone"
    for name, document in history.claims.items():
        held = {one["uid"] for one in document["status"].get("reservedFor") or ()}
        if held != users.get(name, set()):
            yield f"{name} is held for {sorted(held)}, and used by {sorted(users.get(name, set()))}"
        if bool(history.devices_of(name)) != (name in users):
            yield f"{name} has the devices {history.devices_of(name)}, and {len(users.get(name, ()))} users"
    extended = [one for one in history.pods.values() if "extendedResourceClaimStatus" in one["status"]]
    special = [name for name, one in history.claims.items() if _is_special(one)]
    if len(special) != len(extended):
        yield f"{len(extended)} pods have claims for extended resources, and there are {special}"


def twice(history: History) -> Iterator[str]:
    """What was done more than once."""
    yield from (f"bound twice: {text}" for text in history.rebound)
    yield from (f"allocated twice: {text}" for text in history.doubled)


def _is_special(document: Document) -> bool:
    return "resource.kubernetes.io/extended-resource-claim" in document["metadata"].get("annotations", {})
