"""Plays one scenario to the scheduler that runs, and keeps what became of the pods and what the extenders got."""

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from campaigns.extenders.program import Program, nodes_of, pod_of, victims_of
from campaigns.extenders.scenario import Scenario
from campaigns.live.outcome import QUIET_SECONDS, Outcome, is_decided, look, wait_until_quiet
from tests.extender.programmable import Call, ProgrammableExtender
from tests.integration.control_plane import ControlPlane

UID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
VERSION = re.compile(rb'"resourceVersion":"\d+"')
MESSAGE = re.compile(rb'"message":"(?:[^"\\]|\\.)*"')  # of conditions, which are compared elsewhere
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")

Asked = tuple[str, str, str, str]
"""Extender, verb, pod; node names in their order, victims by node, or the node to bind to."""


@dataclass
class Played:
    """What one scheduler made of a scenario.

    Attributes:
        asked: the calls about each pod in their order, one pod after the other. prioritize goes to all extenders at
            once, so those of one attempt are sorted; bind has a separate list, because it overlaps with the rest.
        bodies: the requests of `asked` with uids, versions, times and messages replaced.
    """

    outcome: Outcome
    asked: dict[str, list[Asked]] = field(default_factory=dict)
    bodies: dict[str, list[bytes]] = field(default_factory=dict)


def play(plane: ControlPlane, extender: ProgrammableExtender, scenario: Scenario, n_steps: int | None = None) -> Played:
    """Play a scenario to the scheduler that runs, whose extenders are those of `extender`.

    Args:
        n_steps: of the script, at most; None for all.
    """
    assert plane.audit_log, "the control plane has to be audited"
    program = Program(
        scenario.seed,
        plane.client,
        share=scenario.share,
        is_passing=scenario.is_passing,
        is_slow=scenario.is_slow,
    )
    extender.answer = program
    extender.calls.clear()
    script = scenario.script()
    start = plane.audit_log.end()

    def is_settled(pod: dict[str, Any]) -> bool:
        if pod["metadata"]["name"] in program.unbound:
            return True
        return is_decided(pod, errors_pass=scenario.is_passing)

    for _, do in script.setup():
        do(plane.client)
    time.sleep(QUIET_SECONDS)
    for _, do in islice(script.steps(), n_steps):
        do(plane.client)
        wait_until_quiet(plane.client, QUIET_SECONDS, is_settled, extender.activity)
    played = Played(look(plane.client, script, plane.audit_log, start))
    for name, calls in (("verdicts", _in_order(extender.calls)), ("bind", _binds(extender.calls))):
        played.asked[name] = [_asked(call) for call in calls]
        played.bodies[name] = list(_plain([call.body for call in calls]))
    return played


def _in_order(calls: Sequence[Call]) -> list[Call]:
    asked = [call for call in calls if call.verb != "bind"]
    ordered: list[Call] = []
    for (verb, _), group in groupby(asked, key=lambda call: (call.verb, pod_of(json.loads(call.body)))):
        attempt = list(group)
        ordered += sorted(attempt, key=lambda call: call.extender) if verb == "prioritize" else attempt
    return sorted(ordered, key=lambda call: pod_of(json.loads(call.body)))


def _binds(calls: Sequence[Call]) -> list[Call]:
    return sorted((call for call in calls if call.verb == "bind"), key=lambda call: pod_of(json.loads(call.body)))


def _asked(call: Call) -> Asked:
    request = json.loads(call.body)
    if call.verb == "bind":
        what = request["Node"]
    elif call.verb == "preempt":
        victims = victims_of(request)
        what = " ".join(f"{node}:{len(one['Pods'])}" for node, one in sorted(victims.items()))
    else:
        what = " ".join(nodes_of(request))
    return call.extender, call.verb, pod_of(request), what


def _plain(bodies: Sequence[bytes]) -> Iterator[bytes]:
    """The bodies without what the API server makes up; each uid becomes the number of its first occurrence."""
    known: dict[bytes, bytes] = {}
    for body in bodies:
        body = UID.sub(lambda match: known.setdefault(match[0], b"uid-%d" % len(known)), body)
        body = MESSAGE.sub(b'"message":"M"', VERSION.sub(b'"resourceVersion":"N"', body))
        yield TIME.sub(b"TIME", body)
