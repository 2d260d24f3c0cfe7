"""The options that say what a command is about, as one value: the cluster, what decides in it, which ties are broken.

They also give the command after `Next:`, which is about the same.
"""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from click.core import ParameterSource

from kubesched.cli.general_options import GENERAL
from kubesched.cli.parameters import Command, Decorator, gathered, option_words
from kubesched.cli.standard_streams import STANDARD_STREAM
from kubesched.cli.targets import split_targets

if TYPE_CHECKING:
    from kubesched.scheduler import TieBreak

_NO_ARGS: Final[Mapping[str, str]] = {}
_FIRST: Final = "first"
_NOT_THE_ANSWER: Final = ("output", "write", "fail_on_harm", "fail_on_pending", *(option.name for option in GENERAL))
"""Options about what is printed and how the command ends."""


class SetupOptions(NamedTuple):
    """What decides: --config, --plugin, --plugin-args, --skip-plugin, --kubernetes-version, --feature-gates."""

    config: Path | None = None
    references: tuple[str, ...] = ()
    plugin_args: Mapping[str, str] = _NO_ARGS
    skipped: tuple[str, ...] = ()
    kubernetes_version: str | None = None
    feature_gates: tuple[str, ...] = ()

    def given(self) -> dict[str, Any]:
        """The options for the command line of another command, as `option_words` takes them."""
        return {
            "--config": self.config,
            "--plugin": self.references,
            "--plugin-args": self.plugin_args,
            "--kubernetes-version": self.kubernetes_version,
            "--feature-gates": self.feature_gates,
        }


class InputOptions(NamedTuple):
    """What a command is about.

    Attributes:
        snapshots: the files of the cluster; empty for the live one.
        names: the other arguments, where a command takes names among its SNAPSHOTs.
        manifests: new objects.
        kubeconfig, context: which cluster it is without a snapshot; None where they are not given.
        extenders: --extenders.
        seed: None where it is not given.
    """

    snapshots: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    skip_bad_objects: bool = False
    kubeconfig: str | None = None
    context: str | None = None
    setup: SetupOptions = SetupOptions()
    extenders: str = "skip"
    tie_break: str = _FIRST
    seed: int | None = None

    @property
    def ties(self) -> "TieBreak":
        """Which of equally good nodes is taken."""
        from kubesched.scheduler import TieBreak

        return TieBreak(self.tie_break)

    @property
    def cluster(self) -> str:
        """Where the objects come from, in words; empty for standard input and for the current context."""
        files = [Path(one).name for one in self.snapshots if one != STANDARD_STREAM]
        return ", ".join(files) or (f"context {self.context}" if self.context and not self.snapshots else "")

    def files(self) -> list[str]:
        """Every file that is read."""
        config = self.setup.config
        return [*self.snapshots, *self.manifests, *([str(config)] if config else [])]

    def next_command(self, command: str, *words: str, manifest_option: str = "--manifest", ties: bool = False) -> str:
        """A command that is about the same.

        Args:
            command: such as `explain`.
            words: what follows.
            manifest_option: by which the command takes the manifests.
            ties: whether it has --tie-break and --seed, which are repeated where they were given.
        Returns:
            `kubesched explain cluster.json --config b.yaml`; empty if standard input was read, because it is gone.
        """
        if STANDARD_STREAM in (*self.snapshots, *self.manifests):
            return ""
        options = {
            "--kubeconfig": self.kubeconfig,
            "--context": self.context,
            manifest_option: self.manifests,
            "--skip-bad-objects": self.skip_bad_objects,
            "--tie-break": self.tie_break if ties and self.tie_break != _FIRST else None,
            "--seed": self.seed if ties else None,
            **self.setup.given(),
            "--extenders": self.extenders if self.extenders == "call" else None,
        }
        return shlex.join(["kubesched", command, *self.snapshots, *option_words(options), *words])


_INPUTS: Final = (*InputOptions._fields, *SetupOptions._fields)
with_setup: Final = gathered("setup_options", SetupOptions)
"""Give a command --config, --plugin, --plugin-args and --skip-plugin as one value."""


def with_inputs(metavar: str = "") -> Decorator:
    """Give a command the options of `InputOptions` that it has as one value, `inputs`.

    Args:
        metavar: of its arguments, if there are names among the SNAPSHOTs.
    """

    def decorate(command: Command) -> Command:
        for param in getattr(command, "__click_params__", ()) if metavar else ():
            if param.name == "snapshots":
                param.metavar = metavar
        return gathered("inputs", _with_names if metavar else _inputs, _INPUTS)(command)

    return decorate


def _inputs(**others: Any) -> InputOptions:
    setup = SetupOptions(**{name: others.pop(name) for name in SetupOptions._fields if name in others})
    return InputOptions(setup=setup, **others)


def _with_names(*, snapshots: tuple[str, ...], **others: Any) -> InputOptions:
    targets = split_targets(snapshots)
    return _inputs(snapshots=targets.snapshots, names=targets.names, **others)


def same_command() -> str:
    """The command line that runs now, without the options about what is printed and how the command ends.

    Returns: empty if standard input was read, because it is gone.
    """
    context = click.get_current_context()
    if STANDARD_STREAM in (*context.params["snapshots"], *context.params["manifests"]):
        return ""
    command, snapshots = context.command.name or "", context.params["snapshots"]
    words = given_words(lambda name: name not in _NOT_THE_ANSWER)
    return shlex.join(["kubesched", command, *snapshots, *words])


def given_words(is_meant: Callable[[str], bool]) -> list[str]:
    """Options of the command line that runs now, as they are given.

    Args:
        is_meant: whether an option is to be among them, by the name of its parameter.
    """
    context = click.get_current_context()
    given = {
        option.opts[0]: _as_given(option, context.params[option.name or ""])
        for option in context.command.params
        if isinstance(option, click.Option) and is_meant(option.name or "")
        if context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    }
    return option_words(given)


def _as_given(option: click.Option, value: Any) -> Any:
    """The value of an option; True where it was given without one."""
    return [text == option.flag_value or text for text in value] if isinstance(value, tuple) else value
