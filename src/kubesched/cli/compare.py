"""`kubesched compare`: place the same pods with two configurations and compare the outcome."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kubesched.cli.cluster import note, note_missing_kinds, note_refused, read_cluster
from kubesched.cli.inputs import InputOptions, SetupOptions, with_inputs
from kubesched.cli.options import cluster_options, plugin_options, prices_option
from kubesched.cli.output import progress_bar
from kubesched.cli.parameters import option_words
from kubesched.cli.plugin_log import log_once
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.slow_plugins import note_slow_plugin

if TYPE_CHECKING:
    from kubesched.comparison import Candidate
    from kubesched.snapshot import ClusterObjects

_DEFAULTS = "defaults"
_PENDING = "pending"
_MOST_CONFIGS = 2


def _two_at_most(context: click.Context, option: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    if len(files) > _MOST_CONFIGS:
        raise click.UsageError(f"--config is given {len(files)} times; compare two configurations at a time")
    return files


@click.command()
@with_inputs()
@cluster_options
@click.option(
    "--config",
    "configs",
    type=click.Path(path_type=Path),
    metavar="FILE",
    multiple=True,
    callback=_two_at_most,
    help="KubeSchedulerConfiguration. Give it twice to compare two, once to compare the defaults with it.",
)
@plugin_options
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
@report_output_option()
def compare(
    inputs: InputOptions,
    configs: tuple[Path, ...],
    pack: bool,
    pods: str,
    seeds: int,
    prices: Path | None,
    fail_on: str | None,
    output: str,
) -> None:
    """Compare two scheduler configurations, or a configuration without and with a plugin.

    Both place the same pods. Each figure is the median of several runs with random ties, so that chance does not look
    like a result.

    \b
    Examples:
      kubesched compare cluster.json --config old.yaml --config new.yaml
      kubesched compare cluster.json --pack --pods all
      kubesched compare cluster.json --plugin team_zone.py:TeamZone --fail-on 'pending>0'

    With one --config or none, --plugin and --pack apply to the second side only. With two, --plugin loads the plugin
    for both. If a plugin fails, the command exits with 1.
    """  # noqa: D301
    from kubesched.comparison import compare as run
    from kubesched.comparison import failures, parse_conditions, read_prices
    from kubesched.pages.comparisons import comparison_page

    log_once()
    sides = _sides(configs, inputs.setup, pack=pack)
    conditions = () if fail_on is None else parse_conditions(fail_on)
    known_prices = None if prices is None else read_prices(prices)
    cluster = _read(inputs, sides)
    with progress_bar("comparing") as progress:
        comparison = run(cluster, *sides, pods=pods, seeds=seeds, prices=known_prices, progress=progress)
    for times, side, name in zip(comparison.times, "AB", (comparison.a, comparison.b), strict=True):
        note_slow_plugin(times, f"{side} ({name})")
    checks = failures(conditions, comparison)
    next_command = _next(configs, inputs, pack=pack, pods=pods)
    print_report(comparison_page(comparison, checks, next_command=next_command), output)
    if any(checks.values()) or any(comparison.faults):
        raise click.exceptions.Exit(1)


def _read(inputs: InputOptions, sides: "tuple[Candidate, Candidate]") -> "ClusterObjects":
    """The cluster, with what the plugins of both sides read."""
    from kubesched.setup import set_up

    setups = [set_up(side.configuration, side.plugins, side.plugin_args) for side in sides]
    kinds = {kind: None for setup in setups for kind in setup.read_kinds}
    cluster = read_cluster(inputs, kinds=kinds)
    if inputs.snapshots:
        note_missing_kinds(cluster, kinds)
    if inputs.manifests:
        note_refused(cluster, "counted as pending")
    if cluster.scheduler_config:
        advice = "to compare it, save it in a file and name it with --config"
        note(f"the schedulerConfig of the snapshot is not used; {advice}")
    return cluster


def _sides(configs: Sequence[Path], plugins: SetupOptions, *, pack: bool) -> "tuple[Candidate, Candidate]":
    from kubesched.comparison import Candidate, packed

    _, references, plugin_args, _ = plugins
    if len(configs) == _MOST_CONFIGS:
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


def _next(configs: Sequence[Path], inputs: InputOptions, *, pack: bool, pods: str) -> str:
    """What differs between two files; with one or none, what the second side makes of all pods."""
    if len(configs) == _MOST_CONFIGS:
        loaded = option_words({"--plugin": inputs.setup.references})
        return shlex.join(["kubesched", "config", "diff", *map(str, configs), *loaded])
    if pods != _PENDING:
        return ""
    words = option_words({"--config": configs, "--pack": pack, "--pods": "all"})
    return inputs.next_command("compare", *words)
