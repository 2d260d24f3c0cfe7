"""`kubesched extender replay`: send recorded calls to the current plugins."""

from collections.abc import Mapping
from pathlib import Path

import click

from kubesched.cli.options import beside_scheduler_options
from kubesched.cli.output import output_option, print_line, print_text


@click.command()
@beside_scheduler_options
@click.option("--preemption-helps", is_flag=True, help="As for `kubesched extender`.")
@output_option("text", "jsonl", help="jsonl prints a line per call: number, verb, pod, differences, skipped.")
@click.argument("recording", type=click.Path(path_type=Path))
def replay(
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    skipped: tuple[str, ...],
    preemption_helps: bool,
    output: str,
    recording: Path,
) -> None:
    """Send recorded calls to the current plugins and show which answers changed.

    RECORDING is a folder that --record wrote. Exits with 1 if an answer changed. Binds are not carried out again.
    """
    from kubesched.extender import replay as play
    from kubesched.setup import set_up

    setup = set_up(config, references, plugin_args, default_plugins=False, skipped=skipped)
    n_played = n_changed = n_skipped = 0
    for one in play(setup, recording, preemption_helps=preemption_helps):
        n_played += not one.is_skipped
        n_skipped += one.is_skipped
        n_changed += bool(one.differences)
        if output == "jsonl":
            print_line(
                {
                    "number": one.number,
                    "verb": one.verb,
                    "pod": one.pod,
                    "differences": list(one.differences),
                    "skipped": one.is_skipped,
                }
            )
        elif one.differences:
            print_text(f"call {one.number}: {one.verb} {one.pod or '?'}")
            for sentence in one.differences:
                print_text(f"  {sentence}")
    if output == "text":
        not_played = f", {n_skipped} skipped" if n_skipped else ""
        print_text(f"{n_played} calls, {n_changed} changed answers{not_played}")
    if n_changed:
        raise click.exceptions.Exit(1)
