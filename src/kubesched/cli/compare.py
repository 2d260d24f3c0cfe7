"""`kubesched compare`: place the same pods with two configurations and compare the outcome."""

import shlex
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from kubesched.cli.cluster import note, note_missing_kinds, note_refused, read_cluster
from kubesched.cli.compared_traces import compare_traces
from kubesched.cli.inputs import InputOptions, SetupOptions, with_inputs
from kubesched.cli.options import cluster_options, on_option, plugin_options, prices_option
from kubesched.cli.output import progress_bar
from kubesched.cli.parameters import option_words
from kubesched.cli.plugin_log import log_once
from kubesched.cli.release_options import feature_gates_option, release_for
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.slow_plugins import note_slow_plugin
from kubesched.release import KNOWN_NUMBERS

if TYPE_CHECKING:
    from kubesched.comparison import Candidate
    from kubesched.release import DecidingVersion, Release
    from kubesched.snapshot import ClusterObjects

_DEFAULTS = "defaults"
_PENDING = "pending"
_RUNS_OF_TRACES = 5


@click.command()
@with_inputs()
@cluster_options
@click.option(
    "--config",
    "configs",
    type=click.Path(path_type=Path),
    metavar="FILE",
    multiple=True,
    help="KubeSchedulerConfiguration. Give it twice to compare two, once to compare the defaults with it.",
)
@plugin_options
@click.option(
    "--kubernetes-version",
    "versions",
    metavar="VERSION",
    multiple=True,
    help=f"Version of Kubernetes, {KNOWN_NUMBERS}. Give it twice to compare two, once to compare the cluster's with "
    "it.",
)
@feature_gates_option
@click.option("--pack", is_flag=True, help="Compare with NodeResourcesFit's strategy MostAllocated.")
@click.option(
    "--pods",
    metavar="CHOICE",
    default=_PENDING,
    show_default=True,
    help="Which pods to place: pending; all: also every running pod that a controller would re-create; or "
    "rollout=SELECTOR: also those of them that the label selector selects.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=5),
    metavar="N",
    default=20,
    show_default=True,
    help="How many times to run each side, each with other random ties.",
)
@prices_option
@click.option(
    "--fail-on",
    metavar="CONDITIONS",
    help="Exit with 1 if a figure of the second side is like this, such as 'pending>0,skew>5'.",
)
@on_option
@report_output_option()
def compare(
    inputs: InputOptions,
    configs: tuple[Path, ...],
    versions: tuple[str, ...],
    pack: bool,
    pods: str,
    seeds: int,
    prices: Path | None,
    fail_on: str | None,
    on: str | None,
    output: str,
) -> None:
    """Compare two scheduler configurations, a configuration without and with a plugin, or two versions of Kubernetes.

    Both place the same pods. Each figure is the median of several runs with random ties, so that chance does not look
    like a result.

    \b
    Examples:
      kubesched compare cluster.json --config old.yaml --config new.yaml
      kubesched compare cluster.json --pack --pods all
      kubesched compare cluster.json --plugin team_zone.py:TeamZone --fail-on 'pending>0'
      kubesched compare cluster.json --kubernetes-version 1.37 --pods all
      kubesched compare pods.csv nodes.csv --pack

    With a trace in the place of a SNAPSHOT, each run is a replay, as `kubesched replay` has it. The figures are over
    time, and there are 5 runs of each side unless --seeds says otherwise.

    With one --config or none, --plugin and --pack apply to the second side only. With two, --plugin loads the plugin
    for both. If a plugin fails, the command exits with 1.
    """  # noqa: D301
    from kubesched.comparison import compare as run
    from kubesched.comparison import failures, parse_conditions, read_prices
    from kubesched.pages.comparisons import comparison_page
    from kubesched.parallel import connected
    from kubesched.traces import is_trace

    log_once()
    if any(map(is_trace, inputs.snapshots)):
        compare_traces(inputs, _sides(configs, inputs.setup, pack=pack), versions, _seeds_of_traces(seeds), output)
        return
    conditions = () if fail_on is None else parse_conditions(fail_on)
    known_prices = None if prices is None else read_prices(prices)
    sides, cluster = _read(inputs, _sides(configs, inputs.setup, pack=pack), versions)
    with connected(on), progress_bar("comparing") as progress:
        comparison = run(cluster, *sides, pods=pods, seeds=seeds, prices=known_prices, progress=progress)
    for times, side, name in zip(comparison.times, "AB", (comparison.a, comparison.b), strict=True):
        note_slow_plugin(times, f"{side} ({name})")
    checks = failures(conditions, comparison)
    again = _next(configs, inputs, versions, pack=pack, pods=pods) if comparison.n_runs else ""
    print_report(comparison_page(comparison, checks, next_command=again), output)
    if any(checks.values()) or any(comparison.faults):
        raise click.exceptions.Exit(1)


def _seeds_of_traces(seeds: int) -> int:
    """How many runs of each side there are: a replay takes long."""
    is_default = click.get_current_context().get_parameter_source("seeds") is ParameterSource.DEFAULT
    return _RUNS_OF_TRACES if is_default else seeds


