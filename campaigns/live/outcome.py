"""Plays a script of cluster events to the scheduler that runs, and compares what became of every pod.

After each step it waits until the scheduler has nothing to do, so that the outcome depends on the script alone.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from campaigns.live.scenarios import PATIENCE_SECONDS, Script
from tests.integration.api_client import ApiClient, Document
from tests.integration.audit_log import AuditLog
from tests.integration.control_plane import ControlPlane

QUIET_SECONDS = 0.3
POLL_SECONDS = 1.3  # kube-scheduler looks every second whether the claims of a pod are bound
SCHEDULERS = ("kube-scheduler", "kubesched")  # as their User-Agents begin
CONDITION = ("type", "status", "reason", "message", "observedGeneration")

Facts = dict[str, Counter[Hashable]]
"""By name of an object, what is true of it, and how often."""


GONE: Counter[Hashable] = Counter(["(gone)"])


@dataclass
class Outcome:
    """What became of the objects of a script, by name.

    Attributes:
        nodes: where each pod is; "" for none, "(gone)" for one that is not there.
        nominated: status.nominatedNodeName.
        conditions: type, status, reason, message and observed generation of each.
        events: reason, type, action, note, controller, related object and count of each.
        volumes: node and annotations of each claim, and the claim of each volume.
        writes: verb and resource of each write of the scheduler.
    """

    nodes: Facts = field(default_factory=dict)
    nominated: Facts = field(default_factory=dict)
    conditions: Facts = field(default_factory=dict)
    events: Facts = field(default_factory=dict)
    volumes: Facts = field(default_factory=dict)
    writes: Facts = field(default_factory=dict)


def play(plane: ControlPlane, script: Script) -> Outcome:
    """Play a script to the scheduler that runs, and look at what became of its objects."""
    assert plane.audit_log, "the control plane has to be audited"
    start = plane.audit_log.end()
    for _, do in script.setup():
        do(plane.client)
    time.sleep(QUIET_SECONDS)
    for _, do in script.steps():
        pods = plane.client.read_all("Pod", "default")
        seconds = POLL_SECONDS if any(map(_is_binding, pods)) else QUIET_SECONDS
        do(plane.client)
        wait_until_quiet(plane.client, seconds)
    return look(plane.client, script, plane.audit_log, start)


def look(client: ApiClient, script: Script, audit_log: AuditLog, start: int) -> Outcome:
    """What became of the objects of a script that began when the audit log ended at `start`."""
    outcome = Outcome()
    there = {pod["metadata"]["name"]: pod for pod in client.read_all("Pod", "default")}
    for name in script.pods:
        if pod := there.get(name):
            status = pod["status"]
            outcome.nodes[name] = Counter([pod["spec"].get("nodeName", "")])
            outcome.nominated[name] = Counter([status.get("nominatedNodeName", "")])
            conditions = status.get("conditions", [])
            outcome.conditions[name] = Counter(tuple(entry.get(key) for key in CONDITION) for entry in conditions)
        else:
            outcome.nodes[name] = GONE
    outcome.events = _events(client)
    outcome.volumes = _volumes(client)
    for verb, resource, name in audit_log.writes(start, SCHEDULERS):
        outcome.writes.setdefault(name, Counter())[verb, resource] += 1
    return outcome


def _events(client: ApiClient) -> Facts:
    events = client.call("GET", "/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    events = [event for event in events if event["regarding"].get("kind") == "Pod"]
    names = {event["regarding"]["uid"]: event["regarding"]["name"] for event in events}
    facts: Facts = {}
    for event in events:
        note = event["note"]
        for uid, name in names.items():
            note = note.replace(uid, name)
        related = event.get("related", {}).get("name", "")
        count = event.get("series", {}).get("count", 1)
        fact = (
            event["reason"],
            event["type"],
            event.get("action", ""),
            note,
            event["reportingController"],
            related,
            count,
        )
        facts.setdefault(event["regarding"]["name"], Counter())[fact] += 1
    return facts


def _volumes(client: ApiClient) -> Facts:
    facts: Facts = {}
    for claim in client.read_all("PersistentVolumeClaim", "default"):
        about = claim["metadata"]
        annotations = sorted(about.get("annotations", {}).items())
        facts[about["name"]] = Counter([(claim["spec"].get("volumeName", ""), *annotations)])
    for volume in client.read_all("PersistentVolume"):
        about, ref = volume["metadata"], volume["spec"].get("claimRef", {})
        shape = (ref.get("name", ""), *sorted(ref))
        facts[about["name"]] = Counter([(*shape, *sorted(about.get("annotations", {}).items()))])
    return facts


def differences(ours: Outcome, theirs: Outcome) -> list[str]:
    """What is not the same, one line each."""
    lines = []
    for what in vars(ours):
        mine, others = getattr(ours, what), getattr(theirs, what)
        for name in sorted(mine.keys() | others.keys()):
            left, right = mine.get(name, Counter()), others.get(name, Counter())
            if left != right:
                lines.append(f"{what} of {name}: ours alone {_text(left - right)}, theirs alone {_text(right - left)}")
    return lines


def differ_in_attempts_alone(ours: Outcome, theirs: Outcome) -> bool:
    """Whether every pod ends in the same state, with the same messages, and was only tried more or less often.

    How often a pod is tried that several changes wake within milliseconds depends on when they arrive.
    """
    ends = vars(ours).keys() - {"events", "writes", "order"}
    if any(getattr(ours, what) != getattr(theirs, what) for what in ends):
        return False
    return _kinds(ours.events) == _kinds(theirs.events)


def _kinds(events: Facts) -> dict[str, set[Hashable]]:
    return {name: {fact[:-1] for fact in facts if isinstance(fact, tuple)} for name, facts in events.items()}


def _text(facts: Counter[Hashable]) -> str:
    return json.dumps(sorted(facts.elements(), key=str))


def is_decided(pod: Document, *, errors_pass: bool = True) -> bool:
    """Whether the scheduler tries a pod again only when something happens.

    Args:
        errors_pass: whether a pod whose attempt ended with an error is tried again soon.
    """
    if pod["spec"].get("nodeName") or pod["spec"].get("schedulingGates") or pod["status"].get("nominatedNodeName"):
        return True
    reason = next((entry["reason"] for entry in pod["status"].get("conditions", []) if entry["reason"]), "")
    return reason not in ("", "SchedulerError" if errors_pass else "")


def wait_until_quiet(
    client: ApiClient,
    quiet_seconds: float,
    is_settled: Callable[[Document], bool] = is_decided,
    activity: Callable[[], object] = lambda: None,
) -> None:
    """Wait until every pod is decided and nothing has changed for a while.

    Args:
        is_settled: whether a pod needs no more waiting.
        activity: something else that has to stay the same.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    seen, since = "", time.monotonic()
    while time.monotonic() < deadline:
        pods = client.read_all("Pod", "default")
        versions = sorted((pod["metadata"]["uid"], pod["metadata"]["resourceVersion"]) for pod in pods)
        state = json.dumps([versions, activity()])
        if state != seen:
            seen, since = state, time.monotonic()
        elif time.monotonic() - since > (quiet_seconds if all(map(is_settled, pods)) else PATIENCE_SECONDS):
            return
        time.sleep(0.05)


def _is_binding(pod: dict[str, Any]) -> bool:
    """Whether a pod may wait for its claims to be bound."""
    has_claims = any("persistentVolumeClaim" in volume for volume in pod["spec"].get("volumes", []))
    return has_claims and not pod["spec"].get("nodeName") and bool(pod["status"].get("nominatedNodeName"))
