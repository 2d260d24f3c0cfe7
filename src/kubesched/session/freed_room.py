"""Finds the pods that a nominated pod waits for: those that are being deleted on its node, if it fits without them.

Rule: kube-scheduler v1.36 keeps a preemptor's nomination while its victims end, and tries the pod again after that.
"""

import numpy as np

from kubesched.api import Pod
from kubesched.framework import CycleState, Framework, NodeSearch, PluginFault
from kubesched.state import PodBatch


def leaving_for(framework: Framework, pod: Pod) -> tuple[str, ...]:
    """The pods of lower priority that are being deleted on the node to which a pod is nominated.

    Returns: `namespace/name`; empty if there are none, or if the pod does not fit there without them.
    """
    snapshot = framework.handle.snapshot()
    position = snapshot.nodes.position_of(pod.status.nominated_node_name)
    there = () if position is None else snapshot.nodes.pods(position)
    leaving = [info for info in there if info.pod.is_terminating and info.priority < pod.priority]
    if position is None or not leaving:
        return ()
    state = CycleState(framework.handle.cluster_state.pod_info(pod))
    search = NodeSearch(framework, state, snapshot.nodes)
    if not search.status.is_success or (search.positions is not None and position not in search.positions):
        return ()
    try:
        what_if = framework.what_if(state, pod, snapshot.nodes.select(np.array([position], dtype=np.intp)))
        what_if.remove(np.zeros(len(leaving), dtype=np.intp), PodBatch(leaving))
        fits = bool(what_if.fits().all())
    except PluginFault:
        return ()
    return tuple(info.pod.key for info in leaving) if fits else ()
