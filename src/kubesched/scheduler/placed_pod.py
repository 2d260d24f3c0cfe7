"""One pod from the chosen node to the bound pod: assume, Reserve, Permit, binding cycle, and one way back.

Theory of operation. `take` counts the pod on its node and asks Reserve and Permit, in one go. The binding cycle is a
coroutine that waits for Permit, runs PreBind, Bind and PostBind. A pod that is taken is *held* until the watch shows it
on its node or `undo` gives everything back; both drivers, the Scheduler and the extender's Binder, put their own
matters around that. Three rules:

* Whatever way `take` or the binding cycle ends, except with SUCCESS, the pod is not held afterwards.
* One exception: if the cycle is broken off (cancelled, closed) while the Binding may have reached the API server, the
  pod stays held. The watch shows what became of it; see `unconfirmed`.
* A pod that the watch shows on its node is bound, whatever the request for the Binding reported.

Rule: kube-scheduler v1.36 assume, RunReservePluginsReserve, RunPermitPlugins, bindingCycle, handleBindingCycleError.
"""

from kubesched.api import Pod
from kubesched.errors import StateError
from kubesched.framework import CycleState, Framework, Status, WaitingPod, answer_text
from kubesched.scheduler.pod_in_pre_bind import PodInPreBind
from kubesched.state import ClusterState


class PlacedPod:
    """A pod and the node that was chosen for it.

    Attributes:
        framework: runs the plugins.
        pod: the pod; once it is assumed, as it is on its node.
        node_name: the node.
        state: what the plugins remember for this pod.
        is_held: whether the pod is counted on the node, with what Reserve took.
        is_written: whether the Binding may have reached the API server. Set by the sender.
        point: the extension point that `take` has reached: `reserve`, then `permit`; empty before.
        pre_bind: runs the PreBind plugins; preemption can cancel it.
    """

    def __init__(
        self,
        framework: Framework,
        cluster_state: ClusterState,
        state: CycleState,
        node_name: str,
        waiting_pods: dict[str, WaitingPod],
    ) -> None:
        """Name the pod and the node; nothing is taken yet.

        Args:
            waiting_pods: where the pod is found while Permit holds it back.
        """
        self.framework = framework
        self.pod: Pod = state.pod.pod
        self.node_name = node_name
        self.state = state
        self.is_held = False
        self.is_written = False
        self.point = ""
        self.pre_bind = PodInPreBind()
        self._cluster_state = cluster_state
        self._waiting_pods = waiting_pods
        self._waiting: WaitingPod | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether Permit asked to wait, and has not ended."""
        return self._waiting is not None

    @property
    def is_confirmed(self) -> bool:
        """Whether the watch shows the pod on this node."""
        known = self._cluster_state.placed(self.pod.uid)
        return (
            known is not None and known.pod.node_name == self.node_name and not self._cluster_state.is_assumed(self.pod)
        )

    @property
    def is_awaited(self) -> bool:
        """Whether the pod is counted on the node, and the watch has not shown it there yet."""
        return self.is_held and self._cluster_state.is_assumed(self.pod)

    def take(self, now: float) -> Status:
        """Assume the pod on its node, reserve what it needs there, ask Permit.

        Returns: SUCCESS, also if Permit asked to wait; else why not, with everything given back.
        """
        try:
            self.pod = self._cluster_state.assume(self.state.pod, self.node_name).pod
        except StateError as error:  # the watch has shown it on a node in this very moment
            return Status.error(str(error))
        self.is_held = True
        status = None
        try:
            status = self._reserve(now)
        finally:
            if status is None or not status.is_success:
                self.undo()
        return status

    def _reserve(self, now: float) -> Status:
        framework, state = self.framework, self.state
        self.point = "reserve"
        status = framework.run_reserve(state, self.pod, self.node_name)
        if not status.is_success:
            return status
        annotations: object = state.binding.annotations
        if annotations != {}:
            if not _is_annotations(annotations):
                text = f"the Binding's annotations must be a dict of str; found {answer_text(annotations)}"
                return Status.error(text)
            self.pod = self._cluster_state.assume_annotations(self.pod.uid, state.binding.annotations).pod
        self.point = "permit"
        status, waits = framework.run_permit(state, self.pod, self.node_name)
        if status.is_success and waits:
            self._waiting = self._waiting_pods[self.pod.uid] = WaitingPod(self.pod, waits, now)
        return status

    def waits_no_more(self) -> None:
        """Permit has ended."""
        if self._waiting is not None and self._waiting_pods.get(self.pod.uid) is self._waiting:
            del self._waiting_pods[self.pod.uid]
        self._waiting = None

    def undo(self) -> None:
        """Give back what was taken, once. What a pod holds that the watch shows on this node stays with it."""
        if not self.is_held:
            return
        self.is_held = False
        self.waits_no_more()
        if self.is_confirmed:
            return
        try:
            self.framework.run_unreserve(self.state, self.pod, self.node_name)
        finally:
            if self._cluster_state.is_assumed(self.pod):
                self._cluster_state.forget(self.pod)


def _is_annotations(value: object) -> bool:
    """Whether a plugin left what an API server takes as annotations."""
    return isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)
