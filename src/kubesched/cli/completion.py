"""`kubesched completion`: a script for a shell that completes commands, options and files; kubectl's part of it."""

import sys
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.output import print_verbatim

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_NAME: Final = "kubesched"
_VARIABLE: Final = "_KUBESCHED_COMPLETE"
_FILES, _NO_FILES = ":0", ":4"
"""What kubectl reads in the last line: whether the shell completes names of files."""


def complete_files(context: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """`shell_complete` of arguments and options that take a file and are texts."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes commands, options and names of objects in a shell.

    \b
    Examples:
      source <(kubesched completion bash)
      kubesched completion zsh > "${fpath[1]}/_kubesched"
      kubesched completion fish > ~/.config/fish/completions/kubesched.fish

    Add the first line to ~/.bashrc to have it in every bash; it needs bash 4.4 or newer. The completion of kubectl
    completes `kubectl sched`, too. Names of pods, workloads, nodes, zones and namespaces come from the SNAPSHOT on the
    line, except from one that takes longer than about a second to read.
    """  # noqa: D301
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None
    print_verbatim(script(click.get_current_context().find_root().command, {}, _NAME, _VARIABLE).source())


def complete_for_kubectl() -> None:
    """`kubectl_complete-sched`, which kubectl runs with the words behind `kubectl sched`; the last one is completed."""
    from click.shell_completion import ShellComplete

    from kubesched.cli.commands import main

    *words, incomplete = sys.argv[1:] or [""]
    items = ShellComplete(main, {}, _NAME, _VARIABLE).get_completions(words, incomplete)
    for item in items:
        if item.type == "plain":
            print_verbatim(f"{item.value}\t{item.help}\n" if item.help else f"{item.value}\n")
    print_verbatim(f"{_FILES if any(item.type != 'plain' for item in items) else _NO_FILES}\n")
