"""`kubesched simulate`: place the pending pods of a snapshot."""

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import click

from kubesched.cli.cluster import note, read_both
from kubesched.cli.inputs import InputOptions, same_command, with_inputs
from kubesched.cli.options import cluster_options, deciding_options, extenders_option, tie_options
from kubesched.cli.output import print_line, print_text, progress_bar
from kubesched.cli.reports import note_versions, print_report, report_output_option
from kubesched.cli.slow_plugins import noting_slow_plugins
from kubesched.cli.what_if import what_if_options
from kubesched.cli.write_option import check_written, write_after, write_option
from kubesched.pages.formats import PATCH, WITHOUT_SENTENCES, Format

if TYPE_CHECKING:
    from kubesched.api import KubeObject
    from kubesched.planning import Changed, Simulated, WhatIf
    from kubesched.scheduler import TieBreak
    from kubesched.session import Report, Session
    from kubesched.setup import Setup


@click.command()
@with_inputs()
@cluster_options
@deciding_options
@extenders_option
@what_if_options
@click.option("--profile", metavar="NAME", help="Schedule only the pods of this profile of the configuration.")
@tie_options
@click.option(
    "--fail-on-pending",
    is_flag=True,
    help="Exit with 1 if a tried pod stays pending or would not start, a new pod is not created, or a pod of a removed "
    "node is or may be lost.",
)
@click.option(
    "--no-preemption-effects",
    is_flag=True,
    help="Try each pod once, by priority; list the victims of preemption but do not evict them.",
)
@write_option
@report_output_option(PATCH, "summary")
def simulate(
    inputs: InputOptions,
    what_if: "WhatIf",
    profile: str | None,
    fail_on_pending: bool,
    no_preemption_effects: bool,
    write: str | None,
    output: str,
) -> None:
    """Place the pending pods of a cluster as kube-scheduler would.

    Each pod goes through the queue and takes its resources and volumes before the next pod is tried. A pod that fits
    nowhere may evict pods of lower priority. Evicted pods come back only in the file of --write. If a plugin fails, the
    pod ends in an error (SchedulerError), and the command exits with 1.

    \b
    Examples:
      kubesched simulate cluster.json
      kubesched simulate cluster.json --manifest deployment.yaml --fail-on-pending
      kubesched simulate dump/ --config scheduler.yaml --plugin team_zone.py:TeamZone -o json
      kubesched simulate cluster.json --without-nodes -l pool=spot --scale deploy/web=20
      kubesched simulate cluster.json --write after.json && kubesched drain after.json worker-3

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input.
    """  # noqa: D301
    import msgspec

    from kubesched.planning import compared, new_pods, simulated

    check_written(write, inputs.files())
    read, whole = read_both(inputs)
    setup = _only(profile, whole)
    changed = what_if.applied(read)
    compares = bool(what_if) and output not in WITHOUT_SENTENCES  # else nothing is simulated for the difference
    answer, known = (compared, read) if compares else (simulated, changed.cluster)
    new = new_pods(known, read.objects)
    run = partial(_run, one_by_one=inputs.ties if no_preemption_effects else None)
    with _session(known, setup, inputs, new) as session:
        if no_preemption_effects and output == Format.JSONL:
            _note(changed.notes)
            n_pending, n_failed = _print_places(session, inputs.ties)
        else:
            result = answer(session, changed, run, keeps_objects=write is not None)
            write_after(read, result.objects, write)
            explain = "" if what_if else inputs.next_command("explain")
            result = msgspec.structs.replace(result, report=_with_left_out(result.report, profile, whole, setup))
            n_pending, n_failed = _print(result, changed, output, explain)
    if n_failed or (fail_on_pending and (n_pending or changed.lost or changed.may_be_lost)):
        raise click.exceptions.Exit(1)


