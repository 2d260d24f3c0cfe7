"""The nodes that pass a filter request, and the reasons of the others, in the two maps of the protocol."""

from collections.abc import Container, Sequence
from typing import Final

import msgspec

from kubesched.extender.answer import reason_text
from kubesched.extender.requested_nodes import RequestedNodes
from kubesched.framework import Code, CycleState, FilterResult, Framework, NodeSearch, PluginFault, Status

_UNKNOWN: Final = "kubesched: the node is not in the extender's cache yet"
_WORDLESS: Final = "node(s) were rejected by plugin {} without a reason"  # kube-scheduler would show an empty reason


class RequestVerdicts(msgspec.Struct):
    """The nodes of a request, by verdict.

    Attributes:
        kept: positions among the request's known nodes of those that pass, ascending; None for all.
        failed: node name -> why, where evicting pods may help.
        unresolvable: node name -> why, where it cannot.
    """

    kept: list[int] | None
    failed: dict[str, str]
    unresolvable: dict[str, str]

    @classmethod
    def all_pass(cls, nodes: RequestedNodes) -> "RequestVerdicts":
        """Every node that is known passes."""
        return cls(None, {}, dict.fromkeys(nodes.unknown, _UNKNOWN))

    def reject(self, names: Sequence[str], status: Status, helped: Container[str] = ()) -> None:
        """File nodes under a rejection.

        Args:
            helped: plugins whose UNSCHEDULABLE is passed on as such. kube-scheduler's dry run does not ask filter
                extenders again, so a node that only we reject looks free to it, and preemption fails on it unless the
                plugin has a say there.
        """
        is_helped = status.plugin in helped and status.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        reason = reason_text(status) or _WORDLESS.format(status.plugin)
        (self.failed if is_helped else self.unresolvable).update(dict.fromkeys(names, reason))


def judge(framework: Framework, state: CycleState, nodes: RequestedNodes, helped: Container[str]) -> RequestVerdicts:
    """Ask the PreFilter and Filter plugins of a profile about every node of a request.

    Args:
        helped: plugins whose rejections preemption may help with.
    Raises:
        DeadlineExceeded: the time was over first.
        PluginFault: a plugin failed, which ends the pod's attempt.
    """
    search = NodeSearch(framework, state, nodes.table, is_whole=nodes.are_many)
    if search.failure is not None:
        raise PluginFault(search.failure)
    verdicts, names = RequestVerdicts.all_pass(nodes), nodes.names
    if search.positions is not None:
        verdicts.kept = search.positions.tolist()
        kept = set(verdicts.kept)
        verdicts.reject([name for i, name in enumerate(names) if i not in kept], search.diagnosis.absent, helped)
        names = [names[i] for i in verdicts.kept]
    if search.status.is_rejected:
        return verdicts
    result = search.filter()
    if not result.all_fit:
        passed = _sort_out(verdicts, result, names, helped)
        verdicts.kept = passed if verdicts.kept is None else [verdicts.kept[i] for i in passed]
    return verdicts


def _sort_out(
    verdicts: RequestVerdicts, result: FilterResult, names: Sequence[str], helped: Container[str]
) -> list[int]:
    """File every rejected node under its verdict. Returns: the positions of the others."""
    statuses = result.statuses()
    failure = statuses.failure()
    if failure is not None:
        raise PluginFault(failure)
    for number, status in enumerate(statuses.distinct[1:], 1):
        rejected = [names[i] for i in (statuses.index == number).nonzero()[0].tolist()]
        verdicts.reject(rejected, status, helped)
    passed: list[int] = (statuses.index == 0).nonzero()[0].tolist()
    return passed
