"""What kube-scheduler itself said of a pod at last: the PodScheduled condition, beside an answer that differs."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.api import Pod
from kubesched.documents import count
from kubesched.explanation.evaluation import Evaluation
from kubesched.session import without_post_filter

_TAINT: Final = re.compile(r"had (?:untolerated )?taint \{([^:}]*): ?([^}]*)\}(?:, that the pod didn't tolerate)?")
_HEAD: Final = re.compile(r"^0/(\d+) nodes are available: ")
_SHORT: Final = re.compile(r"Insufficient ([^\s,.]+(?:\.[^\s,.]+)*)")
_TRIED: Final = ("Unschedulable", "SchedulerError")


class Recorded(msgspec.Struct, frozen=True):
    """What the condition says, where it is not the answer.

    Attributes:
        message: kube-scheduler's words.
        since: when the condition became false; empty where that is not known.
        why: what is known of the difference, as a sentence.
    """

    message: str
    since: str
    why: str


def recorded_of(evaluation: Evaluation) -> Recorded | None:
    """The condition of a pending pod, if it says something else than the evaluation; None if not."""
    pod = evaluation.pod
    said = next((one for one in pod.status.conditions or () if one.type == "PodScheduled"), None)
    if said is None or said.status != "False" or said.reason not in _TRIED or not said.message:
        return None
    if pod.node_name or evaluation.runs_on or _reasons(said.message) == _reasons(evaluation.message):
        return None
    known = [*_known(evaluation, said.message)]
    since = "It has not tried the pod since" if known else "The cluster has changed since"
    why = f"{'; '.join(known)}. " if known else ""
    why = f"{why[:1].upper()}{why[1:]}{since}, or its configuration is not the one that decides here."
    return Recorded(said.message, _since(pod), why)


def _reasons(message: str) -> set[str]:
    """The reasons of a message without numbers and without the taints that older versions name."""
    said = _HEAD.sub("", without_post_filter(_TAINT.sub("had untolerated taint(s)", message))).rstrip(". ")
    return {re.sub(r"^\d+ ", "", reason) for reason in said.split(", ") if reason}


def _known(evaluation: Evaluation, message: str) -> Iterator[str]:
    """What the cluster says of the reasons."""
    nodes, head = evaluation.nodes, _HEAD.match(message)
    if head is not None and int(head[1]) != len(nodes):
        yield f"it counted {count(int(head[1]), 'node')}, and the cluster has {len(nodes):,}"
    now = {(taint.key, taint.value or "") for node in nodes for taint in node.node.taints}
    for key, value in dict.fromkeys(_TAINT.findall(message)):
        if (key, value) not in now:
            yield f"no node has a taint {key}{value and f'={value}'} now"
    if evaluation.fits:
        for name in dict.fromkeys(_SHORT.findall(message)):
            yield f"node {evaluation.feasible[0]} has enough {name} now"


def _since(pod: Pod) -> str:
    conditions: list[dict[str, Any]] = (pod.document.get("status") or {}).get("conditions") or []
    since = (one.get("lastTransitionTime") for one in conditions if one.get("type") == "PodScheduled")
    return str(next(since, "") or "")
