"""Keep pods on nodes that have a label, and bind them.

The bind hook binds like the default one and writes an annotation into the Binding, which the API server copies to the
pod. This is one write. Patching the pod first would be two, and would change the pod during its scheduling.
"""

from kubesched import Bind, CycleState, NodeInfo, Plugin, PluginArgs, Pod, Status


class LabelFilter(Plugin):
    """A pod whose annotation names a label runs on nodes that have it."""

    class Args(PluginArgs):
        annotation: str = "example.com/needs-label"

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        label = pod.annotations.get(self.args.annotation)
        if label is None or label in node.labels:
            return Status.SUCCESS
        return Status.unresolvable(f'node(s) did not have the label "{label}"')

    async def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        notes = {**state.binding.annotations, "example.com/bound-by": self.name}
        done = await self.handle.perform(Bind(pod, node_name, notes))
        return Status.error(done.error) if done.error else Status.SUCCESS
