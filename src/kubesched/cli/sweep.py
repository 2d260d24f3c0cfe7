"""`kubesched sweep`: many configurations on many snapshots with many seeds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from kubesched.cli.options import on_option, plugin_options, prices_option
from kubesched.cli.output import progress_bar
from kubesched.cli.plugin_log import log_once
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.written_files import refuse_inputs

_PARQUET: Final = "parquet"


@click.command()
@click.argument("spec", metavar="[SPEC]", required=False, type=click.Path(path_type=Path))
@click.option("--snapshot", "snapshots", metavar="FILE", multiple=True, help="A snapshot to run on. Repeatable.")
@click.option(
    "--config",
    "configurations",
    type=click.Path(path_type=Path),
    metavar="FILE",
    multiple=True,
    help="KubeSchedulerConfiguration to try. Repeatable.  [default: kube-scheduler's defaults]",
)
@plugin_options
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="How many runs each has.  [default: 10]")
@click.option("--pods", metavar="CHOICE", help="Which pods to place, as for compare.  [default: pending]")
@prices_option
@click.option(
    "--pareto",
    metavar="FIGURES",
    help="Figures by which configurations are compared, such as pricePerHour,pending.  [default: nodesInUse,pending]",
)
@click.option(
    "--best", type=click.IntRange(min=0), metavar="N", default=3, show_default=True, help="How many to print in full."
)
@click.option(
    "--rows",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep the rows in a file in .jsonl, .csv or .parquet. Rows that it has are not run again.",
)
@on_option
@report_output_option(_PARQUET)
def sweep(
    spec: Path | None, pareto: str | None, best: int, rows: Path | None, on: str | None, output: str, **given: Any
) -> None:
    """Run many configurations on many snapshots with many seeds, and list which are best.

    Every run is a row: its settings and the figures of compare. A configuration or a snapshot that cannot be used is
    the reason in its rows.

    \b
    Examples:
      kubesched sweep month.yaml --rows month.parquet
      kubesched sweep month.yaml --rows month.parquet --on tcp://10.0.0.7:8786
      kubesched sweep --snapshot cluster.json --config a.yaml --config b.yaml --seeds 5 -o csv

    SPEC is a YAML file with the fields snapshots, configurations, plugins, pluginArgs, seeds, pods and prices. An
    option that is given replaces its field.
    """  # noqa: D301
    from kubesched.pages.sweeps import sweep_page
    from kubesched.sweeps import rows_as
    from kubesched.sweeps import sweep as run

    log_once()
    arguments = _arguments(spec, given)
    if rows is not None:
        refuse_inputs("--rows", rows, [str(one) for one in (spec, *arguments["snapshots"]) if one is not None])
    figures = pareto.split(",") if pareto else ()
    with progress_bar("sweeping") as progress:
        result = run(**arguments, pareto=figures, rows=rows, on=on, progress=progress)
    if output == _PARQUET:
        with click.open_file("-", "wb") as file:
            file.write(rows_as(".parquet", result.rows))
    else:
        print_report(sweep_page(result, best), output)
    if len(result.failed) == len(result.rows):
        raise click.exceptions.Exit(1)


def _arguments(spec: Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the function `sweep`: those of a file, and the options that are given.

    Raises:
        InputError: there is no snapshot, or a file cannot be read.
    """
    from kubesched.comparison import read_prices
    from kubesched.errors import InputError
    from kubesched.sweeps import read_spec

    arguments = {} if spec is None else read_spec(spec)
    named = {
        "snapshots": [Path(one) for one in given["snapshots"]],
        "configurations": given["configurations"],
        "plugins": given["references"],
        "plugin_args": [{name: Path(file) for name, file in given["plugin_args"].items()}]
        if given["plugin_args"]
        else (),
        "seeds": given["seeds"],
        "pods": given["pods"],
        "prices": read_prices(given["prices"]) if given["prices"] else None,
    }
    arguments |= {name: value for name, value in named.items() if value}
    if not arguments.get("snapshots"):
        raise InputError("no snapshot is given; expected --snapshot FILE, or a SPEC with the field snapshots")
    return arguments
