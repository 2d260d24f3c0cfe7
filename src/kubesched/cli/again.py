"""Repeats the options of the running command, for a command line with the same cluster and setup."""

from typing import Any, Final

import click
from click.core import ParameterSource

from kubesched.cli.live_cluster import LiveSource

__all__ = ["cluster_words", "given_words", "setup_words"]

_TIES_AND_EXTENDERS: Final = ("extenders", "tie_break", "seed")


def cluster_words(context: click.Context) -> list[str]:
    """--kubeconfig, --context and --manifest as they were given; the snapshots are for the caller to place."""
    live = LiveSource.current()
    return [
        *(["--kubeconfig", live.kubeconfig] if live.kubeconfig else []),
        *(["--context", live.context] if live.context else []),
        *(word for manifest in context.params["manifests"] for word in ("--manifest", str(manifest))),
    ]


def setup_words(context: click.Context) -> list[str]:
    """--config, --plugin and --plugin-args as they were given."""
    params: dict[str, Any] = context.params
    return [
        *(["--config", str(params["config"])] if params["config"] else []),
        *(word for reference in params["references"] for word in ("--plugin", reference)),
        *(word for name, file in params["plugin_args"].items() for word in ("--plugin-args", f"{name}={file}")),
    ]


def given_words(context: click.Context) -> list[str]:
    """--extenders, --tie-break and --seed where they were given."""
    words = []
    for name in _TIES_AND_EXTENDERS:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words += [f"--{name.replace('_', '-')}", str(context.params[name])]
    return words
