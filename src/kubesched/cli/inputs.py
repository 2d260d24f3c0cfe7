"""The options that say what a command is about, as one value: the cluster, what decides in it, which ties are broken.

They also give the command after `Next:`, which is about the same.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from click.core import ParameterSource

from kubesched.cli.general_options import GENERAL
from kubesched.cli.parameters import Command, Decorator, gathered
from kubesched.cli.standard_streams import STANDARD_STREAM
from kubesched.cli.targets import split_targets

if TYPE_CHECKING:
    from kubesched.scheduler import TieBreak
    from kubesched.setup import Setup

_NO_ARGS: Final[Mapping[str, str]] = {}
_FIRST: Final = "first"
_NOT_THE_ANSWER: Final = ("output", "fail_on_harm", "fail_on_pending", *(option.name for option in GENERAL))
"""Options about what is printed and how the command ends."""


class SetupOptions(NamedTuple):
    """What decides: --config, --plugin, --plugin-args, --skip-plugin."""

    config: Path | None = None
    references: tuple[str, ...] = ()
    plugin_args: Mapping[str, str] = _NO_ARGS
    skipped: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """The same options on the command line of another command."""
        return [
            *_repeated("--config", [self.config] if self.config else []),
            *_repeated("--plugin", self.references),
            *_repeated("--plugin-args", [f"{name}={file}" for name, file in self.plugin_args.items()]),
        ]

    def beside_kube_scheduler(self) -> "Setup":
        """What decides where kube-scheduler runs the default plugins itself.

        Raises:
            InputError, ConfigError, PluginDefinitionError: as from `set_up`.
        """
        from kubesched.setup import set_up

        return set_up(self.config, self.references, self.plugin_args, default_plugins=False, skipped=self.skipped)


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
        options = [
            *_repeated("--kubeconfig", filter(None, [self.kubeconfig])),
            *_repeated("--context", filter(None, [self.context])),
            *_repeated(manifest_option, self.manifests),
            *(["--skip-bad-objects"] if self.skip_bad_objects else []),
            *_repeated("--tie-break", [self.tie_break] if ties and self.tie_break != _FIRST else []),
            *_repeated("--seed", [self.seed] if ties and self.seed is not None else []),
            *self.setup.words(),
            *_repeated("--extenders", ["call"] if self.extenders == "call" else []),
        ]
        return shlex.join(["kubesched", command, *self.snapshots, *options, *words])


def _repeated(option: str, values: Iterable[object]) -> list[str]:
    return [word for value in values for word in (option, str(value))]


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
    options = (param for param in context.command.params if isinstance(param, click.Option))
    given = [
        param for param in options if context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
    ]
    words = [word for option in given if option.name not in _NOT_THE_ANSWER for word in _given(context, option)]
    return shlex.join(["kubesched", context.command.name or "", *context.params["snapshots"], *words])


def _given(context: click.Context, option: click.Option) -> Iterator[str]:
    """An option as it was given."""
    value = context.params[option.name or ""]
    name = option.opts[0]
    if option.is_flag:
        yield name
        return
    if isinstance(value, Mapping):
        value = [f"{key}={text}" for key, text in value.items()]
    for text in value if option.multiple else [value]:
        yield from [name] if text == option.flag_value else [name, str(text)]
