"""The what-if options of commands: nodes that are cordoned, uncordoned, removed or added, workloads that are scaled."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from kubesched.cli.completed_names import complete_nodes, complete_nodes_or_files, complete_scaled
from kubesched.cli.option_rules import BARE_WITHOUT_NODES
from kubesched.cli.parameters import option_value, pairs

if TYPE_CHECKING:
    from kubesched.planning import WhatIf


def _what_if(
    *,
    removed: tuple[str, ...],
    selectors: tuple[str, ...],
    add_nodes: int | None,
    scale: Mapping[str, str],
    **fields: Any,
) -> "WhatIf":
    from kubesched.planning import WhatIf

    names = tuple(name for name in removed if name != BARE_WITHOUT_NODES)
    numbers = {workload: int(number) for workload, number in scale.items()}
    return WhatIf(add_nodes=add_nodes or 0, remove=names + selectors, scale=numbers, **fields)


WHAT_IF_NAMES: Final = ("cordon", "uncordon", "removed", "selectors", "add_nodes", "like", "scale")
"""The parameters of the options."""

what_if_options: Final = option_value(
    "what_if",
    _what_if,
    click.option(
        "--cordon",
        metavar="NODE",
        multiple=True,
        shell_complete=complete_nodes,
        help="What if this node were cordoned: a name, or a label selector such as pool=spot. Repeatable.",
    ),
    click.option(
        "--uncordon",
        metavar="NODE",
        multiple=True,
        shell_complete=complete_nodes,
        help="What if this node were uncordoned: a cordoned node, or a label selector such as pool=spot. Repeatable.",
    ),
    click.option(
        "--without-nodes",
        "removed",
        is_flag=False,
        flag_value=BARE_WITHOUT_NODES,
        metavar="[NODE]",
        shell_complete=complete_nodes,
        multiple=True,
        help="What if these nodes were removed: a name or a label selector, or --without-nodes -l SELECTOR. Their pods "
        "are pending then. Repeatable.",
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
        "--add-nodes",
        type=click.IntRange(1),
        metavar="N",
        help="What if there were N more nodes, of the shape that --like names.",
    ),
    click.option(
        "--like",
        default="",
        metavar="NODE",
        shell_complete=complete_nodes_or_files,
        help="The model of --add-nodes: the name of a node, of a node group, NODEPOOL/TYPE, or a file with a Node.",
    ),
    click.option(
        "--scale",
        metavar="WORKLOAD=N",
        shell_complete=complete_scaled,
        multiple=True,
        callback=pairs("WORKLOAD=N, such as deploy/web=20", is_value=str.isdecimal),
        help="What if a workload had N pods: deploy/web=20, or shop/deploy/web=20. Repeatable.",
    ),
)
"""The argument `what_if` of a command."""
