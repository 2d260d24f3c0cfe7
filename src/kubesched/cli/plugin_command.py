"""`kubesched plugin`: list and describe plugins, write a new one with its test, and check one without pytest."""

import keyword
import shlex
import sys
from pathlib import Path

import click

from kubesched.cli.output import print_text
from kubesched.cli.plugins import list_plugins, show_plugin
from kubesched.cli.reports import print_report, report_output_option
from kubesched.errors import InputError


@click.group()
def plugin() -> None:
    """List, describe, write and check plugins."""


plugin.add_command(list_plugins)
plugin.add_command(show_plugin)


@plugin.command()
@click.argument("plugin_name", metavar="NAME")
def new(plugin_name: str) -> None:
    """Write a new plugin and its test.

    NAME is the name of the class, such as TeamZone. The files are then team_zone.py and test_team_zone.py in the
    current folder. A name such as team-zone or team.zone becomes the `name` of a class TeamZone. The test passes as it
    is. Existing files are never overwritten.
    """
    from kubesched.cli.plugin_template import class_of, module_of, plugin_files

    is_class = "-" not in plugin_name and "." not in plugin_name
    name = plugin_name if is_class else class_of(plugin_name)
    module = module_of(name)
    _check_name(plugin_name, name, module)
    files = plugin_files(name, plugin_name)
    for file in files:
        if Path(file).exists() or Path(file).is_symlink():
            raise InputError(f"{file} already exists, and is not overwritten; choose another name, or another folder")
    for file, text in files.items():
        _write_new(file, text)
    print_text(f"Wrote {' and '.join(files)}.\n\nNext: kubesched plugin check {module}.py:{name}")


def _check_name(plugin_name: str, name: str, module: str) -> None:
    """Refuse a name that a plugin, its class or its module cannot have."""
    from kubesched.setup import find_plugins

    ends_well, is_one_word = plugin_name[-1:].isalnum(), name.isidentifier() and name.isascii() and "_" not in name
    if not (ends_well and is_one_word and name[0].isupper()):
        raise InputError(f"{plugin_name!r} is not the name of a plugin; write it like TeamZone or team-zone")
    registry = find_plugins()
    if plugin_name in registry:
        origin = registry[plugin_name].origin
        raise InputError(f"a plugin named {plugin_name} already exists ({origin}); choose another name")
    if keyword.iskeyword(name):
        raise InputError(f"{name} is a keyword of Python; choose another name")
    if name in sys.modules["kubesched"].__all__:  # a room may not import from the package
        raise InputError(f"{name} is a name that plugins import from kubesched; choose another name")
    if module in sys.stdlib_module_names or module in ("kubesched", "pytest"):
        raise InputError(f"{module}.py would hide the Python module {module}; choose another name")


def _write_new(file: str, text: str) -> None:
    try:
        with Path(file).open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        if not isinstance(error, FileExistsError):
            Path(file).unlink(missing_ok=True)  # a full disk takes its name, and nothing of its text
        raise InputError(f"{file} cannot be written: {(error.strerror or str(error)).lower()}") from error


@plugin.command()
@click.argument("reference", metavar="FILE.py:Class")
@click.option(
    "--args",
    "args_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Arguments of the plugin, in YAML or JSON: the value of `args` in pluginConfig.",
)
@report_output_option()
def check(reference: str, args_file: Path | None, output: str) -> None:
    """Check that a plugin keeps the contract of all plugins.

    The plugin runs in a small cluster with a bit of everything. The class is in a file, or in an installed package as
    package.module:Class. With -o junit, CI systems show each check.

    Exits with 1 if a check fails, and with 2 if the plugin or its arguments cannot be loaded.
    """
    from kubesched.config import PluginArgs, load_args
    from kubesched.setup import find_plugins
    from kubesched.testing import check_plugin, contract_page, run_checks

    registry = find_plugins([reference])
    (name,) = registry.loaded
    plugin_class = registry[name].plugin_class
    args = load_args(args_file, name, args_types=registry.args_types) if args_file else None
    checks = check_plugin(plugin_class, args=args if isinstance(args, PluginArgs) else None)
    outcomes = run_checks(checks)
    again = f"kubesched simulate CLUSTER.json --plugin {shlex.quote(reference)}"
    print_report(contract_page(name, outcomes, next_command=again), output)
    if any(outcome.problem for outcome in outcomes):
        sys.exit(1)
