"""Says in one line why a pod stays pending: the filter that rejects the nodes that all earlier filters accept."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from kubesched.framework import Status

_HEAD: Final = re.compile(r"^0/\d+ nodes are available: ")
_POST_FILTER: Final = re.compile(r"(?<=\.) (no new claims to deallocate|preemption:|not found).*$", re.DOTALL)
"""What PostFilter plugins add to kube-scheduler's message."""
_NODES: Final = "node(s) "
"""How most of kube-scheduler's reasons begin."""
_OF_ONE_NODE: Final = {
    "are": "is",
    "exceed": "exceeds",
    "have": "has",
    "were": "was",
    **{verb: verb for verb in ("could", "did", "didn't", "had")},
}
"""The verb of such a reason -> its form for one node; a reason with another verb is repeated as it is."""
_NO_REASON: Final = "no reason given"


def diagnosis_of(
    rejections: Iterable[tuple[Status, int]],
    filters: Sequence[str],
    message: str,
    plugin: str = "",
    left_out: tuple[Status, int] | None = None,
) -> str:
    """Name the obstacle that is nearest to the pod.

    Filters run in order, and a node has the verdict of the first one that rejects it. So the nodes that the last of
    them rejects need the fewest changes.

    Args:
        rejections: distinct verdicts, with how many nodes have each.
        filters: names of the plugins, in the order in which they filter.
        message: what is said of a pod that is rejected whatever the filters say.
        plugin: the plugin that says so; empty where it is not one alone.
        left_out: the verdict on the nodes that PreFilter plugins left out, and how many these are; None for none.

    Example:
        rejections = [(Status.unresolvable("node(s) had a taint").by("Taints"), 2), (Status.error("full").by("Fit"), 1)]
        assert diagnosis_of(rejections, ["Taints", "Fit"], "") == "Fit: the last node of 3: full"
        assert diagnosis_of(rejections[:1], ["Taints", "Fit"], "") == "Taints: all 2 nodes had a taint"
        assert diagnosis_of([], ["Fit"], "0/3 nodes are available: no team.", "Teams") == "Teams: no team"
    """
    counted = list(rejections)
    if not counted:
        said = _HEAD.sub("", without_post_filter(message)).rstrip(".")
        return f"{plugin}: {said}" if plugin else said
    position = {name: i for i, name in enumerate(filters)}
    last = max((status.plugin for status, _ in counted), key=lambda name: position.get(name, len(position)))
    absent, n_absent = left_out or (Status.SUCCESS, 0)
    n_nodes = sum(n for _, n in counted) + n_absent
    reasons: Counter[str] = Counter()
    n_last = 0
    for status, n in counted:
        if status.plugin == last:
            n_last += n
            reasons.update(dict.fromkeys(status.reasons or (_NO_REASON,), n))
    distinct = [reason if n == n_last else f"{n} {reason}" for reason, n in reasons.most_common()]
    last_of = f"the last node of {n_nodes}" if n_last == 1 else f"the last {n_last} of {n_nodes} nodes"
    which = last_of if n_last < n_nodes else _all(n_nodes)
    said = ", ".join(distinct)
    sentence = (_sentence(said, n_last) if len(distinct) == 1 else "") or f": {said}"
    others = f"; {n_absent} {absent.message}" if n_absent else ""
    return f"{f'{last}: ' if last else ''}{which}{sentence}{others}"


def _sentence(reason: str, n_nodes: int) -> str:
    """The rest of a sentence about some nodes; empty if the reason does not make one."""
    if not reason.startswith(_NODES):
        return ""
    verb, space, rest = reason.removeprefix(_NODES).partition(" ")
    if n_nodes == 1:
        verb = _OF_ONE_NODE.get(verb, "")
    return f" {verb}{space}{rest}" if verb else ""


def without_post_filter(message: str) -> str:
    """kube-scheduler's message without what PostFilter plugins add."""
    return _POST_FILTER.sub("", message)


def without_names(text: str, pod: str) -> str:
    """A text without the `namespace/name` of its pod, and of claims that are made for the pod: equal for equal pods."""
    return re.sub(rf"{re.escape(pod)}(-[\w-]+)?\b", "", text)


def _all(n_nodes: int) -> str:
    return f"all {n_nodes} nodes" if n_nodes > 1 else "the only node"
