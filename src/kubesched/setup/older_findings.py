"""What is wrong with a configuration of an older version beside its version: what keeps it from becoming a valid v1."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kubesched.config import (
    ConfigSource,
    Finding,
    Written,
    entry_path,
    parse_value,
    read_written,
    split_error,
    written_entries,
)
from kubesched.documents import write_yaml
from kubesched.errors import ConfigError, InputError
from kubesched.legacy import convert_configuration
from kubesched.setup.older_versions import older_versions
from kubesched.setup.registry import Registry

_ENTRY: Final = re.compile(r"profiles\[(\d+)\]\.(plugins\.\w+\.enabled|pluginConfig)\[(\d+)\](.*)")

PluginFindings = Callable[[Written, Registry], Iterator[Finding]]


def older_findings(
    source: ConfigSource,
    registry: Registry,
    with_legacy: Registry,
    plugin_findings: PluginFindings,
    *,
    with_advice: bool = False,
) -> Iterator[Finding]:
    """Find what keeps a configuration of an older version from being converted, and what is wrong with the result.

    Args:
        registry: the plugins of the scheduler that is to read the result.
        with_legacy: these, and the ones that kube-scheduler no longer has.
        plugin_findings: finds what is wrong with the plugins of a v1 configuration.
        with_advice: whether warnings and notes count, not only errors.
    """
    text, older = source.text, older_versions(source, lambda _: None)
    try:
        original = parse_value(text).value
        document = older.convert(original, text).document
        found = list(_found_in(document, with_legacy, source, plugin_findings, with_advice=with_advice))
        if not found and registry is not with_legacy:  # only what is valid can do without legacy plugins
            args_types = with_legacy.args_types
            document = convert_configuration(source, older, args_types=args_types, kube_scheduler=True).document
            found = list(_found_in(document, registry, source, plugin_findings, with_advice=with_advice))
    except (ConfigError, InputError) as error:
        yield _not_convertible(error)
        return
    yield from (_in_original(finding, document, original) for finding in found)


def _not_convertible(error: Exception) -> Finding:
    message, advice = split_error(ConfigError(str(error)))
    path, sign, _ = advice.partition(": ")
    return Finding("not-convertible", path if sign and " " not in path else "", message, advice)


def _found_in(
    document: dict[str, Any],
    registry: Registry,
    source: ConfigSource,
    plugin_findings: PluginFindings,
    *,
    with_advice: bool,
) -> Iterator[Finding]:
    written = read_written(write_yaml(document), registry.args_types, source.flags)
    findings = (*written.findings, *plugin_findings(written, registry))
    yield from (finding for finding in findings if with_advice or finding.severity == "error")


def _in_original(finding: Finding, document: dict[str, Any], original: Mapping[str, Any]) -> Finding:
    """The finding at the same field of the older version, where the lists of plugins are shorter."""
    path = finding.path
    if entry := _ENTRY.fullmatch(path):
        number, field, index, rest = entry.groups()
        names = [name for _, name, _ in written_entries(document["profiles"][int(number)], field)]
        profile = (original.get("profiles") or [original])[int(number)]
        own = entry_path(profile, field, names[int(index)])
        path = f"profiles[{number}].{own}{rest}" if own else f"profiles[{number}].{field}"
    if "profiles" not in original:  # v1alpha1 has one, at the top
        path = path.removeprefix("profiles[0].")
    return msgspec.structs.replace(finding, path=path, line=0, column=0)
