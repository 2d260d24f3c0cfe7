"""DefaultBinder: bind the pod through the API server.

Rule: kube-scheduler v1.36 DefaultBinder: a Binding on the pod's `binding` subresource; any error is the status' text.
"""

from kubesched.api import Pod
from kubesched.framework import ActionDone, Bind, CycleState, Plugin, Status


class DefaultBinder(Plugin):
    """Bind pods."""

    async def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Waits for the API server's answer."""
        done: ActionDone = await self.handle.perform(Bind(pod, node_name, state.binding.annotations))
        return Status.error(done.error) if done.error else Status.SUCCESS
