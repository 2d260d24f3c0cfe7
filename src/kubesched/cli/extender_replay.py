"""`kubesched extender replay`: send recorded calls to the current plugins."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kubesched.cli.inputs import SetupOptions, with_setup
from kubesched.cli.options import beside_scheduler_options
from kubesched.cli.output import output_option, print_line, print_text
from kubesched.cli.reading_release import set_up_beside

if TYPE_CHECKING:
    from kubesched.extender import Replayed


@click.command()
@with_setup
@beside_scheduler_options
@click.option("--preemption-helps", is_flag=True, help="As for `kubesched extender`.")
@output_option("text", "jsonl", help="jsonl prints a line per call: number, verb, pod, differences, skipped.")
@click.argument("recording", type=click.Path(path_type=Path))
def replay(setup_options: SetupOptions, preemption_helps: bool, output: str, recording: Path) -> None:
    """Send recorded calls to the current plugins and show which answers changed.

    RECORDING is a folder that --record wrote. Exits with 1 if an answer changed. Binds are not carried out again.
    """
    from kubesched.extender import replay as play

    n_played = n_changed = n_skipped = 0
    for call in play(set_up_beside(setup_options), recording, preemption_helps=preemption_helps):
        n_played += not call.is_skipped
        n_skipped += call.is_skipped
        n_changed += bool(call.differences)
        if output == "jsonl":
            print_line(_document(call))
        elif call.differences:
            print_text(f"call {call.number}: {call.verb} {call.pod or '?'}")
            for sentence in call.differences:
                print_text(f"  {sentence}")
    if output == "text":
        not_played = f", {n_skipped} skipped" if n_skipped else ""
        print_text(f"{n_played} calls, {n_changed} changed answers{not_played}")
    if n_changed:
        raise click.exceptions.Exit(1)


def _document(call: "Replayed") -> dict[str, Any]:
    return {
        "number": call.number,
        "verb": call.verb,
        "pod": call.pod,
        "differences": list(call.differences),
        "skipped": call.is_skipped,
    }
