"""EqualPriority: every node scores 1, so that no node is preferred.

Rule: kube-scheduler v1.16 EqualPriority. Later versions accept the priority in a Policy and run nothing.
"""

from collections.abc import Hashable

import numpy as np

from kubesched.api import Pod
from kubesched.engine import IntVector
from kubesched.framework import CycleState, DependsOn, Plugin
from kubesched.state import Nodes


class EqualPriority(Plugin):
    """Score without preference."""

    depends_on = DependsOn.NODE

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """1 for every node."""
        return np.ones(len(nodes), dtype=np.int64)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return None
