"""TaintToleration: untolerated NoSchedule and NoExecute taints reject; PreferNoSchedule taints lower a node's score.

Rule: kube-scheduler TaintToleration. The score is reversed when it is normalised: without any such taint every node has
100. Before v1.34 the text names the first taint that is not tolerated.
"""

from collections.abc import Hashable, Iterator
from typing import Final

import numpy as np

from kubesched.api import (
    COMPARISONS,
    ActionType,
    EventResource,
    KubeObject,
    Node,
    Pod,
    allows_comparisons,
    with_comparisons,
)
from kubesched.engine import IntVector
from kubesched.framework import (
    Codes,
    CycleState,
    DependsOn,
    EventRegistration,
    Plugin,
    QueueingHint,
    Status,
    Verdicts,
    default_normalize,
    keeps_equal,
)
from kubesched.plugins.rules_of_versions import RuleOfVersion, gate_is_off
from kubesched.plugins.shared_hints import by_own, queue_if, registration
from kubesched.plugins.tolerations import (
    has_untolerated_taint,
    judged_taints,
    near_miss,
    taint_words,
    untolerated_taints,
)
from kubesched.state import NodeInfo, Nodes


class PreScored:
    """Marks that PreScore ran: the score itself reads the pod's tolerations."""

    __slots__ = ()


_PRE_SCORED: Final = PreScored()
_NOT_PRE_SCORED: Final = 'failed to read "PreScoreTaintToleration" from cycleState: not found'


class TaintToleration(Plugin):
    """Hold the pod's tolerations against the node's taints."""

    depends_on = DependsOn.NODE
    equal_by = ("tolerations",)
    reasons = (Status.unresolvable("node(s) had untolerated taint(s)"),)

    # --- filter ---

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes | Verdicts:
        """1 where a taint keeps the pod away."""
        return judged_taints(nodes, state.pod.tolerations).keep_away[nodes.taint_ids].view(np.int8)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.tolerations

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each taint that keeps the pod away, with a toleration that is nearly right."""
        for taint in untolerated_taints(node.node.taints, pod.tolerations):
            yield f"taint {taint_words(taint)} is not tolerated{near_miss(taint, pod.tolerations)}"

    def version_rules(self, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
        """Tolerations that would tolerate the taints of a node, if the version compared their numbers."""
        comparing = pod if allows_comparisons(self.release) else with_comparisons(pod)
        lists = self.handle.snapshot().nodes.columns.taint_lists.values
        if comparing is not pod and any(
            has_untolerated_taint(taints, pod.tolerations) and not has_untolerated_taint(taints, comparing.tolerations)
            for taints in lists
            if taints
        ):
            text = "does not compare the numbers of tolerations with the operator Lt or Gt"
            yield gate_is_off(self.release, COMPARISONS, text)

    def explain_alike(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        return nodes.taint_ids.astype(np.int64)

    # --- score ---

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Never skips: nodes without such a taint earn 100."""
        state.write(_PRE_SCORED)
        return Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The number of PreferNoSchedule taints that are not tolerated."""
        state.read(PreScored, _NOT_PRE_SCORED)
        return judged_taints(nodes, state.pod.tolerations).n_unwanted[nodes.taint_ids]

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        """The tolerations; a kept column must not hide that PreScore is switched off."""
        state.read(PreScored, _NOT_PRE_SCORED)
        return state.pod.tolerations

    @keeps_equal
    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """The most such taints become 0."""
        return default_normalize(scores, reverse=True)

    # --- what may help ---

    def events_to_register(self) -> list[EventRegistration]:
        """A node comes or loses taints; the pod gets tolerations."""
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_TAINT
        return [
            registration(EventResource.NODE, nodes, _node_hint, self._tolerations),
            by_own(ActionType.UPDATE_POD_TOLERATION),
        ]

    def _tolerations(self, pod: Pod) -> Hashable:
        return self.handle.cluster_state.pod_info(pod).tolerations


class NamingTaintToleration(TaintToleration):
    """The same before v1.34, when the text named the taint."""

    name = "TaintToleration"
    equal_by = TaintToleration.equal_by

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """The number of the taint list, from 1 on, where a taint of it keeps the pod away."""
        ids, lists = nodes.taint_ids, nodes.columns.taint_lists.values
        keeps_away = judged_taints(nodes, state.pod.tolerations).keep_away[ids]

        def status_of(number: int) -> Status:
            first = untolerated_taints(lists[number - 1] or (), pod.tolerations)[0]
            return Status.unresolvable(f"node(s) had untolerated taint {{{first.key}: {first.value}}}")

        return Verdicts(np.where(keeps_away, ids + 1, 0), status_of)


def _node_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, Node)
    if has_untolerated_taint(new.taints, pod.tolerations):
        return QueueingHint.SKIP
    return queue_if(not isinstance(old, Node) or has_untolerated_taint(old.taints, pod.tolerations))
