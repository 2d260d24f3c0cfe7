"""`kubesched fit --shapes`: which nodes that autoscalers may add would take pods."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from kubesched.cli.cluster import note_unread, read_both
from kubesched.cli.inputs import InputOptions
from kubesched.cli.output import progress_bar
from kubesched.cli.reports import print_report
from kubesched.cli.slow_plugins import noting_slow_plugins

if TYPE_CHECKING:
    from kubesched.planning import Asked, ShapesThatFit, WhatIf
    from kubesched.release import Release
    from kubesched.snapshot import ClusterObjects


def shapes_file(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """--shapes: a file of types of machines; empty for none, and None without the option."""
    if text and not text.endswith(".csv"):
        raise click.BadParameter(f"found {text!r}; write --shapes=FILE.csv, or --shapes behind the snapshot")
    return text


class ShapesInQuestion(NamedTuple):
    """What --shapes asks.

    Attributes:
        file: of types of machines; empty for none.
        prices: a file with prices; None for none.
        asked: gives the pods in question; None for the pending pods of the cluster.
        replicas: how many there are; None for the number of the manifest.
    """

    file: str
    prices: Path | None
    asked: "Callable[[ClusterObjects, Release], Asked] | None"
    replicas: int | None


def print_shapes(
    inputs: InputOptions, question: ShapesInQuestion, what_if: "WhatIf", output: str, *, fail_on_pending: bool
) -> None:
    """Answer about a changed cluster, print the report, and exit with 1 where `fit` does.

    Raises:
        InputError: the cluster, the pods or a file cannot be read, or no shape is known.
    """
    from kubesched.comparison import read_prices
    from kubesched.pages.plans import shapes_page
    from kubesched.planning import read_shapes, shapes_that_fit

    read, setup = read_both(inputs, may_be_empty=True, names_unread=False)
    changed = what_if.applied(read)
    cluster = changed.cluster
    rows = read_shapes(Path(question.file)) if question.file else []
    prices = {} if question.prices is None else read_prices(question.prices)
    asked = None if question.asked is None else question.asked(cluster, setup.release)
    if asked is None:
        note_unread(setup.release, cluster)
    if asked is not None and asked.existing:
        asked = asked.beside_existing()
    with progress_bar("trying shapes") as progress, noting_slow_plugins(setup) as watched:
        answer = shapes_that_fit(
            cluster,
            watched,
            rows,
            file=Path(question.file).name,
            prices=prices,
            new=() if asked is None else asked.objects(question.replicas),
            notes=() if asked is None else asked.notes_on(question.replicas, is_search=False),
            changed=changed,
            progress=progress,
        )
    explain = "" if asked is not None or what_if else inputs.next_command("explain", *_first_without(answer))
    print_report(shapes_page(answer, explain=explain), output)
    if answer.faults or (fail_on_pending and not all(one.best for one in answer.left)):
        raise click.exceptions.Exit(1)


def _first_without(answer: "ShapesThatFit") -> list[str]:
    """The first pod that no shape would take, or that has no node; none if there is no such pod."""
    without = [one for one in answer.left if not one.best] or answer.left
    return [without[0].pods[0]] if without else []
