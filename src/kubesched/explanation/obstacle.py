"""What keeps a pod from nodes: the obstacle of one plugin on a node, and nodes with the same obstacles."""

from typing import Final

import msgspec

from kubesched.framework import Status

NO_REASON: Final = "rejected without a reason"


class Obstacle(msgspec.Struct, frozen=True):
    """One plugin's objection to one node.

    Attributes:
        plugin: the plugin that rejects.
        status: its rejection.
        details: a phrase for each cause; empty where the reasons are complete.
        is_cordon: whether it is the taint of a cordon alone, which NodeUnschedulable reports too.
    """

    plugin: str
    status: Status
    details: tuple[str, ...] = ()
    is_cordon: bool = False

    @property
    def text(self) -> str:
        """The details, or the plugin's words where there are none; NO_REASON where it has no words either."""
        if self.status.place:
            return self.status.located
        return "; ".join(self.details or sorted(reasons_of(self.status)))


class ObstacleRow(msgspec.Struct, frozen=True):
    """Nodes with the same obstacles.

    Attributes:
        positions: the nodes, the nearest to fitting first.
        obstacles: those of the first node.
        texts: a text for each cause. Amounts that differ are ranges.
        is_alike: whether the texts are those of all nodes; if not, they are those of the first node, and on the others
            plugins and reasons are the same and details differ.
    """

    positions: tuple[int, ...]
    obstacles: tuple[Obstacle, ...]
    texts: tuple[str, ...]
    is_alike: bool

    @property
    def plugins(self) -> tuple[str, ...]:
        """The plugins that reject, in the order in which filters run."""
        return tuple(obstacle.plugin for obstacle in self.obstacles)


def reasons_of(status: Status) -> tuple[str, ...]:
    """The reasons of a rejection, empty ones left out; NO_REASON where there is none."""
    return tuple(reason for reason in status.reasons if reason.strip()) or (NO_REASON,)
