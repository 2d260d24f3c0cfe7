"""Groups the nodes that do not fit by what keeps the pod from them: one row however far apart the nodes are."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.explanation.explanation import Explanation, PluginVerdicts
from kubesched.explanation.nearest import nearest
from kubesched.explanation.obstacles import Obstacle, obstacles, reasons_of
from kubesched.framework import Code, Status

__all__ = ["ObstacleRow", "distinct", "obstacle_rows", "obstacle_texts"]

_MAX_TEXTS: Final = 4


class ObstacleRow(msgspec.Struct, frozen=True):
    """Nodes with the same obstacles.

    Attributes:
        positions: the nodes, the nearest to fitting first.
        obstacles: those of the first node.
        is_alike: whether the other nodes have them word for word; if not, plugins and reasons are the same and other
            details differ, such as the missing amount.
    """

    positions: tuple[int, ...]
    obstacles: tuple[Obstacle, ...]
    is_alike: bool

    @property
    def plugins(self) -> tuple[str, ...]:
        """The plugins that reject, in the order in which filters run."""
        return tuple(obstacle.plugin for obstacle in self.obstacles)

    @property
    def texts(self) -> tuple[str, ...]:
        """A text for each obstacle; a cordon and the taint that it makes are one."""
        return obstacle_texts(self.obstacles)


def obstacle_rows(explanation: Explanation) -> list[ObstacleRow]:
    """All nodes that do not fit, grouped by their obstacles; the group with the nearest node comes first.

    Nodes that the same plugins reject for the same reasons are one row for each different detail; with more than four
    different details, such as amounts that are missing, they are one row.

    Example:
        explanation = explain(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "64"}))
        assert [len(row.positions) for row in obstacle_rows(explanation)] == [2]
    """
    order = nearest(explanation)
    if not len(order):
        return []
    alike: dict[int, list[int]] = {}
    for position, number in zip(order.tolist(), _reason_numbers(explanation)[order].tolist(), strict=True):
        alike.setdefault(number, []).append(position)
    rank = {position: i for i, position in enumerate(order.tolist())}
    rows = [row for positions in alike.values() for row in _rows(explanation, positions)]
    return sorted(rows, key=lambda row: rank[row.positions[0]])


def obstacle_texts(listed: Sequence[Obstacle]) -> tuple[str, ...]:
    """A text for each obstacle on a node; a cordon and the taint that it makes are one."""
    return tuple(obstacle.text for obstacle in distinct(listed))


def distinct(listed: Sequence[Obstacle]) -> list[Obstacle]:
    """The obstacles without the taint of a cordon where NodeUnschedulable reports the cordon."""
    is_cordoned = any(obstacle.plugin == "NodeUnschedulable" for obstacle in listed)
    return [obstacle for obstacle in listed if not (is_cordoned and obstacle.is_cordon)]


def _rows(explanation: Explanation, positions: Sequence[int]) -> Iterator[ObstacleRow]:
    """The rows of nodes with the same reasons."""
    by_text: dict[tuple[str, ...], list[int]] = {}
    first: dict[tuple[str, ...], list[Obstacle]] = {}
    plugins: list[str] = []
    for position in positions:
        listed = obstacles(explanation, position, plugins)
        plugins = plugins or [obstacle.plugin for obstacle in listed]
        texts = obstacle_texts(listed)
        first.setdefault(texts, listed)
        by_text.setdefault(texts, []).append(position)
        if len(by_text) > _MAX_TEXTS:
            yield ObstacleRow(tuple(positions), tuple(next(iter(first.values()))), is_alike=False)
            return
    for texts, members in by_text.items():
        yield ObstacleRow(tuple(members), tuple(first[texts]), is_alike=True)


def _reason_numbers(explanation: Explanation) -> npt.NDArray[np.intp]:
    """(nodes,) a number for each node; nodes have the same one if the same plugins reject them for the same reasons."""
    columns = [_column(explanation, said) for said in explanation.by_plugin.values()]
    _, numbers = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return numbers.reshape(-1).astype(np.intp)


def _column(explanation: Explanation, said: PluginVerdicts) -> npt.NDArray[np.int64]:
    """(nodes,) which of the plugin's verdicts each node has; 0 where it has no objection."""
    rejected = np.flatnonzero(said.rejected).tolist()
    numbers: dict[tuple[Code, tuple[str, ...]], int] = {}
    known: dict[int, tuple[Status, int]] = {}  # by id, which is quick; the status is kept, so that its id stays its own
    column = np.zeros(len(explanation.nodes), dtype=np.int64)
    for position in rejected:
        status = said.status_of(position)
        if id(status) not in known:
            known[id(status)] = (status, numbers.setdefault((status.code, reasons_of(status)), len(numbers) + 1))
        column[position] = known[id(status)][1]
    return column
