"""Loads a complete and valid KubeSchedulerConfiguration from a file, text or object."""

from collections.abc import Mapping
from typing import Final, Protocol, runtime_checkable

import msgspec

from kubesched.config.args import PluginArgs
from kubesched.config.decode import ToV1, decode_configuration, only_v1
from kubesched.config.decode_args import decode_args
from kubesched.config.documents import parse_value
from kubesched.config.field_errors import config_error
from kubesched.config.strict import strict_error, yaml_faults
from kubesched.config.type_meta import API_VERSION, KIND
from kubesched.config.types import KubeSchedulerConfiguration, LeaderElectionFlags
from kubesched.config.validation import validate
from kubesched.documents import OpenableFile, read_file
from kubesched.errors import ConfigError, InputError

_NO_FLAGS: Final = LeaderElectionFlags()


@runtime_checkable
class Readable(Protocol):
    """A file, such as a pathlib.Path; its text names it in messages."""

    def read_bytes(self) -> bytes:
        """The whole content."""


def load_configuration(
    source: str | bytes | Readable | None,
    *,
    args_types: Mapping[str, type[PluginArgs]],
    default_plugins: bool = True,
    flags: LeaderElectionFlags = _NO_FLAGS,
    to_v1: ToV1 = only_v1,
) -> KubeSchedulerConfiguration:
    """Read a KubeSchedulerConfiguration, fill in upstream's defaults, and check it.

    Args:
        source: YAML or JSON, as text or as a file; None means the default configuration.
        args_types: the Args class of every plugin that is known, by the plugin's name. Arguments of other plugins are
            kept as they are. Only the names that the configuration uses are looked up.
        default_plugins: whether profiles start with upstream's default plugins; without them they have what the file
            enables.
        flags: what the command line says about leader election.
        to_v1: makes a v1 document of one of an older version, and takes the whole text, too; without it, they are
            refused, as kube-scheduler v1.36 does.
    Raises:
        InputError: the file cannot be read.
        ConfigError: the configuration is not valid. The text begins with kube-scheduler's own where it has one; our
            help follows on indented lines.
    """
    text = f"apiVersion: {API_VERSION}\nkind: {KIND}\n" if source is None else read_text(source)
    try:
        written = decode_configuration(
            text,
            args_types,
            default_plugins=default_plugins,
            lease_name=flags.resource_name,
            to_v1=to_v1,
        )
        election = msgspec.structs.replace(written.leader_election, **flags.given)
        configuration = msgspec.structs.replace(written, leader_election=election)
        errors = validate(configuration, flags)
        if errors and validate(written):
            raise config_error(errors)
    except ConfigError as error:
        if isinstance(source, Readable):
            raise ConfigError(f"{error}\n  in {source}") from None
        raise
    if errors:  # by flags: the file alone is valid
        raise config_error(errors)
    return configuration


def load_args(
    source: str | bytes | Readable, name: str, *, args_types: Mapping[str, type[PluginArgs]]
) -> PluginArgs | bytes | None:
    """Read the arguments of one plugin from a separate text, with defaults; a profile's construction checks them.

    Args:
        source: YAML or JSON, as text or as a file: the value of `args` in a configuration.
        name: the plugin.
        args_types: as for `load_configuration`.
    Returns: as in `PluginConfig.args`.
    Raises:
        InputError: the file cannot be read.
        ConfigError: the text is not the arguments of this plugin.
    """
    text = read_text(source)
    try:
        parsed = parse_value(text)
        args, faults = decode_args(name, parsed.value, args_types)
        faults = [*yaml_faults(parsed), *faults]
        if faults:
            raise strict_error(faults, f"decoding args for plugin {name}: ")
    except ConfigError as error:
        if isinstance(source, Readable):
            raise ConfigError(f"{error}\n  in {source}") from None
        raise
    return args


def read_text(source: str | bytes | Readable) -> str:
    """The text of a configuration.

    Raises:
        InputError: the file cannot be read, or has something else than UTF-8 text.
    """
    if isinstance(source, str):
        return source
    try:
        return _bytes_of(source).decode("utf-8-sig")
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"open {source!s}: {why[:1].lower()}{why[1:]}") from error
    except UnicodeDecodeError as error:
        name = f"{source!s}: " if isinstance(source, Readable) else ""
        raise InputError(f"{name}not UTF-8 text: byte {error.start} is not part of a character") from error


def _bytes_of(source: bytes | Readable) -> bytes:
    if isinstance(source, bytes):
        return source
    return read_file(source) if isinstance(source, OpenableFile) else source.read_bytes()
