"""Plays a script with resource claims to the scheduler that runs, and keeps what became of pods, claims and writes."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from campaigns.live.claims import are_missing, are_reported, control, facts, names_of, plain
from campaigns.live.intrusion import Intrusion
from campaigns.live.outcome import GONE, QUIET_SECONDS, SCHEDULERS, Facts, Outcome, is_decided, look, wait_until_quiet
from campaigns.live.volumes import Step
from tests.integration.api_client import ApiClient, Document
from tests.integration.control_plane import ControlPlane

RETRY_SECONDS: Final = 1.6
"""More than the time after which a pod whose attempt ended with an error is tried again."""

LOOK_SECONDS: Final = 5.5
"""kube-scheduler looks every five seconds whether the devices of a pod are attached, also when the pod is gone."""

_ANY_ERROR: Final = re.compile(r"(running .* filter plugin: ).*")

BACKOFF: Final = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}


class Script(Protocol):
    """What is played.

    Attributes:
        name: for people.
        pods: the names of all pods that it makes.
        timeout: DynamicResourcesArgs.bindingTimeout in seconds; 0 for the default.
        differs: why kubesched does something else, on purpose; empty where it does not.
        is_exact: whether no two nodes have different errors, of which either may be in a message.
        intrusions: what comes between the scheduler and its writes.
    """

    name: str
    pods: list[str]
    timeout: int
    differs: str
    is_exact: bool
    intrusions: tuple[Intrusion, ...]

    def setup(self, plane: ControlPlane) -> Iterable[Step]:
        """The steps before the first pod."""

    def steps(self, plane: ControlPlane) -> Iterable[Step]:
        """The steps after these, which come one after another."""


@dataclass
class DeviceOutcome(Outcome):
    """What became of a script.

    Attributes:
        claims: of each claim, whoever made it, what it says.
        order: of each pod, the writes to it and to its claims, one after another; without events.
    """

    claims: Facts = field(default_factory=dict)
    order: Facts = field(default_factory=dict)


def config_of(script: Script) -> dict[str, Any]:
    """Fields of the KubeSchedulerConfiguration for a script."""
    config: dict[str, Any] = {"parallelism": 1, "percentageOfNodesToScore": 100, **BACKOFF}
    if script.timeout:
        args = {"name": "DynamicResources", "args": {"bindingTimeout": f"{script.timeout}s"}}
        config["profiles"] = [{"schedulerName": "default-scheduler", "pluginConfig": [args]}]
    return config


def play(plane: ControlPlane, script: Script) -> DeviceOutcome:
    """Play a script to the scheduler that runs, and the controller of claims after each step."""
    assert plane.audit_log, "the control plane has to be audited"
    start = plane.audit_log.end()
    users: dict[str, set[str]] = {}
    for _, do in script.setup(plane):
        do(plane.client)
    while control(plane.client):
        pass
    time.sleep(QUIET_SECONDS)
    for _, do in script.steps(plane):
        attached = _that_wait_for_devices(plane.client)
        do(plane.client)
        _settle(plane.client, script)
        if attached - _names(plane.client):
            time.sleep(LOOK_SECONDS)
            _settle(plane.client, script)
        _note_users(plane.client, users)
        while control(plane.client):
            _settle(plane.client, script)
            _note_users(plane.client, users)
    outcome = DeviceOutcome(**vars(look(plane.client, script, plane.audit_log, start)))
    claims = {one["metadata"]["name"]: one for one in plane.client.read_all("ResourceClaim", "default")}
    outcome.claims = facts(claims, plane.client.read_all("Pod", "default"))
    outcome.order = written(plane.audit_log.entries(start, SCHEDULERS), users)
    outcome.writes = _plain_writes(outcome)
    outcome.conditions = {
        name: Counter([(*one[:3], _said(one[3] or "", script), *one[4:]) for one in conditions.elements()])
        for name, conditions in outcome.conditions.items()
    }
    outcome.events = {
        name: _plain_events(events, script, is_gone=outcome.nodes.get(name) == GONE)
        for name, events in outcome.events.items()
    }
    return outcome


def _settle(client: ApiClient, script: Script) -> None:
    claims: dict[str, Document] = {}

    def activity() -> list[tuple[str, str]]:
        claims.clear()
        claims.update((one["metadata"]["name"], one) for one in client.read_all("ResourceClaim", "default"))
        return sorted((name, one["metadata"]["resourceVersion"]) for name, one in claims.items())

    def is_settled(pod: Document) -> bool:
        is_over = are_reported(pod, claims) or (script.timeout and _waits_for_devices(pod, claims))
        return are_missing(pod, claims) or (not is_over and is_decided(pod, errors_pass=False))

    seconds = RETRY_SECONDS if any(map(_has_failed, client.read_all("Pod", "default"))) else QUIET_SECONDS
    wait_until_quiet(client, seconds, is_settled, activity)
    if seconds == QUIET_SECONDS and any(map(_has_failed, client.read_all("Pod", "default"))):
        wait_until_quiet(client, RETRY_SECONDS, is_settled, activity)


def _that_wait_for_devices(client: ApiClient) -> set[str]:
    claims = {one["metadata"]["name"]: one for one in client.read_all("ResourceClaim", "default")}
    pods = client.read_all("Pod", "default")
    return {pod["metadata"]["name"] for pod in pods if _waits_for_devices(pod, claims)}


def _names(client: ApiClient) -> set[str]:
    return {pod["metadata"]["name"] for pod in client.read_all("Pod", "default")}


def _waits_for_devices(pod: Document, claims: dict[str, Document]) -> bool:
    if pod["spec"].get("nodeName") or not pod["status"].get("nominatedNodeName"):
        return False
    allocations = (claims.get(name, {}).get("status", {}).get("allocation") or {} for name in names_of(pod))
    results = (result for one in allocations for result in one.get("devices", {}).get("results", ()))
    return any("bindingConditions" in result for result in results)


def _has_failed(pod: Document) -> bool:
    """Whether the last attempt of a pod ended with an error, so that the clock alone brings the next one."""
    if pod["spec"].get("nodeName"):
        return False
    return any(one.get("reason") == "SchedulerError" for one in pod["status"].get("conditions", ()))


def _note_users(client: ApiClient, users: dict[str, set[str]]) -> None:
    for pod in client.read_all("Pod", "default"):
        for name in names_of(pod):
            users.setdefault(plain(name), set()).add(pod["metadata"]["name"])


def _plain_writes(outcome: Outcome) -> Facts:
    """Writes without random names, and without those of events of attempts that the clock repeats."""
    made: Facts = {}
    for name, writes in outcome.writes.items():
        is_repeated = any(_is_repeated(event) for event in outcome.events.get(name, ()))
        kept = {write: n for write, n in writes.items() if not (is_repeated and write[1] == "events")}
        made.setdefault(plain(name), Counter()).update(kept)
    return made


def _is_repeated(event: Any) -> bool:
    """Whether an event is of an attempt that ended with an error."""
    reason, _, _, note, *_ = event
    return bool(reason == "FailedScheduling" and note.startswith("running "))


def _plain_events(events: Counter[Any], script: Script, *, is_gone: bool) -> Counter[Any]:
    """Events without random names, and without how often an attempt failed that the clock repeats.

    How an attempt ended for a pod that is gone depends on when its scheduler looked, in random scripts.
    """
    made: Counter[Any] = Counter()
    for (reason, type_, action, note, controller, related, count), n in events.items():
        is_repeated = _is_repeated((reason, type_, action, note))
        # kube-scheduler writes other events, which have no action, to an API server behind a proxy
        action = "" if script.intrusions else action
        note = "running" if is_repeated and is_gone and not script.is_exact else _said(note, script)
        fact = (reason, type_, action, note, controller, related, 0 if is_repeated else count)
        made[fact] = 1 if is_repeated else n
    return made


def _said(text: str, script: Script) -> str:
    """A message without random names, and without the error of one of several nodes where any may be named."""
    text = plain(text)
    return text if script.is_exact else _ANY_ERROR.sub(r"\1", text)


# --- the order of writes ---


def written(entries: Iterable[Document], users: Mapping[str, Set[str]]) -> Facts:
    """The writes of a scheduler to each pod and its claims, as lines in their order; without events.

    Args:
        entries: of the audit log.
        users: the pods of each claim.
    """
    lines: dict[str, list[str]] = {}
    for entry in entries:
        for pod, line in _lines(entry, users):
            if lines.setdefault(pod, [])[-1:] != [line]:
                lines[pod].append(line)
    return {pod: Counter(["; ".join(made)]) for pod, made in lines.items()}


def _lines(entry: Document, users: Mapping[str, Set[str]]) -> Iterator[tuple[str, str]]:
    target, body = entry["objectRef"], entry.get("requestObject") or {}
    if target["resource"] == "events":
        return
    name = plain(target.get("name", "")) or body.get("metadata", {}).get("generateName", "").rstrip("-")
    part, code = target.get("subresource", ""), entry.get("responseStatus", {}).get("code", 0)
    line = f"{entry['verb']} {target['resource']}/{part} {name} {_content(entry['verb'], part, body)}"
    line = f"{line} -> {code}" if code >= 400 else line
    for pod in users.get(name, (name,)) if target["resource"] == "resourceclaims" else (name,):
        yield pod, line


def _content(verb: str, part: str, body: Document) -> str:
    """What a write says, as far as it shows what the write is for."""
    status = body.get("status", {})
    if part == "binding":
        return str(body.get("target", {}).get("name", ""))
    if verb == "patch":
        return ",".join(sorted(key for key in status if not key.startswith("$")))
    if part == "status":
        users = [one["name"] for one in status.get("reservedFor") or ()]
        return json.dumps([bool(status.get("allocation")), *users])
    return json.dumps(body.get("metadata", {}).get("finalizers", []))
