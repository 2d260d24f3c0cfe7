"""Reads configurations of versions before v1: finds the Policy that one names, and words that one was converted."""

from collections.abc import Callable, Iterable
from pathlib import Path

from kubesched.config import ConfigSource, Readable, is_meant_as_configuration, read_text
from kubesched.documents import read_file, write_yaml
from kubesched.errors import ConfigError, InputError
from kubesched.legacy import Conversion, OlderVersions, convert_configuration
from kubesched.release import Release
from kubesched.setup.configuration_files import local_places
from kubesched.setup.registry import PluginLike, find_plugins


def older_versions(source: object, on_conversion: Callable[[Conversion], None]) -> OlderVersions:
    """How to read a configuration that may be of an older version.

    Args:
        source: its file if it is a Path or a ConfigSource. A Policy that is not where the configuration says is read
            from its folder.
        on_conversion: is called with the conversion.
    """
    file = Path(source.file) if isinstance(source, ConfigSource) else source
    folder = file.parent if isinstance(file, Path) else Path()
    config_maps = source.config_maps if isinstance(source, ConfigSource) else ()
    files = source.named_files if isinstance(source, ConfigSource) else {}
    return OlderVersions(
        lambda path: files[path] if path in files else _read_policy(path, folder), on_conversion, config_maps
    )


def convert_text(
    source: Readable | bytes, plugins: Iterable[PluginLike] = (), *, kube_scheduler: bool
) -> tuple[str, bool]:
    """Write a configuration of any version as v1, with comments on what has changed.

    Args:
        source: a file, or the text itself.
        kube_scheduler: whether it is for kube-scheduler v1.36, which has no legacy plugins.
    Returns: YAML, or the text itself if it is v1 already; and whether something has no equivalent any more.
    Raises:
        InputError, ConfigError, PluginDefinitionError: as from load_configuration.
    """
    conversion = convert_configuration(
        source,
        older_versions(source, lambda _: None),
        args_types=find_plugins(plugins).args_types,
        kube_scheduler=kube_scheduler,
    )
    if conversion.is_unchanged:
        return read_text(source), False
    reader = "kube-scheduler" if kube_scheduler else "kubesched"
    decide = "its plugins decide as in the version of Kubernetes that reads it"
    heading = [f"Converted from {conversion.origin} for {reader}; {decide}."]
    comments: dict[str, str] = {}
    for notice in conversion.notices:
        if notice.path:
            comments[notice.path] = (
                f"{comments[notice.path]}\n{notice.text}" if notice.path in comments else notice.text
            )
        else:
            heading.append(notice.text)
    header = "".join(f"# {line}\n" for line in heading)
    return header + write_yaml(conversion.document, comments), conversion.is_lossy


def conversion_words(conversion: Conversion, source: object, release: Release) -> str:
    """The line about a conversion, however much has changed.

    Args:
        release: whose rules decide.
    """
    file = source.file if isinstance(source, ConfigSource) else source if isinstance(source, Path) else None
    decide = f"its plugins decide as in {release}"
    see = f"kubesched config convert --for kubesched {file or 'FILE'}"
    return f"{file or 'configuration'}: converted from {conversion.origin}; {decide}. See: {see}"


def _read_policy(path: str, folder: Path) -> str:
    """The text of a Policy file.

    Raises:
        ConfigError: it is not there, in upstream's words, or holds no Policy.
        InputError: it cannot be read.
    """
    places = local_places(path, folder)
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise ConfigError(f"missing policy config file {path}\n  {_looked_for(path, places)}")
    try:
        text = read_file(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"couldn't read policy config: {file}: not UTF-8") from None
    except OSError as error:
        raise InputError(f"couldn't read policy config: {file}: {error}") from error
    if not is_meant_as_configuration(text):
        raise ConfigError(f"couldn't read policy config: {file} holds no Policy")
    return text


def _looked_for(path: str, places: tuple[Path, ...]) -> str:
    looked = f"looked for {' and '.join(map(str, places))}" if places else "it was not looked for"
    if Path(path) in places:
        return looked
    return f"{looked}: files outside the folder of the configuration are not read; copy it there"
