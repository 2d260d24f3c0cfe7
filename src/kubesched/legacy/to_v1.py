"""Reads configurations of any version as v1; the conversions are imported when a document is of an older version."""

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import msgspec

from kubesched.config import API_VERSION, PluginArgs, Readable, load_configuration, read_text
from kubesched.errors import ConfigError
from kubesched.legacy.conversion import Conversion, PolicySources


class OlderVersions(msgspec.Struct, frozen=True):
    """How configurations of versions before v1 are read.

    Attributes:
        read_file: gives the text of a Policy that a v1alpha1 configuration names.
        on_conversion: is called with each conversion.
        config_maps: ConfigMaps that were given together with the configuration; one may hold its Policy.
    """

    read_file: Callable[[str], str]
    on_conversion: Callable[[Conversion], None]
    config_maps: tuple[Any, ...] = ()

    def to_v1(self, document: Any, text: str) -> Any:
        """The document, converted if it is of an older version.

        Args:
            text: the whole file.
        Raises:
            ConfigError: it is not valid in its own version.
        """
        if not is_older(document):
            return document
        conversion = self.convert(document, text)
        self.on_conversion(conversion)
        return conversion.document

    def convert(self, document: Any, text: str) -> Conversion:
        """The conversion of a document of an older version; as `to_v1`."""
        conversion: Conversion = _dialects().convert_older(
            document, PolicySources(text, self.read_file, self.config_maps)
        )
        return conversion


def is_older(document: Any) -> bool:
    """Whether this is a configuration of a version before v1, or a Policy."""
    if not isinstance(document, dict) or document.get("apiVersion") == API_VERSION:
        return False
    return bool(_dialects().is_older(document))


def convert_configuration(
    source: str | bytes | Readable,
    older: OlderVersions,
    *,
    args_types: Mapping[str, type[PluginArgs]],
    kube_scheduler: bool,
) -> Conversion:
    """Make a valid v1 document of a configuration of any version.

    Args:
        older: how an older version is read; its `on_conversion` is not called.
        args_types: as for `load_configuration`.
        kube_scheduler: whether the document is for kube-scheduler v1.36, which has no legacy plugins.
    Returns: a conversion without notices whose origin is v1 if the document is v1 already and nothing is to do.
    Raises:
        InputError: the file cannot be read.
        ConfigError: the configuration is not valid.
    """
    text = read_text(source)
    conversions = []

    def converted(document: Any, whole: str) -> Any:
        conversions.append(older.convert(document, whole) if is_older(document) else Conversion(API_VERSION, document))
        return conversions[0].document

    try:
        load_configuration(text, args_types=args_types, to_v1=converted)
        (conversion,) = conversions
        if kube_scheduler:
            changed, notices = _dialects().for_kube_scheduler(conversion.document, conversion.uses)
            conversion = Conversion(conversion.origin, changed, (*conversion.notices, *notices))
            load_configuration(text, args_types=args_types, to_v1=lambda _document, _whole: changed)
    except ConfigError as error:
        if isinstance(source, Readable):
            raise ConfigError(f"{error}\n  in {source}") from None
        raise
    return conversion


def _dialects() -> ModuleType:
    return importlib.import_module("kubesched.legacy.dialects")
