"""What kube-scheduler itself said of a pod at last: the PodScheduled condition, beside an answer that differs."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.api import Pod
from kubesched.documents import count
from kubesched.session import without_post_filter
from kubesched.state import Nodes

_TAINT: Final = re.compile(r"had (?:untolerated )?taint \{([^:}]*): ?([^}]*)\}(?:, that the pod didn't tolerate)?")
_HEAD: Final = re.compile(r"^0/(\d+) nodes are available(?:: |[.:]?$)")
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

    @property
    def text(self) -> str:
        """Both in one paragraph."""
        since = f" (since {self.since})" if self.since else ""
        return f'In the snapshot kube-scheduler says{since}: "{self.message}" {self.why}'


def recorded_of(pod: Pod, answer: str, nodes: Nodes, fits_on: str) -> Recorded | None:
    """The condition of a pending pod, if it says something else than the answer; None if not.

    Args:
        answer: kube-scheduler's message as it is found here; empty for a pod that fits.
        fits_on: a node that the pod fits on; empty for none.
    """
    said = next((one for one in pod.status.conditions or () if one.type == "PodScheduled"), None)
    if said is None or said.status != "False" or said.reason not in _TRIED or not said.message:
        return None
    reasons = _reasons(said.message)
    if pod.node_name or not reasons or reasons == _reasons(answer):
        return None
    known = [*_known(nodes, said.message, fits_on)]
    since = "It has not tried the pod since" if known else "The cluster has changed since"
    why = f"{'; '.join(known)}. " if known else ""
    why = f"{why[:1].upper()}{why[1:]}{since}, or its configuration is not the one that decides here."
    return Recorded(said.message, _since(pod), why)


def _reasons(message: str) -> set[str]:
    """The reasons of a message without numbers and without the taints that older versions name."""
    said = _HEAD.sub("", without_post_filter(_TAINT.sub("had untolerated taint(s)", message))).rstrip(". ")
    return {re.sub(r"^\d+ ", "", reason) for reason in said.split(", ") if reason}


def _known(nodes: Nodes, message: str, fits_on: str) -> Iterator[str]:
    """What the cluster says of the reasons."""
    head = _HEAD.match(message)
    if head is not None and int(head[1]) != len(nodes):
        yield f"it counted {count(int(head[1]), 'node')}, and the cluster has {len(nodes):,}"
    for key, value in dict.fromkeys(_TAINT.findall(message)):
        if not any((taint.key, taint.value or "") == (key, value) for node in nodes for taint in node.node.taints):
            yield f"no node has a taint {key}{value and f'={value}'} now"
    if fits_on:
        for name in dict.fromkeys(_SHORT.findall(message)):
            yield f"node {fits_on} has enough {name} now"


def _since(pod: Pod) -> str:
    conditions: list[dict[str, Any]] = (pod.document.get("status") or {}).get("conditions") or []
    since = (one.get("lastTransitionTime") for one in conditions if one.get("type") == "PodScheduled")
    return str(next(since, "") or "")
