"""`kubesched config diff`: what differs between two configurations, or from the defaults."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.config_sources import source_in
from kubesched.cli.output import text_console
from kubesched.cli.plugin_log import log_once
from kubesched.cli.plugins import plugin_option
from kubesched.cli.reading_release import reading_release
from kubesched.cli.release_options import reader_version_options
from kubesched.cli.reports import note_versions, print_report, report_output_option

if TYPE_CHECKING:
    from kubesched.config import ConfigSource, FieldChange
    from kubesched.release import Release

_INDENT: Final = "    "
_COLOURS: Final = {"added": "green", "enabled": "green", "removed": "red", "disabled": "red"}
_OTHER_COLOUR: Final = "yellow"
_RATE: Final = 50  # kube-scheduler's default of clientConnection.qps; kubesched has no limit


@click.command()
@click.argument(
    "files",
    metavar="[A] B",
    type=click.Path(path_type=Path, allow_dash=True),
    nargs=-1,
    required=True,
)
@plugin_option
@reader_version_options
@report_output_option(default="text")
def diff(
    files: tuple[Path, ...],
    references: tuple[str, ...],
    kubernetes_version: str | None,
    feature_gates: tuple[str, ...],
    output: str,
) -> None:
    """Print what is different in B: a line for each field, and for each plugin at each extension point.

    Without A, B is compared with the defaults of kube-scheduler, and each of its profiles with the default one.

    The effective configurations are compared, with all defaults, and with the plugins as they run. A and B are what
    `kubesched config show` reads, of any version: older ones are converted first. Each has one configuration.

    As with diff, the exit code is 0 if both are equal, 1 if they are different, and 2 if one is not valid.
    """
    from kubesched.pages.configurations import config_diff_page

    log_once()
    *others, new = (source_in(file) for file in files)
    old = others[0] if others else None
    release = reading_release(kubernetes_version, feature_gates)
    changes = _changes(old, new, references, release)
    if output == "text":
        from kubesched.release import ReadingVersion

        note_versions([ReadingVersion(release)])
        print_changes(changes)
    else:
        defaults = f"the defaults of kube-scheduler {release}"
        print_report(config_diff_page(defaults if old is None else str(old), str(new), changes, release), output)
    if changes:
        raise click.exceptions.Exit(1)


def _changes(
    old: "ConfigSource | None", new: "ConfigSource", references: Iterable[str], release: "Release"
) -> "tuple[FieldChange, ...]":
    """What differs in a configuration of any version from another one, or from kube-scheduler's defaults.

    Raises:
        InputError, ConfigError, PluginDefinitionError: as from `set_up`.
    """
    from kubesched.config import differences, differences_from_defaults
    from kubesched.setup import comparable, set_up

    after = comparable(set_up(new, references, release=release))
    if old is not None:
        return differences(comparable(set_up(old, references, release=release)), after)
    before = comparable(set_up(release=release))
    if after["clientConnection"]["qps"] != before["clientConnection"]["qps"]:
        before["clientConnection"]["qps"] = _RATE
    return differences_from_defaults(before, after)


def print_changes(changes: "Iterable[FieldChange]") -> None:
    """Print a line for each change; on a terminal, what does not fit into it is indented below."""
    from kubesched.pages.formats import fold

    with text_console() as console:
        for change in changes:
            text = str(change)
            if console.is_terminal:
                text = fold(text, console.width - len(_INDENT)).replace("\n", f"\n{_INDENT}")
            console.print(text, style=_colour(change), soft_wrap=True)


def _colour(change: "FieldChange") -> str:
    return _COLOURS.get(change.kind.value, _OTHER_COLOUR)