def _read(
    inputs: InputOptions, sides: "tuple[Candidate, Candidate]", versions: Sequence[str]
) -> "tuple[tuple[Candidate, Candidate], ClusterObjects]":
    """The sides with the versions that decide, and the cluster with what the plugins of both read."""
    from kubesched.snapshot import version_of

    asked = (*[None] * (len(sides) - len(versions)), *versions)
    are_versions = bool(versions)
    decided_by = partial(_decided_by, options=inputs.setup, names_unread=not are_versions)
    named = [decided_by(side, None, version=version)[0] for side, version in zip(sides, asked, strict=True)]
    kinds = {kind: None for side in named for kind in _kinds_read(side, may_fail=are_versions)}
    cluster = read_cluster(inputs, kinds=kinds)
    if inputs.snapshots:
        note_missing_kinds(cluster, kinds)
    if inputs.manifests:
        note_refused(cluster, "counted as pending")
    if cluster.scheduler_config:
        advice = "to compare it, save it in a file and name it with --config"
        note(f"the schedulerConfig of the snapshot is not used; {advice}")
    found = [decided_by(side, cluster, version=version) for side, version in zip(sides, asked, strict=True)]
    for about_version in dict.fromkeys(text for _, text in found if text):
        note(about_version)
    (a, _), (b, _) = found
    return _named_by_version(a, b, versions, version_of(cluster)) if are_versions else (a, b), cluster


def _kinds_read(side: "Candidate", *, may_fail: bool) -> "Iterable[str]":
    """The kinds that the plugins of a side read; none where no version accepts the configuration.

    Raises:
        ConfigError: none does, and this may not be.
    """
    from kubesched.errors import ConfigError
    from kubesched.setup import set_up_in_any_version

    try:
        return set_up_in_any_version(side.configuration, side.plugins, side.plugin_args)[0].read_kinds
    except ConfigError:
        if may_fail:  # the notice says so
            return ()
        raise


def _sides(configs: Sequence[Path], plugins: SetupOptions, *, pack: bool) -> "tuple[Candidate, Candidate]":
    from kubesched.comparison import Candidate, packed

    references, plugin_args = plugins.references, plugins.plugin_args
    if len(configs) > 1:
        a, b = (Candidate(str(file), file, references, plugin_args) for file in configs)
        return a, b
    file, name = (configs[0], str(configs[0])) if configs else (None, _DEFAULTS)
    if pack:
        names = (name, f"{name} with MostAllocated") if configs else ("LeastAllocated", "MostAllocated")
        base = Candidate(names[0], file, references, plugin_args)
        return base, packed(Candidate(names[1], file, references, plugin_args))
    if references:
        names_of_plugins = [reference.rpartition(":")[2] for reference in references]
        if file is not None:
            _refuse_plugins_of(file, references, names_of_plugins)
        loaded = " and ".join(names_of_plugins)
        return Candidate(name, file), Candidate(f"{name} with {loaded}", file, references, plugin_args)
    return Candidate(_DEFAULTS), Candidate(name, file)


def _decided_by(
    side: "Candidate",
    cluster: "ClusterObjects | None",
    *,
    options: SetupOptions,
    version: str | None,
    names_unread: bool,
) -> "tuple[Candidate, str]":
    """A side with the version that decides, and a note about it; the version may reject a feature gate."""
    import msgspec

    from kubesched.errors import ConfigError, UndecidedGateError

    try:
        release, about_version = release_for(cluster, options, version, names_unread=names_unread)
        return msgspec.structs.replace(side, release=release), about_version
    except ConfigError as error:
        bare = options._replace(feature_gates=())
        release, about_version = release_for(cluster, bare, version, names_unread=False)
        why = {"undecided" if isinstance(error, UndecidedGateError) else "rejected": str(error)}
        return msgspec.structs.replace(side, release=release, **why), about_version


def _named_by_version(
    a: "Candidate", b: "Candidate", versions: Sequence[str], of_cluster: "DecidingVersion"
) -> "tuple[Candidate, Candidate]":
    """Both with one configuration, under the names of their versions.

    Raises:
        InputError: it is one version.
    """
    import msgspec

    from kubesched.errors import InputError

    if a.release == b.release:
        alike = _alike(a.release, versions, of_cluster)
        raise InputError(f"--kubernetes-version: {alike}; there is nothing to compare")
    file, name = b.configuration, "" if b.configuration is None else f"{b.name} on "
    return (
        msgspec.structs.replace(a, name=f"{name}{a.release}", configuration=file),
        msgspec.structs.replace(b, name=f"{name}{b.release}"),
    )


def _alike(release: "Release | None", versions: Sequence[str], of_cluster: "DecidingVersion") -> str:
    """Why both sides decide as one version."""
    shown = " and ".join(f"{version:.60}" for version in versions)
    if len(versions) > 1:
        return f"{shown} are both {release}"
    if not of_cluster.text:
        return f"the version of the cluster is not known; {shown} is the default; give two versions"
    if of_cluster.note:
        return f"the cluster is {of_cluster.text:.60}, decided as {of_cluster.release}, and {shown} is, too"
    return f"{shown} is {release}, and so is the cluster"


def _refuse_plugins_of(file: Path, references: tuple[str, ...], names: Sequence[str]) -> None:
    """Refuse a configuration that names one of the plugins: without the plugin it is not valid.

    Raises:
        InputError, ConfigError, PluginDefinitionError: it does, or it cannot be read with the plugins.
    """
    from kubesched.errors import ConfigError
    from kubesched.setup import set_up

    set_up(file, references)
    try:
        set_up(file)
    except ConfigError as error:
        named = next((name for name in names if f'"{name}"' in str(error)), " and ".join(names))
        raise ConfigError(f"{file} names {named} itself; give a second --config without it") from error


def _next(configs: Sequence[Path], inputs: InputOptions, versions: Sequence[str], *, pack: bool, pods: str) -> str:
    """What differs between two files; with one or none, what the second side makes of all pods."""
    if len(configs) > 1:
        loaded = option_words({"--plugin": inputs.setup.references})
        return shlex.join(["kubesched", "config", "diff", *map(str, configs), *loaded])
    if pods != _PENDING:
        return ""
    asked = {"--config": configs, "--kubernetes-version": versions, "--pack": pack, "--pods": "all"}
    words = option_words(asked)
    return inputs.next_command("compare", *words)
