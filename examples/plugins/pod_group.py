"""Place the pods of a group together or not at all, as jobs of MPI, Spark or distributed training need it.

A group is a label, and how many pods have to be placed at once is another. Each pod of the group that has found a node
waits there, in `permit`, until there are enough. A pod that waits activates the others: `activate` takes them out of
their backoff, and out of the pods that wait for an event. After `seconds`, the group gives its nodes back.
"""

from kubesched import (
    ActionType,
    ClusterEvent,
    CycleState,
    EventRegistration,
    EventResource,
    FieldError,
    KubeObject,
    Nodes,
    Plugin,
    PluginArgs,
    Pod,
    QueueingHint,
    Status,
    Wait,
    WaitingPod,
    child,
)

Group = tuple[str, str]


class PodGroup(Plugin):
    """Bind a pod of a group only when the least number of its pods have a node."""

    class Args(PluginArgs):
        group_label: str = "example.com/pod-group"
        size_label: str = "example.com/pod-group-min"
        seconds: float = 60.0

        def validate(self, path: str) -> list[FieldError]:
            if self.seconds > 0:
                return []
            return [FieldError.invalid(child(path, "seconds"), self.seconds, "must be positive")]

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Wait for the group to be complete before any of its pods takes room."""
        if (group := self.group_of(pod)) is None:
            return Status.SUCCESS
        size = pod.labels.get(self.args.size_label, "1")
        if not size.isdigit():
            return Status.unresolvable(f'label {self.args.size_label} is "{size}"; expected a number')
        n_members = len(self.members(group))
        if n_members < int(size):
            return Status.unresolvable(f"pod group {group[1]} has {n_members} of {size} pods")
        return Status.SUCCESS

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | Wait:
        group = self.group_of(pod)
        if group is None:
            return Status.SUCCESS
        waiting = self.waiting(group)
        if self.n_placed(group) < int(pod.labels.get(self.args.size_label, "1")):
            self.handle.activate([member for member in self.members(group) if not member.spec.node_name])
            return Wait(self.args.seconds)
        for member in waiting:
            member.allow(self.name)
        return Status.SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """One of the group lost its node: those that wait for it give theirs back."""
        if (group := self.group_of(pod)) is not None:
            for member in self.waiting(group):
                member.reject(self.name, f"pod group {group[1]} is not complete")

    def events_to_register(self) -> list[EventRegistration]:
        """Retry when a pod of the group is created. The others are woken by the pod that finds room."""
        return [EventRegistration(ClusterEvent(EventResource.POD, ActionType.ADD), self.is_of_group)]

    def is_of_group(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        is_ours = isinstance(new, Pod) and self.group_of(new) == self.group_of(pod)
        return QueueingHint.QUEUE if is_ours else QueueingHint.SKIP

    def group_of(self, pod: Pod) -> Group | None:
        """Namespace and name."""
        name = pod.labels.get(self.args.group_label)
        return (pod.namespace, name) if name else None

    def members(self, group: Group) -> list[Pod]:
        """Its pods that exist and have not ended."""
        pods = (pod for pod in self.handle.list("Pod") if isinstance(pod, Pod) and self.group_of(pod) == group)
        return [pod for pod in pods if pod.status.phase not in ("Succeeded", "Failed")]

    def n_placed(self, group: Group) -> int:
        """How many of its pods have a node: bound, on the way there, or waiting, the one being decided among them."""
        pods = (info.pod for node in self.handle.snapshot().nodes for info in node.pods)
        return sum(self.group_of(pod) == group for pod in pods)

    def waiting(self, group: Group) -> list[WaitingPod]:
        return [waiting for waiting in self.handle.waiting_pods().values() if self.group_of(waiting.pod) == group]
