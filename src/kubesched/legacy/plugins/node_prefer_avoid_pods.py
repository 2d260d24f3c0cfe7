"""NodePreferAvoidPods: a node whose annotation names the pod's controller scores 0, every other node 100.

Rule: kube-scheduler v1.20 NodePreferAvoidPods, the priority NodePreferAvoidPodsPriority; its default weight was 10000.
Only ReplicationControllers and ReplicaSets count. An annotation that does not parse names nothing.
"""

from collections.abc import Hashable
from typing import Final

import msgspec
import numpy as np

from kubesched.api import AVOID_PODS, Node, Pod
from kubesched.engine import IntVector
from kubesched.framework import CycleState, DependsOn, Plugin
from kubesched.state import Nodes

_KINDS: Final = ("ReplicationController", "ReplicaSet")


class _Controller(msgspec.Struct, frozen=True):
    kind: str = ""
    uid: str = ""


class _Signature(msgspec.Struct, frozen=True, rename="camel"):
    pod_controller: _Controller | None = None


class _Avoided(msgspec.Struct, frozen=True, rename="camel"):
    pod_signature: _Signature | None = None


class _Annotation(msgspec.Struct, frozen=True, rename="camel"):
    prefer_avoid_pods: tuple[_Avoided, ...] | None = None


_decode: Final = msgspec.json.Decoder(_Annotation).decode


class NodePreferAvoidPods(Plugin):
    """Honour the annotation by which a node asks to be spared some pods."""

    depends_on = DependsOn.NODE

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """0 where the annotation names the pod's controller, else 100."""
        scores = np.full(len(nodes), 100, dtype=np.int64)
        controller = _controller_of(pod)
        if controller is not None:
            for position in range(len(nodes)):  # the column is kept for all pods of the controller
                if controller in _avoided_by(nodes.node(position)):
                    scores[position] = 0
        return scores

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return _controller_of(pod)


def _controller_of(pod: Pod) -> _Controller | None:
    owner = pod.metadata.controller
    return _Controller(owner.kind, owner.uid) if owner is not None and owner.kind in _KINDS else None


def _avoided_by(node: Node) -> list[_Controller | None]:
    """The controllers that a node's annotation names."""
    annotations = node.metadata.annotations
    text = annotations.get(AVOID_PODS) if annotations else None
    if not text:
        return []
    try:
        avoided = _decode(text).prefer_avoid_pods or ()
    except msgspec.MsgspecError:
        return []
    return [one.pod_signature.pod_controller for one in avoided if one.pod_signature is not None]
