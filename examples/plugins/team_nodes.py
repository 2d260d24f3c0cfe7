"""Keep the pods of a team on the pools of nodes that the team owns.

A rule about the pod alone belongs in `pre_filter`: it runs once per pod, and the filters skip the nodes that it leaves
out. This file has the rule twice, node by node and over columns. Write yours once, in the form that you find simpler.
"""

import numpy as np

from kubesched import (
    ActionType,
    ClusterEvent,
    CycleState,
    EventRegistration,
    EventResource,
    KubeObject,
    Nodes,
    Plugin,
    PluginArgs,
    Pod,
    PreFilterResult,
    QueueingHint,
    Status,
)


class TeamNodes(Plugin):
    """Pods of a listed team fit only on its pools, and nowhere if it has no pools; other pods fit anywhere."""

    class Args(PluginArgs):
        team_label: str = "team"
        pool_label: str = "pool"
        pools: dict[str, tuple[str, ...]] = {}  # team -> its pools

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status | PreFilterResult:
        team = pod.labels.get(self.args.team_label, "")
        pools = self.args.pools.get(team)
        if pools is None:
            return Status.SUCCESS
        if not pools:
            return Status.unresolvable(f'team "{team}" owns no nodes')
        return PreFilterResult(self.names_in(pools, nodes))

    def names_in(self, pools: tuple[str, ...], nodes: Nodes) -> frozenset[str]:
        return frozenset(node.name for node in nodes if node.labels.get(self.args.pool_label) in pools)

    def events_to_register(self) -> list[EventRegistration]:
        """A node of the team is added, or the pod's team changes."""
        node_event = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        pod_event = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_LABEL)
        return [EventRegistration(node_event, self.node_hint), EventRegistration(pod_event)]

    def node_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        pools = self.args.pools.get(pod.labels.get(self.args.team_label, ""), ())
        is_ours = new is not None and new.labels.get(self.args.pool_label) in pools
        return QueueingHint.QUEUE if is_ours else QueueingHint.SKIP


class TeamNodesByColumn(TeamNodes):
    """The same rule: each node's pool is a small integer in a column, and one comparison judges all nodes."""

    def names_in(self, pools: tuple[str, ...], nodes: Nodes) -> frozenset[str]:
        column = nodes.label(self.args.pool_label)
        is_ours = np.isin(nodes.codes(self.args.pool_label), [column.code(pool) for pool in pools])
        return frozenset(nodes.name(position) for position in np.flatnonzero(is_ours).tolist())