@contextmanager
def _session(
    objects: "Iterable[KubeObject]", setup: "Setup", inputs: InputOptions, new: "Set[str]"
) -> "Iterator[Session]":
    """A session of the cluster; plugins that take most of its time are noted."""
    from kubesched.session import Session

    with (
        noting_slow_plugins(setup) as watched,
        Session(objects, watched, tie_break=inputs.ties, seed=inputs.seed or 0, new=new) as session,
    ):
        yield session


def _run(session: "Session", one_by_one: "TieBreak | None") -> "Report":
    """Run a whole simulation, or try each pod once with the tie-break given."""
    from kubesched.session import place_all

    with progress_bar("placing") as progress:
        return session.schedule(progress) if one_by_one is None else place_all(session, one_by_one, progress)


def _only(profile: str | None, setup: "Setup") -> "Setup":
    """The setup with one of its profiles, if one is asked for."""
    import msgspec

    from kubesched.errors import ConfigError

    if profile is None:
        return setup
    kept = tuple(each for each in setup.profiles if each.scheduler_name == profile)
    if not kept:
        names = ", ".join(each.scheduler_name for each in setup.profiles)
        raise ConfigError(f"--profile {profile}: the configuration has no such profile; found: {names}")
    return msgspec.structs.replace(setup, profiles=kept)


def _with_left_out(report: "Report", profile: str | None, whole: "Setup", setup: "Setup") -> "Report":
    """The report in which pods of profiles that --profile leaves out have a profile, only not here."""
    import msgspec

    left_out = {one.scheduler_name for one in whole.profiles} - {one.scheduler_name for one in setup.profiles}
    words = {f'no profile has the scheduler name "{name}"': name for name in left_out}
    placements = list(report.placements)
    for i, placement in enumerate(placements):
        for start, name in words.items():
            if placement.message.startswith(start):
                message = f"--profile {profile} leaves out the profile {name}"
                placements[i] = msgspec.structs.replace(placement, message=message)
    return msgspec.structs.replace(report, placements=tuple(placements)) if words else report


def _print_places(session: "Session", tie_break: "TieBreak") -> tuple[int, int]:
    """Try each pod once and print a line for each. Returns: how many go nowhere, and how many failed."""
    from kubesched.pages.formats import version_fields
    from kubesched.pages.simulations import placed_line
    from kubesched.session import not_seen, place

    decided = version_fields([session.version])
    n_pending = n_failed = 0
    for placed in chain(place(session, tie_break), not_seen(session)):
        print_line({**decided, **placed_line(placed)})
        n_pending += not placed.node
        n_failed += bool(placed.error)
    return n_pending, n_failed


def _note(notes: Iterable[str]) -> None:
    for sentence in notes:
        note(sentence)


def _print(result: "Simulated", changed: "Changed", output: str, explain: str) -> tuple[int, int]:
    """Print a report, and what a change makes of it.

    Returns: how many pods go nowhere, or why they would not start, and how many failed.
    """
    import msgspec

    from kubesched.pages.plans import with_difference
    from kubesched.pages.simulations import report_page, summary_of
    from kubesched.session import PodState

    report, difference = result.report, result.difference
    n_pending = sum(placement.is_left_pending or placement.is_not_created for placement in report.placements)
    if output == "summary":
        _note((*changed.notes, *result.caveats))
        note_versions([report.version])
        print_text(f"{difference.text if difference is not None else ''} {summary_of(report)}".lstrip())
    else:
        page = report_page(report, explain, caveats=result.caveats, taken_at=changed.cluster.taken_at)
        page = msgspec.structs.replace(page, notes=(*changed.notes, *page.notes))
        page = page if difference is None else with_difference(page, difference)
        more = _more_words() if changed.assumed and n_pending and output != Format.WIDE else ""
        print_report(msgspec.structs.replace(page, next_command=page.next_command or more), output)
    return n_pending + len(result.caveats), report.count(PodState.ERROR)


def _more_words() -> str:
    """The command that shows kube-scheduler's words for a changed cluster, which explain cannot read."""
    again = same_command()
    return f"{again} -o wide" if again else ""
