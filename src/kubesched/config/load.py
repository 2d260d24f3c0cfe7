"""Loads a complete and valid KubeSchedulerConfiguration from a file, text or object."""

from collections.abc import Mapping
from typing import Final, Protocol, runtime_checkable

from kubesched.config.decode_args import decode_args
from kubesched.config.findings import ReadingStage, error_of
from kubesched.config.parsed_text import parse_value
from kubesched.config.plugin_args import PluginArgs
from kubesched.config.stages import Reading, ToV1, only_v1, read_stages, repeated_keys
from kubesched.config.type_meta import API_VERSION, KIND
from kubesched.config.types import KubeSchedulerConfiguration, LeaderElectionFlags
from kubesched.config.validation import validate
from kubesched.documents import OpenableFile, read_file
from kubesched.errors import ConfigError, InputError
from kubesched.release import DEFAULT_RELEASE, Release

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
    release: Release = DEFAULT_RELEASE,
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
            refused, as kube-scheduler does.
        release: the version whose fields, defaults and words count.
    Raises:
        InputError: the file cannot be read.
        ConfigError: the configuration is not valid. The text begins with kube-scheduler's own where it has one; our
            help follows on indented lines.
    """
    text = f"apiVersion: {API_VERSION}\nkind: {KIND}\n" if source is None else read_text(source)
    for stage, reading in read_stages(Reading(text, args_types, flags, default_plugins, to_v1, release)):
        if findings := [finding for finding in reading.findings if finding.stage <= stage]:
            is_of_flags = stage is ReadingStage.VALUES and not validate(reading.without_flags)
            raise _in_source(error_of(findings), None if is_of_flags else source)
    return reading.configuration


def _in_source(error: ConfigError, source: object) -> ConfigError:
    """The error with the file that it is about."""
    return ConfigError(f"{error}\n  in {source}") if isinstance(source, Readable) else error


def load_args(
    source: str | bytes | Readable,
    name: str,
    *,
    args_types: Mapping[str, type[PluginArgs]],
    release: Release = DEFAULT_RELEASE,
) -> PluginArgs | bytes | None:
    """Read the arguments of one plugin from a separate text, with defaults; a profile's construction checks them.

    Args:
        source: YAML or JSON, as text or as a file: the value of `args` in a configuration.
        name: the plugin.
        args_types, release: as for `load_configuration`.
    Returns: as in `PluginConfig.args`.
    Raises:
        InputError: the file cannot be read.
        ConfigError: the text is not the arguments of this plugin.
    """
    text = read_text(source)
    try:
        parsed = parse_value(text)
    except ConfigError as error:
        raise _in_source(error, source) from None
    args, wrong = decode_args(name, parsed.value, args_types, release)
    if findings := (*repeated_keys(parsed), *wrong):
        is_strict = all(finding.stage is ReadingStage.FIELDS for finding in findings)
        prefix = f"decoding args for plugin {name}: " if is_strict else ""
        raise _in_source(error_of(findings, prefix), source)
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
