"""`kubesched simulate`: place the pending pods of a snapshot."""

from collections.abc import Iterable, Mapping, Set
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.cluster import extender_calls, note, read_both
from kubesched.cli.options import cluster_options, extenders_option, setup_options, tie_options
from kubesched.cli.output import print_line, print_text, progress_bar
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.same_cluster import same_cluster, same_command
from kubesched.cli.slow_plugins import noting_slow_plugins
from kubesched.cli.what_if import what_if_options

if TYPE_CHECKING:
    from datetime import datetime

    from kubesched.api import KubeObject
    from kubesched.planning import Difference, WhatIf
    from kubesched.session import Report, Simulator
    from kubesched.setup import Setup

_WITHOUT_DIFFERENCE: Final = ("csv", "jsonl", "junit")
"""Formats that do not have what a change makes of a cluster: nothing is simulated for it."""


@click.command()
@cluster_options
@setup_options
@extenders_option
@what_if_options
@click.option("--profile", metavar="NAME", help="Schedule only the pods of this profile of the configuration.")
@tie_options
@click.option(
    "--fail-on-pending",
    is_flag=True,
    help="Exit with 1 if a tried pod stays pending, a new pod is not created, or a pod of a removed node is or may be "
    "lost.",
)
@click.option(
    "--no-preemption-effects",
    is_flag=True,
    help="Try each pod once, by priority; list the victims of preemption but do not evict them.",
)
@report_output_option("summary")
def simulate(
    snapshots: tuple[str, ...],
    manifests: tuple[str, ...],
    skip_bad_objects: bool,
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    extenders: str,
    what_if: "WhatIf",
    profile: str | None,
    tie_break: str,
    seed: int,
    fail_on_pending: bool,
    no_preemption_effects: bool,
    output: str,
) -> None:
    """Place the pending pods of a cluster as kube-scheduler would.

    Each pod goes through the queue and takes its resources and volumes before the next pod is tried. A pod that fits
    nowhere may evict pods of lower priority. Evicted pods do not come back. If a plugin fails, the pod ends in an error
    (SchedulerError), and the command exits with 1.

    \b
    Examples:
      kubesched simulate cluster.json
      kubesched simulate cluster.json --manifest deployment.yaml --fail-on-pending
      kubesched simulate dump/ --config scheduler.yaml --plugin team_zone.py:TeamZone -o json
      kubesched simulate cluster.json --without-nodes -l pool=spot --scale deploy/web=20

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input.
    """  # noqa: D301
    if no_preemption_effects and extenders == "call":
        raise click.UsageError("--extenders call and --no-preemption-effects are mutually exclusive")
    from kubesched.planning import new_pods, simulated
    from kubesched.setup import set_up

    read, whole = read_both(snapshots, manifests, config, references, plugin_args, skip_bad_objects=skip_bad_objects)
    setup = _only(profile, whole)
    left_out = {one.scheduler_name for one in whole.profiles} - {one.scheduler_name for one in setup.profiles}
    setups = chain([setup], (_only(profile, set_up(whole.configuration, references, plugin_args)) for _ in count()))
    first_calls = extender_calls(setup, extenders)  # notes what is not called

    def simulator(objects: "Iterable[KubeObject]", new: "Set[str]") -> "Simulator":
        from kubesched.scheduler import TieBreak
        from kubesched.session import Simulator

        own = next(setups)
        calls = first_calls if own is setup or first_calls is None else extender_calls(own, extenders)
        return Simulator(objects, own, tie_break=TieBreak(tie_break), seed=seed, extender_calls=calls, new=new)

    def run(objects: "Iterable[KubeObject]", new: "Set[str]") -> "Report":
        report = _run(simulator(objects, new), tie_break if no_preemption_effects else None)
        _say_left_out(report, profile, left_out)
        return report

    found: Difference | None = None
    compares = bool(what_if) and output not in _WITHOUT_DIFFERENCE
    changed = what_if.applied(read)
    new = new_pods(changed.objects, read.objects)
    if not compares or output == "summary":
        _note(changed.notes)
    if no_preemption_effects and output == "jsonl":
        with noting_slow_plugins(setup):
            n_pending, n_failed = _print_places(simulator(changed.objects, new), tie_break)
    else:
        with noting_slow_plugins(setup):
            if compares:
                report, found = simulated(what_if, read, run)
            else:
                report = run(changed.objects, new)
        n_pending = sum(one.is_left_pending or one.is_not_created for one in report.placements)
        explain = "" if what_if else same_cluster("explain")
        n_failed = _print(report, found, output, explain, read.taken_at, _more_words(what_if) if n_pending else "")
    if n_failed or (fail_on_pending and (n_pending or changed.lost or changed.may_be_lost)):
        raise click.exceptions.Exit(1)


def _only(profile: str | None, setup: "Setup") -> "Setup":
    """The setup with one of its profiles, if one is asked for."""
    from kubesched.errors import ConfigError
    from kubesched.setup import Setup

    if profile is None:
        return setup
    kept = tuple(one for one in setup.profiles if one.scheduler_name == profile)
    if not kept:
        names = ", ".join(one.scheduler_name for one in setup.profiles)
        raise ConfigError(f"--profile {profile}: the configuration has no such profile; found: {names}")
    return Setup(setup.configuration, kept)


def _say_left_out(report: "Report", profile: str | None, left_out: set[str]) -> None:
    """Pods of profiles that --profile leaves out have a profile, only not here."""
    for placement in report.placements:
        for name in left_out:
            if placement.message.startswith(f'no profile has the scheduler name "{name}"'):
                placement.message = f"--profile {profile} leaves out the profile {name}"


def _run(simulator: "Simulator", one_by_one: str | None) -> "Report":
    """Run a whole simulation, or try each pod once with the tie-break given."""
    from kubesched.scheduler import TieBreak
    from kubesched.session import place_all

    with progress_bar("placing") as progress:
        if one_by_one is None:
            return simulator.run(progress)
        return place_all(simulator, TieBreak(one_by_one), progress)


def _print_places(simulator: "Simulator", tie_break: str) -> tuple[int, int]:
    """Try each pod once and print a line for each. Returns: how many go nowhere, and how many failed."""
    from kubesched.pages.simulations import placed_line
    from kubesched.scheduler import TieBreak
    from kubesched.session import not_seen, place

    n_pending = n_failed = 0
    for placed in chain(place(simulator, TieBreak(tie_break)), not_seen(simulator)):
        print_line(placed_line(placed))
        n_pending += not placed.node
        n_failed += placed.is_failed
    return n_pending, n_failed


def _more_words(what_if: "WhatIf") -> str:
    """The command that shows kube-scheduler's words for a changed cluster, which explain cannot read."""
    again = same_command() if what_if else ""
    return f"{again} -o wide" if again else ""


def _note(notes: Iterable[str]) -> None:
    for sentence in notes:
        note(sentence)


def _print(
    report: "Report",
    found: "Difference | None",
    output: str,
    explain: str,
    taken_at: "datetime | None",
    more_words: str,
) -> int:
    """Print a report, and what a change makes of it. Returns: how many pods ended in an error."""
    import msgspec

    from kubesched.pages.plans import with_difference
    from kubesched.pages.simulations import report_page, summary_of
    from kubesched.session import PodState

    if output == "summary":
        print_text(f"{found.text if found is not None else ''} {summary_of(report)}".lstrip())
    else:
        page = report_page(report, explain, taken_at=taken_at)
        page = page if found is None else with_difference(page, found)
        following = page.next_command or ("" if output == "wide" else more_words)
        print_report(msgspec.structs.replace(page, next_command=following), output)
    return report.count(PodState.ERROR)
