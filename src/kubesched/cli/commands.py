"""`kubesched`: the group of all commands, and the exit codes and messages of their errors."""

import errno
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from importlib import import_module
from typing import Any, Final, NoReturn

import click

from kubesched.cli.general_options import GENERAL, is_debugging, with_general_options
from kubesched.cli.json_log import json_log, with_json_log
from kubesched.cli.option_rules import with_checked_usage
from kubesched.cli.output import print_text
from kubesched.cli.program_name import as_typed, program_name
from kubesched.cli.program_version import version_option
from kubesched.cli.standard_streams import checked_output, discard_the_rest, with_own_output
from kubesched.documents import did_you_mean
from kubesched.errors import KubeschedError, error_message

_COMMANDS: Final = (
    "simulate",
    "explain",
    "fit",
    "drain",
    "check",
    "compare",
    "replay",
    "sweep",
    "devices",
    "snapshot",
    "extender",
    "scheduler",
    "config",
    "plugin",
    "completion",
)
"""In the order of the help."""
_MODULES: Final = {"scheduler": "scheduler_command", "plugin": "plugin_command", "replay": "replay_command"}
"""The modules of commands whose names other modules have."""
_WRITTEN_FOR: Final = {"version": "--version", "why": "explain", "describe": "explain"}
"""What to write for a command that other programs have."""
_BAD_INPUT: Final = 2
_INTERRUPTED: Final = 130
_NO_FILES: Final = (errno.EMFILE, errno.ENFILE)


class _Commands(Mapping[str, click.Command]):
    """Name -> command; looking one up loads its module."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in _COMMANDS:
            raise KeyError(name)
        command: click.Command = getattr(import_module(f"kubesched.cli.{_MODULES.get(name, name)}"), name)
        return with_general_options(command, lambda callback: with_own_output(with_checked_usage(callback)))

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class _Main(click.Group):
    """A group that reports every mistake of a user in one message, without a stack trace."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the help."""
        return list(self.commands)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and, in standalone mode, end the process with its exit code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        words = sys.argv[1:] if args is None else args
        with with_json_log(words):
            return self._run(words, prog_name, complete_var, **extra)

    def _run(self, args: Sequence[str], prog_name: str | None, complete_var: str | None, **extra: Any) -> NoReturn:
        try:
            with checked_output():
                code = super().main(args, prog_name or program_name(), complete_var, False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx is not None else program_name()
            notes = getattr(error, "__notes__", [])
            message = "; ".join([error.format_message().removesuffix("." if notes else ""), *notes])
            _end(f"{message}\n  Try: {command} --help", error.exit_code)
        except click.ClickException as error:
            _end(error.format_message(), error.exit_code)
        except KubeschedError as error:
            _end(str(error), _BAD_INPUT)
        except click.Abort:
            sys.exit(_INTERRUPTED)
        except (OSError, MemoryError) as error:
            _end(_refused_by_system(error), _BAD_INPUT)
        sys.exit(code if isinstance(code, int) else 0)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The description, with the name that the user types."""
        shown = copy(self)
        shown.help = as_typed(self.help or "")
        super(_Main, shown).format_help_text(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; suggest one for a word that other programs have for it."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            error = click.UsageError(f"No such command {args[0]!r}.", ctx)
            if advice := _meant_by(args, ctx.command_path):
                error.add_note(advice)
            raise error from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. With --debug, print where its error was raised."""
        try:
            return super().invoke(ctx)
        except (KubeschedError, click.ClickException, OSError, MemoryError) as error:
            if is_debugging(ctx) and not isinstance(error, click.UsageError):
                _print_traceback(error)
            raise


def _meant_by(words: Sequence[str], program: str) -> str:
    """What to write in the place of a command that does not exist; empty where nothing is near."""
    word, *others = words
    if word == "help":
        named = [other for other in others if not other.startswith("-")]
        return f"write `{' '.join([program, *named])} --help`"
    if option := _WRITTEN_FOR.get(word):
        return f"write `{program} {option}`"
    return did_you_mean(word, _COMMANDS)


def _refused_by_system(error: OSError | MemoryError) -> str:
    """A file, a socket or memory that the system does not give, and that no other message is about."""
    if isinstance(error, MemoryError):
        return "the memory is full; kubesched needs more for this input, or a smaller input"
    where = f"{error.filename}: " if error.filename else ""
    advice = "; allow more with `ulimit -n`" if error.errno in _NO_FILES else ""
    return f"{where}{error.strerror or error}{advice}"


def _print_traceback(error: Exception) -> None:
    if (log := json_log()) is not None:
        log.log(logging.DEBUG, "the error was raised here", error, logger="kubesched")
    else:
        print_text("".join(traceback.format_exception(error)), is_error=True, nl=False)


def _end(message: str, code: int) -> NoReturn:
    if (log := json_log()) is not None:
        log.log(logging.ERROR, message, logger="kubesched")
        sys.exit(code)
    try:
        print_text(error_message(message), is_error=True)
    except OSError:  # the exit code has to tell
        discard_the_rest(sys.stderr)
    sys.exit(code)


@click.group(
    "kubesched",
    cls=_Main,
    commands=_Commands(),
    params=list(GENERAL),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@version_option
def main() -> None:
    """kube-scheduler's decisions in Python: where pods go, and why.

    Without a SNAPSHOT, a command reads the cluster of the current kubeconfig context. A SNAPSHOT is a file that
    `kubesched snapshot` or kubectl writes:

    \b
      kubesched snapshot -o cluster.json.gz
      kubesched simulate cluster.json.gz
      kubesched explain cluster.json.gz shop/web-7

    \b
    With kubectl:
      kubectl get -A -o json > cluster.json \\
        nodes,pods,ns,svc,rc,deploy,rs,sts,pdb,pc,pv,pvc,sc,jobs,csinodes,csidrivers,csistoragecapacities,volumeattachments,runtimeclasses,limits,quota,hpa

    Exit codes: 0 success; 1 a check you asked for failed; 2 invalid input; 130 interrupted.
    """  # noqa: D301
