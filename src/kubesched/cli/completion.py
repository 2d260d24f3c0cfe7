"""`kubesched completion`: a script for a shell that completes commands, options and files."""

from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["complete_files", "completion"]

_NAME: Final = "kubesched"
_VARIABLE: Final = "_KUBESCHED_COMPLETE"


def complete_files(context: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """`shell_complete` of arguments and options that take a file and are texts."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes the commands and options of kubesched in a shell.

    \b
    Examples:
      source <(kubesched completion bash)
      kubesched completion zsh > "${fpath[1]}/_kubesched"
      kubesched completion fish > ~/.config/fish/completions/kubesched.fish

    Add the first line to ~/.bashrc to have it in every bash; it needs bash 4.4 or newer.
    """  # noqa: D301
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(click.get_current_context().find_root().command, {}, _NAME, _VARIABLE).source(), nl=False)
