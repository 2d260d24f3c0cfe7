"""Builds the command after `Next:`, which is about the same cluster and decides with the same plugins."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import click
from click.core import ParameterSource

from kubesched.cli.general_options import GENERAL
from kubesched.cli.live_cluster import LiveSource
from kubesched.cli.targets import split_targets

_TIES: Final = ("tie_break", "seed")
_NOT_THE_ANSWER: Final = ("output", "fail_on_harm", "fail_on_pending", *(option.name for option in GENERAL))
"""Options about what is printed and how the command ends."""


def same_cluster(
    command: str, manifests: Sequence[str] | None = None, *, option: str = "--manifest", ties: bool = False
) -> str:
    """A command with the snapshots, manifests and plugins of the command line that runs now.

    Args:
        command: such as `explain`.
        manifests: the files that it takes with --manifest; None for those of --manifest now.
        option: by which it takes them instead.
        ties: whether it has --tie-break and --seed, which are repeated where they were given.
    Returns:
        `kubesched explain cluster.json --config b.yaml`; empty if standard input was read, because it is gone.
    """
    params = _params()
    snapshots = split_targets(params["snapshots"]).snapshots
    if manifests is None:
        manifests = params["manifests"]
    if "-" in (*snapshots, *manifests):
        return ""
    live = LiveSource.current()
    words = [
        *_repeated("--kubeconfig", [live.kubeconfig] if live.kubeconfig else []),
        *_repeated("--context", [live.context] if live.context else []),
        *_repeated(option, manifests),
        *(["--skip-bad-objects"] if params.get("skip_bad_objects") else []),
    ]
    if ties:
        context = click.get_current_context()
        given = (one for one in _TIES if context.get_parameter_source(one) is ParameterSource.COMMANDLINE)
        words += [word for one in given for word in (f"--{one.replace('_', '-')}", str(params[one]))]
    return shlex.join(["kubesched", command, *snapshots, *words, *_setup_words(params)])


def same_command() -> str:
    """The command line that runs now, without the options about what is printed and how the command ends.

    Returns: empty if standard input was read, because it is gone.
    """
    context = click.get_current_context()
    if "-" in (*context.params["snapshots"], *context.params["manifests"]):
        return ""
    options = (one for one in context.command.params if isinstance(one, click.Option))
    given = (one for one in options if context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE)
    words = [word for one in given if one.name not in _NOT_THE_ANSWER for word in _given(context, one)]
    return shlex.join(["kubesched", context.command.name or "", *context.params["snapshots"], *words])


def _given(context: click.Context, option: click.Option) -> Iterator[str]:
    """An option as it was given."""
    live = LiveSource.current()._asdict()  # not arguments of the command
    value = (live | context.params)[option.name or ""]
    name = option.opts[0]
    if option.is_flag:
        yield name
        return
    if isinstance(value, Mapping):
        value = [f"{key}={one}" for key, one in value.items()]
    for one in value if option.multiple else [value]:
        yield from [name] if one == option.flag_value else [name, str(one)]


def same_setup(command: str, *words: str) -> str:
    """A command about another cluster with the configuration and the plugins of the command line that runs now."""
    return shlex.join(["kubesched", command, *words, *_setup_words(_params())])


def _params() -> Mapping[str, Any]:
    return click.get_current_context().params


def _setup_words(params: Mapping[str, Any]) -> list[str]:
    config = params.get("config")
    called = params.get("extenders") == "call"
    return [
        *_repeated("--config", [config] if config else []),
        *_repeated("--plugin", params.get("references") or ()),
        *_repeated("--plugin-args", [f"{name}={file}" for name, file in (params.get("plugin_args") or {}).items()]),
        *(["--extenders", "call"] if called else []),
    ]


def _repeated(option: str, values: Iterable[object]) -> list[str]:
    return [word for value in values for word in (option, str(value))]
