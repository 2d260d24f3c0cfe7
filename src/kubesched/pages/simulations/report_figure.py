"""Draws a report: how full each node is before and after, and how many pods are pending by cause."""

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from kubesched.errors import InputError
from kubesched.pages.formats import figure_of
from kubesched.session import NodeFill, PodState, Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DRAWN: Final = ("cpu", "memory")
_MOST_NAMED: Final = 40  # nodes; more names do not fit under the bars
_MOST_CAUSES: Final = 8
_CAUSE_WIDTH: Final = 50
_WIDTH: Final = 10.0  # inches, and those of each picture
_HEIGHT: Final = 2.8
_CAUSE_HEIGHT: Final = 0.45
_BEFORE: Final = "#1f4e79"
_AFTER: Final = "#9dc3e6"


@figure_of.register(Report)
def report_figure(report: Report) -> "Figure":
    """The figure of a report: a picture for cpu, one for memory, and one for the pending pods.

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise InputError("plots need matplotlib, which is not installed: pip install 'kubesched[plot]'") from None
    causes = _causes(report)
    heights = [*[_HEIGHT] * len(_DRAWN), _CAUSE_HEIGHT * (len(causes) + 1)]
    size = (_WIDTH, sum(heights))
    figure, axes = pyplot.subplots(len(heights), 1, figsize=size, height_ratios=heights, layout="constrained")
    for resource, picture in zip(_DRAWN, axes, strict=False):
        _draw_nodes(picture, report.nodes, resource)
    _draw_pending(axes[-1], causes, len(report.placements))
    pyplot.close(figure)  # a notebook shows what is returned, and would show an open figure again
    return figure


def _draw_nodes(picture: Any, fills: Sequence[NodeFill], resource: str) -> None:
    """Two bars for each node, the fullest first; of many nodes how many are how full, without their names."""
    after = {fill.node: _share(fill.after, fill, resource) for fill in fills}
    before = {fill.node: _share(fill.before, fill, resource) for fill in fills}
    picture.set_title(f"{resource} requested")
    picture.set_ylabel("% of allocatable")
    if len(fills) > _MOST_NAMED:
        picture.stairs(sorted(after.values(), reverse=True), fill=True, color=_AFTER, label="after")
        picture.stairs(sorted(before.values(), reverse=True), color=_BEFORE, label="before")
        picture.set_xlabel(f"{len(fills)} nodes, the fullest first")
    else:
        nodes = sorted(after, key=lambda node: after[node], reverse=True)
        places = range(len(nodes))
        picture.bar(places, [before[node] for node in nodes], -0.4, align="edge", color=_BEFORE, label="before")
        picture.bar(places, [after[node] for node in nodes], 0.4, align="edge", color=_AFTER, label="after")
        picture.set_xticks(places, nodes, rotation=45, ha="right")
    picture.legend(loc="upper right")


def _share(amounts: dict[str, int], fill: NodeFill, resource: str) -> float:
    offered = fill.allocatable.get(resource, 0)
    return 100 * amounts.get(resource, 0) / offered if offered else 0.0


def _causes(report: Report) -> list[tuple[str, int]]:
    """How many pods stay pending by cause, the most frequent first; rare causes are put together at the end."""
    left = [one for one in report.placements if one.state is not PodState.SCHEDULED]
    causes = Counter(one.diagnosis or one.message or one.state.value for one in left).most_common()
    others = causes[_MOST_CAUSES:]
    rest = [(f"{len(others)} other causes", sum(n for _, n in others))] if others else []
    return [*causes[:_MOST_CAUSES], *rest]


def _draw_pending(picture: Any, causes: Sequence[tuple[str, int]], n_pods: int) -> None:
    names = ["\n".join(wrap(cause, _CAUSE_WIDTH, max_lines=2, placeholder=" ...")) for cause, _ in causes]
    picture.bar_label(picture.barh(range(len(causes)), [n for _, n in causes], color=_BEFORE))
    picture.set_yticks(range(len(causes)), names, fontsize="small")
    picture.invert_yaxis()
    picture.set_xticks([])
    left = sum(n for _, n in causes)
    picture.set_title(f"{left} of {n_pods} pending pods stay pending" if left else "No pod stays pending")
