"""A dry run: decides and logs each decision, and writes nothing.

Theory of operation. The Scheduler runs as always, up to Permit. Instead of the plugins that bind, one that writes
nothing is asked: it logs the node, and then waits until the watch shows that the pod is on a node or gone. Until then
the pod is assumed on the node, so the next decisions count it and it is not tried again. If the pod went elsewhere,
binding has failed, and everything is given back as after any failed binding. Victims of preemption are logged and stay,
so their preemptor stays nominated, and each of its attempts is logged.
"""

import logging
import time
from typing import Final

from msgspec.structs import replace

from kubesched.api import Pod, ResourceClaim
from kubesched.framework import (
    Action,
    ActionDone,
    CycleState,
    DeleteObject,
    DeletePod,
    Plugin,
    Profile,
    RecordEvent,
    Status,
    WriteObject,
    logged_plugin_events,
)
from kubesched.plugins import ClaimPlan
from kubesched.setup import Setup, without_bind
from kubesched.state import ClusterState

_NO_LIMIT: Final = 1e9  # seconds
_FAILED: Final = "FailedScheduling"
_NOT_WRITTEN: Final = "nothing is written in a dry run"
_LOG: Final = logging.getLogger("kubesched.dryrun")


def dry_run_setup(setup: Setup) -> Setup:
    """A setup whose extenders and profiles bind no pod, without PreBind and PostBind plugins and leader election."""
    profiles = tuple(_without_binding(profile) for profile in setup.profiles)
    setup = without_election(setup)
    extenders = without_bind(setup.configuration.extenders)
    return replace(setup, configuration=replace(setup.configuration, extenders=extenders), profiles=profiles)


def without_election(setup: Setup) -> Setup:
    """The same setup, taking no part in leader election."""
    configuration = setup.configuration
    election = replace(configuration.leader_election, leader_elect=False)
    return replace(setup, configuration=replace(configuration, leader_election=election))


def _without_binding(profile: Profile) -> Profile:
    binder = _Unbound()
    points = {**profile.points, "preBind": (), "bind": (binder,), "postBind": ()}
    return replace(profile, points=points, plugins=(*profile.plugins, binder))


class _Unbound(Plugin):
    """Logs where a pod would be bound, and waits for what really becomes of it."""

    async def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Wait until the pod is on a node or gone. Returns: SUCCESS if it is on this node."""
        extra = {"pod": pod.key, "node": node_name, "profile": pod.scheduler_name}
        plan = state.find(ClaimPlan)
        if plan is not None and (devices := ",".join(plan.new_devices())):
            extra["devices"] = devices
        _LOG.info("would bind", extra=extra)
        await self.handle.wait(lambda: self._node_of(pod) != "", _NO_LIMIT, reads=[("Pod", pod.key)])
        actual = self._node_of(pod)
        if actual == node_name:
            return Status.SUCCESS
        return Status.error(f"pod {pod.key} is gone" if actual is None else f"pod {pod.key} went to {actual}")

    def _node_of(self, pod: Pod) -> str | None:
        """The node that the pod is on; "" while it waits for one, None if it is gone."""
        current = self.handle.get("Pod", pod.namespace, pod.name)
        return current.node_name if isinstance(current, Pod) and current.uid == pod.uid else None


class DryRunWriter:
    """Writes nothing; logs what would be evicted, and which pods fit nowhere and why."""

    def __init__(self, cluster_state: ClusterState) -> None:
        self._cluster_state = cluster_state
        self._plugin_events = logged_plugin_events(time.monotonic)

    def emit(self, action: Action) -> None:
        """Log the event of a pod that fits nowhere, and those of plugins; the rest is logged where it is decided."""
        if not isinstance(action, RecordEvent):
            return
        if action.is_of_plugin:
            self._plugin_events.record(action)
        elif isinstance(action.regarding, Pod) and action.reason == _FAILED and self._waits(action.regarding):
            _LOG.info("unschedulable", extra={"pod": action.regarding.key, "reason": action.note})

    async def perform(self, action: Action) -> ActionDone:
        """Log an eviction or a claim that is given back, as if it were done; refuse what else cannot be undone."""
        if isinstance(action, DeletePod):
            extra = {"pod": action.pod.key, "node": action.node_name, "preemptor": action.preemptor.key}
            _LOG.info("would evict", extra=extra)
            return ActionDone(action)
        if isinstance(action, WriteObject | DeleteObject) and isinstance(action.object, ResourceClaim):
            verb = "delete" if isinstance(action, DeleteObject) else "deallocate" if action.subresource else ""
            if verb:  # a finalizer is taken off before a deletion
                _LOG.info("would %s", verb, extra={"claim": action.object.key})
            return ActionDone(action)
        self.emit(action)
        return ActionDone(action, "" if isinstance(action, RecordEvent) else _NOT_WRITTEN)

    async def finish(self) -> None:
        """There is nothing to wait for."""

    def may_write(self) -> bool:
        """A dry run has no lease to lose."""
        return True

    def _waits(self, pod: Pod) -> bool:
        """Whether the pod has no node yet. A pod that the cluster placed elsewhere did not fail."""
        current = self._cluster_state.objects.get("Pod", pod.key)
        return isinstance(current, Pod) and current.uid == pod.uid and not current.node_name
