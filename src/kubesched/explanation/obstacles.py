"""Lists the obstacles on one node, and groups the nodes that do not fit by them.

Nodes with the same obstacles are one row, however far apart they are.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kubesched.api import parse_quantity
from kubesched.engine import IntVector, equal_rows
from kubesched.explanation.claim_problems import VOLUME_PLUGINS, claim_words
from kubesched.explanation.device_survey import device_nearness
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.nearest import nearest
from kubesched.explanation.obstacle import Obstacle, ObstacleRow, reasons_of
from kubesched.explanation.plugin_verdicts import PluginVerdicts
from kubesched.explanation.remedies import is_cordon_alone
from kubesched.framework import Code

_TAINTS: Final = "TaintToleration"
_DEVICES: Final = "DynamicResources"
_MAX_CAUSES: Final = 4
_MAX_TEXTS: Final = 50
_AMOUNT: Final = re.compile(r"(?<![\w'/.=:-])\d+(?:\.\d+)?(?:m|[kMGTPE]i?|Ki)?(?![\w'/=-])")
"""A number between spaces and signs of a sentence; numbers in names, ports and label values are not amounts."""


def obstacles(evaluation: Evaluation, position: int, plugins: Collection[str] = ()) -> list[Obstacle]:
    """Everything that keeps the pod from a node, in the order in which filters run; empty for a node that fits.

    Args:
        plugins: those that are known to reject the node; without them, all are asked.
    """
    node, pod = evaluation.nodes.node(position), evaluation.pod
    found = []
    for name in plugins or evaluation.by_plugin:
        status = evaluation.by_plugin[name].status_of(position)
        if not status.is_success:
            asked = evaluation.asked.get(name)
            details = () if asked is None else asked.details(position, status)
            if name in VOLUME_PLUGINS and status.code is not Code.ERROR:
                details = claim_words(evaluation) or details
            if name == _DEVICES:
                details = evaluation.lacking_claims or details
            is_cordon = name == _TAINTS and is_cordon_alone(node, pod)
            found.append(Obstacle(name, status, details, is_cordon))
    return found


def reason_counts(evaluation: Evaluation) -> list[tuple[str, int]]:
    """Each reason of the whole profile with its number of nodes, most nodes first; a node without a reason counts."""
    diagnosis = evaluation.diagnosis
    counted = diagnosis.counts()
    n_left_out = diagnosis.n_all_nodes - sum(n for _, n in counted) - len(evaluation.feasible)
    counts: Counter[str] = Counter()
    for status, n in (*counted, (diagnosis.absent, n_left_out)):
        for reason in reasons_of(status) if n else ():
            counts[reason] += n
    return counts.most_common()


def obstacle_rows(evaluation: Evaluation) -> tuple[ObstacleRow, ...]:
    """All nodes that do not fit, grouped by their obstacles; the group with the nearest node comes first.

    Nodes that the same plugins reject for the same reasons are one row for each different detail. Details that differ
    only in amounts or in the node's own name are equal. With more than four different details there is one row.
    """
    if evaluation.rows is None:
        evaluation.rows = tuple(_grouped(evaluation))
    return evaluation.rows


def _grouped(evaluation: Evaluation) -> list[ObstacleRow]:
    order = nearest(evaluation)
    if not len(order):
        return []
    alike: dict[int, list[int]] = {}
    for position, number in zip(order.tolist(), _reason_numbers(evaluation)[order].tolist(), strict=True):
        alike.setdefault(number, []).append(position)
    rank = {position: i for i, position in enumerate(order.tolist())}
    rows = [row for positions in alike.values() for row in _rows(evaluation, positions)]
    return sorted(rows, key=lambda row: rank[row.positions[0]])


def obstacle_texts(listed: Sequence[Obstacle]) -> tuple[str, ...]:
    """A text for each cause on a node."""
    return tuple(obstacle.text for obstacle in distinct(listed))


def distinct(listed: Sequence[Obstacle]) -> list[Obstacle]:
    """The obstacles, each cause once.

    The taint of a cordon is left out where NodeUnschedulable reports the cordon, and a text that repeats another one.
    """
    plugins = {obstacle.plugin for obstacle in listed}
    return [
        obstacle
        for i, obstacle in enumerate(listed)
        if not (obstacle.is_cordon and "NodeUnschedulable" in plugins)
        and not any(obstacle.text == other.text for other in listed[:i])
        and not any(obstacle.text.endswith(f": {other.text}") for other in listed)
        and not any(obstacle.text.startswith(f"{other.text}, the node in ") for other in listed)
    ]


def _rows(evaluation: Evaluation, positions: Sequence[int]) -> Iterator[ObstacleRow]:
    """The rows of nodes with the same reasons."""
    causes: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}  # the texts of each cause
    by_text: dict[tuple[str, ...], list[int]] = {}
    first: dict[tuple[str, ...], list[Obstacle]] = {}
    plugins = [name for name, said in evaluation.by_plugin.items() if not said.status_of(positions[0]).is_success]
    for alike in _alike(evaluation, positions, plugins):
        listed = obstacles(evaluation, alike[0], plugins)
        texts = obstacle_texts(listed)
        if texts not in first:
            first[texts] = listed
            causes.setdefault(_cause(texts, evaluation.nodes.name(alike[0])), {})[texts] = None
        by_text.setdefault(texts, []).extend(alike)
        if len(causes) > _MAX_CAUSES or len(by_text) > _MAX_TEXTS:
            texts = next(iter(first))
            yield ObstacleRow(tuple(positions), tuple(first[texts]), texts, is_alike=False)
            return
    rank = {position: i for i, position in enumerate(positions)}
    for variants in map(list, causes.values()):
        members = sorted((position for texts in variants for position in by_text[texts]), key=rank.__getitem__)
        ranges = tuple(map(_with_ranges, zip(*variants, strict=True)))
        is_alike = len({_cause(texts) for texts in variants}) == 1
        yield ObstacleRow(tuple(members), tuple(first[variants[0]]), ranges, is_alike)


def _alike(evaluation: Evaluation, positions: Sequence[int], plugins: Sequence[str]) -> Iterator[list[int]]:
    """The nodes by the details that plugins have for them, in the order of the first node of each."""
    columns: list[npt.NDArray[Any]] = [evaluation.by_plugin[name].kinds for name in plugins]
    columns += [evaluation.asked[name].alike for name in plugins if name in evaluation.asked]
    if _TAINTS in plugins:
        columns.append(evaluation.nodes.taint_ids)  # obstacles() looks for the taint of a cordon
    chosen = np.asarray(positions)
    by_number: dict[int, list[int]] = {}
    numbers = equal_rows(len(chosen), (one[chosen] for one in columns))
    for position, number in zip(positions, numbers.tolist(), strict=True):
        by_number.setdefault(number, []).append(position)
    yield from by_number.values()


def _cause(texts: Iterable[str], node: str = "") -> tuple[str, ...]:
    """The texts without amounts and without the name of the node."""
    return tuple(_AMOUNT.sub("#", text.replace(f"'{node}'", "'*'") if node else text) for text in texts)


def _with_ranges(variants: Sequence[str]) -> str:
    """The first of some texts that are equal but for amounts, with a range for each amount that differs."""
    amounts = zip(*(_AMOUNT.findall(text) for text in variants), strict=True)
    return _AMOUNT.sub(lambda _: _range(set(next(amounts))), variants[0])


def _range(amounts: set[str]) -> str:
    ordered = sorted(amounts, key=parse_quantity)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _reason_numbers(evaluation: Evaluation) -> IntVector:
    """(nodes,) a number for each node; nodes have the same one if the same plugins reject them for the same reasons.

    Devices that others have are another reason than devices of another kind.
    """
    columns = [*map(_column, evaluation.by_plugin.values()), device_nearness(evaluation)]
    return equal_rows(len(evaluation.nodes), columns)


def _column(said: PluginVerdicts) -> IntVector:
    """(nodes,) which of the plugin's verdicts each node has; 0 where it has no objection."""
    kinds = said.kinds
    column = np.zeros(len(kinds), dtype=np.int64)
    numbers: dict[tuple[Code, tuple[str, ...]], int] = {}
    for kind in np.unique(kinds[said.rejected]).tolist():
        same = kinds == kind
        status = said.status_of(int(same.argmax()))
        column[same] = numbers.setdefault((status.code, reasons_of(status)), len(numbers) + 1)
    return column
