"""The what-if options of commands: nodes that are cordoned, uncordoned, removed or added, workloads that are scaled."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click

_BY_SELECTOR: Final = "-l"


def _scales(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    """WORKLOAD=N as a mapping."""
    scale: dict[str, int] = {}
    for value in values:
        workload, _, number = value.partition("=")
        if not workload or not number.isdecimal():
            raise click.BadParameter(f"found {value!r}; write WORKLOAD=N, such as deploy/web=20")
        if workload in scale:
            raise click.BadParameter(f"{workload} is given twice")
        scale[workload] = int(number)
    return scale


_OPTIONS: Final = (
    click.option(
        "--scale",
        metavar="WORKLOAD=N",
        multiple=True,
        callback=_scales,
        help="What if a workload had N pods: deploy/web=20, or shop/deploy/web=20. Repeatable.",
    ),
    click.option("--like", metavar="NODE", help="The model of --add-nodes: the name of a node, or a file with a Node."),
    click.option(
        "--add-nodes",
        type=click.IntRange(1),
        metavar="N",
        help="What if there were N more nodes, of the shape that --like names.",
    ),
    click.option(
        "-l",
        "--selector",
        "selectors",
        metavar="SELECTOR",
        multiple=True,
        help="The label selector of --without-nodes.",
    ),
    click.option(
        "--without-nodes",
        "removed",
        is_flag=False,
        flag_value=_BY_SELECTOR,
        metavar="[NODE]",
        multiple=True,
        help="What if these nodes were removed: a name or a label selector, or --without-nodes -l SELECTOR. Their pods "
        "are pending then. Repeatable.",
    ),
    click.option(
        "--uncordon",
        metavar="NODE",
        multiple=True,
        help="What if this node were uncordoned: a cordoned node, or a label selector such as pool=spot. Repeatable.",
    ),
    click.option(
        "--cordon",
        metavar="NODE",
        multiple=True,
        help="What if this node were cordoned: a name, or a label selector such as pool=spot. Repeatable.",
    ),
)


def what_if_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--cordon, --uncordon, --without-nodes, --add-nodes, --like, --scale: the argument `what_if` of the command."""

    @wraps(command)
    def with_what_if(
        *args: Any,
        cordon: tuple[str, ...],
        uncordon: tuple[str, ...],
        removed: tuple[str, ...],
        selectors: tuple[str, ...],
        add_nodes: int | None,
        like: str | None,
        scale: dict[str, int],
        **others: Any,
    ) -> Any:
        from kubesched.planning import WhatIf

        if (add_nodes is None) != (like is None):
            raise click.UsageError("--add-nodes and --like belong together: --add-nodes 3 --like worker-1")
        if bool(selectors) != (_BY_SELECTOR in removed):
            raise click.UsageError("-l belongs to --without-nodes: --without-nodes -l pool=spot")
        names = tuple(name for name in removed if name != _BY_SELECTOR)
        what_if = WhatIf(cordon, add_nodes or 0, like or "", names + selectors, scale, uncordon)
        return command(*args, what_if=what_if, **others)

    for decorate in _OPTIONS:
        with_what_if = decorate(with_what_if)
    return with_what_if
