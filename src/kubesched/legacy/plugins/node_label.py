"""NodeLabel: nodes must have some label keys and lack others, whatever the values; preferences raise the score.

Rule: kube-scheduler v1.20 NodeLabel, which replaced the predicate CheckNodeLabelPresence and priorities with
`labelPreference`. Without preferences the score is 0 here; v1.20 divided by zero.
"""

from collections.abc import Hashable, Iterator

import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Node, Pod
from kubesched.engine import BoolVector, IntVector
from kubesched.framework import Codes, CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status
from kubesched.legacy.plugins.legacy_args import NodeLabelArgs
from kubesched.plugins import nothing, queue_if, registration
from kubesched.state import NodeInfo, Nodes


class NodeLabel(Plugin):
    """Judge nodes by the label keys that they have; the pod does not matter."""

    Args = NodeLabelArgs
    args: NodeLabelArgs
    depends_on = DependsOn.NODE
    reasons = (Status.unresolvable("node(s) didn't have the requested labels"),)

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 where a present label is missing or an absent one exists."""
        rejected: BoolVector = np.zeros(len(nodes), dtype=np.bool_)
        for key in self.args.present_labels:
            rejected |= nodes.codes(key) == 0
        for key in self.args.absent_labels:
            rejected |= nodes.codes(key) > 0
        return rejected.view(np.int8)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return None

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each label that is missing or should not exist."""
        yield from (f"label {key} is absent" for key in self.args.present_labels if key not in node.labels)
        yield from (f"label {key} must be absent" for key in self.args.absent_labels if key in node.labels)

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The share of the preferences that a node satisfies, 0 to 100."""
        present, absent = self.args.present_labels_preference, self.args.absent_labels_preference
        satisfied = np.zeros(len(nodes), dtype=np.int64)
        for key in present:
            satisfied += nodes.codes(key) > 0
        for key in absent:
            satisfied += nodes.codes(key) == 0
        return satisfied * 100 // max(len(present) + len(absent), 1)

    score_part = filter_part

    def events_to_register(self) -> list[EventRegistration]:
        """A node comes, or its labels change."""
        return [
            registration(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, self._node_hint, nothing)
        ]

    def _node_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        return queue_if(self._accepts(new) and not (isinstance(old, Node) and self._accepts(old)))

    def _accepts(self, node: Node) -> bool:
        labels = node.labels.keys()
        return labels >= set(self.args.present_labels) and labels.isdisjoint(self.args.absent_labels)
