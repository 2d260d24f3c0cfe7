"""Decodes a configuration's text into a complete, but not yet validated, KubeSchedulerConfiguration.

The order of work is kube-scheduler's: kind and version, types, the arguments of each plugin, fields that may not be
there, defaults.
"""

from collections.abc import Callable
from itertools import takewhile
from typing import Any, Final

import msgspec

from kubesched.config.decode_args import ArgsTypes, decode_args, has_args_kind
from kubesched.config.defaults import DEFAULT_PLUGINS, DEFAULT_SCHEDULER_NAME, with_defaults
from kubesched.config.documents import parse_document
from kubesched.config.strict import StrictFault, convert, select_known, strict_error, yaml_faults
from kubesched.config.type_meta import API_VERSION, KIND, advice_on_missing, check_registered, take_type_meta
from kubesched.config.types import KubeSchedulerConfiguration, KubeSchedulerProfile, PluginConfig, Plugins
from kubesched.errors import ConfigError

_MAX_SHOWN: Final = 200  # characters of a text that is not a configuration; upstream shows all of it
_MAX_LINES: Final = 3


ToV1 = Callable[[Any, str], Any]
"""Makes a v1 document of one of any version; also takes the whole text."""


def only_v1(document: Any, text: str) -> Any:
    """Leave the document as it is, so that an older version is refused."""
    return document


def decode_configuration(
    text: str,
    args_types: ArgsTypes,
    *,
    default_plugins: bool = True,
    lease_name: str = "",
    to_v1: ToV1 = only_v1,
) -> KubeSchedulerConfiguration:
    """Read the text and fill in the defaults.

    Args:
        to_v1: makes a v1 document of one of an older version, and takes the whole text, too.
        default_plugins: whether the defaults have plugins, too.
        lease_name: what an absent `resourceName` stands for, if not kube-scheduler's.
    Raises:
        ConfigError: the text is not a strictly well-formed configuration.
    """
    parsed = parse_document(text)
    known, unknown = select_known(body_of(to_v1(parsed.value, text), text), KubeSchedulerConfiguration)
    args = take_args(known)
    default_from_absence(known, lease_name)
    configuration = convert(known, KubeSchedulerConfiguration)
    profiles, wrong_args = _with_args(configuration.profiles, args, args_types)
    faults = [*yaml_faults(parsed), *unknown, *wrong_args]
    if faults:
        raise strict_error(faults)
    return complete(
        msgspec.structs.replace(configuration, profiles=profiles), args_types, default_plugins=default_plugins
    )


def complete(
    configuration: KubeSchedulerConfiguration, args_types: ArgsTypes, *, default_plugins: bool = True
) -> KubeSchedulerConfiguration:
    """Fill in the defaults of a configuration as it is written, with its arguments."""
    filled = with_defaults(configuration, DEFAULT_PLUGINS if default_plugins else Plugins())
    return msgspec.structs.replace(
        filled, profiles=tuple(_with_default_args(profile, args_types) for profile in filled.profiles)
    )


def body_of(value: Any, text: str) -> dict[str, Any]:
    """Take the fields of a document, after a look at its kind and version.

    Raises:
        ConfigError: it is not a KubeSchedulerConfiguration v1.
    """
    kind, version, body = take_type_meta({} if value is None else value)
    if not kind or not version:
        missing = "apiVersion" if kind else "Kind"
        advice = advice_on_missing(kind, version, body)
        raise ConfigError(f"Object '{missing}' is missing in '{_begin_of(text)}'\n  {advice}")
    check_registered(kind, version)
    if kind != KIND:
        advice = "put arguments into a configuration, in profiles[].pluginConfig[].args"
        raise ConfigError(f"couldn't decode as {KIND}, got {API_VERSION}, Kind={kind}: \n  {advice}")
    return body


def _begin_of(text: str) -> str:
    """The first lines of a text, up to one that is indented: in a message, such a line is help."""
    lines = text.splitlines(keepends=True)[:_MAX_LINES]
    begin = "".join(takewhile(lambda line: not line.startswith("  ") or line is lines[0], lines))[:_MAX_SHOWN]
    return text if begin == text else f"{begin.rstrip()}..."


def take_args(body: dict[str, Any]) -> dict[tuple[int, int], Any]:
    """Take the arguments out of the document, by the numbers of profile and entry: each plugin reads its own."""
    args = {}
    for i, profile in enumerate(_list_in(body, "profiles")):
        for j, entry in enumerate(_list_in(profile, "pluginConfig")):
            if isinstance(entry, dict) and "args" in entry:
                args[i, j] = entry.pop("args")
    return args


def _list_in(value: Any, field: str) -> list[Any]:
    entries = value.get(field) if isinstance(value, dict) else None
    return entries if isinstance(entries, list) else []


def default_from_absence(body: dict[str, Any], lease_name: str) -> None:
    """Fill in what depends on a field being absent, which the structs no longer know."""
    election = body.get("leaderElection")
    if lease_name and (election is None or (isinstance(election, dict) and not election.get("resourceName"))):
        body["leaderElection"] = {**(election or {}), "resourceName": lease_name}
    body.setdefault("enableContentionProfiling", body.get("enableProfiling", True))
    if body.get("profiles", []) == []:
        body["profiles"] = [{}]
    profiles = _list_in(body, "profiles")
    if len(profiles) == 1 and isinstance(profiles[0], dict):
        profiles[0].setdefault("schedulerName", DEFAULT_SCHEDULER_NAME)


def _with_args(
    profiles: tuple[KubeSchedulerProfile, ...], documents: dict[tuple[int, int], Any], args_types: ArgsTypes
) -> tuple[tuple[KubeSchedulerProfile, ...], list[StrictFault]]:
    """Put the arguments into the profiles; the findings count after those of the configuration around them."""
    complete = []
    faults = []
    for i, profile in enumerate(profiles):
        entries = []
        for j, entry in enumerate(profile.plugin_config):
            where = f"profiles[{i}].pluginConfig[{j}]"
            try:
                args, wrong = decode_args(entry.name, documents.get((i, j)), args_types)
            except ConfigError as error:
                raise ConfigError(f"decoding .{where}: {error}") from None
            if wrong:
                faults.append(_located(wrong, where, entry.name))
            entries.append(PluginConfig(entry.name, args))
        complete.append(msgspec.structs.replace(profile, plugin_config=tuple(entries)))
    return tuple(complete), faults


def _located(faults: list[StrictFault], where: str, name: str) -> StrictFault:
    """What is wrong with the arguments of one plugin, as one finding about the configuration."""
    inner = f"decoding args for plugin {name}: strict decoding error: {', '.join(fault.text for fault in faults)}"
    lines = tuple(f"{where}.args.{line}" for fault in faults for line in fault.help)
    return StrictFault(f"decoding .{where}: strict decoding error: {inner}", lines)


def _with_default_args(profile: KubeSchedulerProfile, args_types: ArgsTypes) -> KubeSchedulerProfile:
    """Add arguments for the enabled plugins that have a kind of arguments and no entry, by name."""
    given = {entry.name for entry in profile.plugin_config}
    missing = [name for name in sorted(profile.plugins.enabled_names - given) if has_args_kind(name, args_types)]
    added = [PluginConfig(name, decode_args(name, None, args_types)[0]) for name in missing]
    return msgspec.structs.replace(profile, plugin_config=(*profile.plugin_config, *added))
