"""Decodes plugin arguments from `pluginConfig` or a separate file into the Args class of each plugin."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubesched.config.defaults import ARGS_PLUGINS, DEFAULT_PLUGINS
from kubesched.config.findings import Finding, ReadingStage, error_finding
from kubesched.config.known_since import ignores_arguments, later_fields
from kubesched.config.plugin_args import PluginArgs
from kubesched.config.strict import convert, select_known
from kubesched.config.type_meta import API_VERSION, GROUP, KINDS, UNREADABLE, check_registered, take_type_meta
from kubesched.documents import shorten
from kubesched.errors import ConfigError
from kubesched.release import DEFAULT_RELEASE, Release

ArgsTypes = Mapping[str, type[PluginArgs]]
"""The Args class of every plugin that is known, by the plugin's name."""


def decode_args(
    name: str, document: Any, args_types: ArgsTypes, release: Release = DEFAULT_RELEASE
) -> tuple[PluginArgs | bytes | None, list[Finding]]:
    """Make the arguments of a plain value; a plugin without an args type gets them as JSON.

    Returns: the arguments of what has the right types, and findings of the stages ARGS and FIELDS; their paths begin in
        the document.
    """
    if not _is_typed(name, args_types, release):
        return (None if document is None else msgspec.json.encode(document)), []
    cls = args_types[name]
    body, findings = _object(name, {} if document is None else document, release)
    later = later_fields(release) if name in ARGS_PLUGINS else {}
    fields, unknown = select_known(body, cls, later)
    args, wrong = convert(fields, cls)
    findings += [*unknown, *(_of_plugin(finding, name) for finding in wrong)]
    if args is None:
        text, *_ = findings[-1].printed  # about all of them
        return None, [*findings[:-1], msgspec.structs.replace(findings[-1], path="", message=text)]
    try:
        return args.with_defaults(), findings
    except ConfigError as error:
        error = ConfigError(f"decoding args for plugin {name}: {error}")
        return None, [*findings, error_finding("wrong-args", "", error, ReadingStage.ARGS)]


def has_args_kind(name: str, args_types: ArgsTypes, release: Release) -> bool:
    """Whether the plugin is one of those with a kind of arguments in kube-scheduler's own group."""
    return name in ARGS_PLUGINS and name in args_types and not ignores_arguments(name, release)


def _is_typed(name: str, args_types: ArgsTypes, release: Release) -> bool:
    """Whether arguments are read. False for in-tree plugins that have no Args kind: their arguments are ignored."""
    is_in_tree = name in DEFAULT_PLUGINS.enabled_names
    return has_args_kind(name, args_types, release) or (name in args_types and not is_in_tree)


def _of_plugin(finding: Finding, name: str) -> Finding:
    """A value of a wrong type among the arguments of a plugin."""
    text, *helps = finding.lines
    printed = (f"decoding args for plugin {name}: {text}", *helps)
    return msgspec.structs.replace(finding, stage=ReadingStage.ARGS, printed=printed)


def _object(name: str, document: Any, release: Release) -> tuple[dict[str, Any], list[Finding]]:
    """The fields alone; apiVersion and kind of a plugin that has a kind are optional, and have to be its own."""
    has_kind = name in ARGS_PLUGINS
    if not isinstance(document, dict):
        decoding, text = f"decoding args for plugin {name}: ", f"expected an object, found {shorten(document)}"
        printed = f"{decoding}{UNREADABLE if has_kind else ''}{text}"
        return {}, [Finding("wrong-type", "", f"{decoding}{text}", stage=ReadingStage.ARGS, printed=(printed,))]
    try:
        return _without_kind(name, document, release) if has_kind else document, []
    except ConfigError as error:
        kind = document.get("kind")
        is_version = "is registered for version" in str(error) and kind in (None, "", *KINDS)
        finding = error_finding("wrong-args", "apiVersion" if is_version else "kind", error, ReadingStage.ARGS)
        fields = {key: value for key, value in document.items() if key not in ("kind", "apiVersion")}
        return fields if is_version else {}, [finding]


def _without_kind(name: str, document: dict[str, Any], release: Release) -> dict[str, Any]:
    expected = f"{name}Args"
    try:
        kind, version, body = take_type_meta(document)
        check_registered(kind or expected, version or API_VERSION, release)
    except ConfigError as error:
        raise ConfigError(f"decoding args for plugin {name}: {error}") from None
    if kind and kind != expected:
        raise ConfigError(f"args for plugin {name} were not of type {expected}.{GROUP}, got {kind}.{GROUP}")
    return body
