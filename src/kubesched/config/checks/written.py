"""Reads a configuration to its end, however many faults it has: each fault is a finding, the rest is judged further.

A value of a wrong type is left out, so its default is judged in its place; what that would find is not reported.
"""

import re
from typing import Any, Final

import msgspec

from kubesched.api import as_int64
from kubesched.config.args import PluginArgs
from kubesched.config.checks.rules import Finding
from kubesched.config.decode import body_of, complete, default_from_absence, take_args
from kubesched.config.decode_args import ArgsTypes, is_typed, without_kind
from kubesched.config.defaults import ARGS_PLUGINS
from kubesched.config.documents import parse_document
from kubesched.config.field_errors import FieldError, child
from kubesched.config.scalars import Duration
from kubesched.config.strict import StrictFault, convert_sound, select_known
from kubesched.config.type_meta import API_VERSION, KIND, KINDS
from kubesched.config.types import KubeSchedulerConfiguration, LeaderElectionFlags, PluginConfig
from kubesched.config.validation import validate
from kubesched.documents import Places, locate, shorten
from kubesched.errors import ConfigError

_NO_FLAGS: Final = LeaderElectionFlags()
_RULES_OF_FIELD_ERRORS: Final = {
    "Required value": "required-value",
    "Duplicate value": "duplicate-value",
    "Unsupported value": "unsupported-value",
    "Forbidden": "forbidden-value",
}


class Written(msgspec.Struct, frozen=True):
    """A configuration as somebody wrote it.

    Attributes:
        places: of its fields in the text.
        document: plain values; an empty object if the text has none.
        configuration: complete, of what could be decoded; None if the text is not a configuration of v1.
        findings: faults of the text, the fields and their values; not of the plugins.
        broken: paths of values that were left out.
    """

    places: Places
    document: dict[str, Any]
    configuration: KubeSchedulerConfiguration | None
    findings: tuple[Finding, ...]
    broken: frozenset[str] = frozenset()

    def is_broken(self, path: str) -> bool:
        """Whether a field is one that was left out, or is inside one."""
        return any(path == one or path.startswith((f"{one}.", f"{one}[")) for one in self.broken)


def read_written(text: str, args_types: ArgsTypes, flags: LeaderElectionFlags = _NO_FLAGS) -> Written:
    """Read a text, and find everything that is wrong with its fields.

    Args:
        flags: what the command line says about leader election.
    """
    places = locate(text)
    try:
        parsed = parse_document(text)
    except ConfigError as error:
        return Written(places, {}, None, (_syntax_finding(error, places),))
    findings = [ignored_document(place.line, place.column) for place in places.documents[1:2]]
    if parsed.duplicate_keys:
        findings += [
            Finding("duplicate-field", "", key.text, "the last value counts", key.line, key.column)
            for key in places.repeated_keys
        ]
    document = parsed.value if isinstance(parsed.value, dict) else {}
    body = _body(text, findings)
    if body is None:
        return Written(places, document, None, tuple(findings))
    return _read_body(body, Written(places, document, None, tuple(findings)), args_types, flags)


def ignored_document(line: int = 0, column: int = 0) -> Finding:
    """That another document of the file is not read.

    Args:
        line, column: where it begins, if that is not the beginning of the text.
    """
    message = "the file has another document before this one, and kube-scheduler reads only the first"
    return Finding("ignored-document", "", message, "put everything into one document, or into two files", line, column)


def field_finding(error: FieldError, message: str = "") -> Finding:
    """An error of a validation as a finding.

    Args:
        message: upstream's words, if they are not those of the error.
    """
    rule = next((rule for words, rule in _RULES_OF_FIELD_ERRORS.items() if error.text.startswith(words)), "")
    if "was invalid in version" in error.text:
        rule = "removed-plugin"
    elif ".queueSort" in error.path or error.text.endswith("queueSort must be the same for all profiles"):
        rule = "queue-sort"
    return Finding(rule or "invalid-value", error.path, message or str(error), error.help)


def split_error(error: ConfigError) -> tuple[str, str]:
    """Upstream's text and our help, without the paths of the help's lines."""
    message, *helps = str(error).split("\n  ")
    return message, "\n".join(helps)


def _syntax_finding(error: ConfigError, places: Places) -> Finding:
    message, advice = split_error(error)
    line, column = places.fault or _json_position(message)
    return Finding("syntax", "", message, advice, line, column)


def _json_position(message: str) -> tuple[int, int]:
    """Python's JSON decoder ends its message with `line 3 column 5 (char 40)`."""
    place = re.search(r"line (\d+) column (\d+)", message)
    return (int(place[1]), int(place[2])) if place else (1, 1)


def _body(text: str, findings: list[Finding]) -> dict[str, Any] | None:
    """The fields, from a document that nothing else refers to; None if nothing says that they are those of v1."""
    value = parse_document(text).value
    kind, version = (value.get("kind"), value.get("apiVersion")) if isinstance(value, dict) else (None, None)
    try:
        return body_of(value, text)
    except ConfigError as error:
        findings.append(_type_meta_finding(error, kind, version))
    is_meant = kind == KIND or version == API_VERSION
    if not is_meant or kind not in (None, "", KIND) or version not in (None, "", API_VERSION):
        return None
    return {name: entry for name, entry in value.items() if name not in ("kind", "apiVersion")}


def _type_meta_finding(error: ConfigError, kind: object, version: object) -> Finding:
    message, advice = split_error(error)
    if not kind or not version:
        message, _, _ = message.partition(" in '")
        advice = advice.rpartition("...'\n")[2]  # what is shown of the text can have indented lines
        return Finding("old-version" if "config convert" in advice else "type-meta", "", message, advice)
    if "config convert" in advice:
        return Finding("old-version", "apiVersion", message, advice)
    is_kind_wrong = version == API_VERSION or str(kind) not in KINDS
    return Finding("type-meta", "kind" if is_kind_wrong else "apiVersion", message, advice)


def _read_body(body: dict[str, Any], written: Written, args_types: ArgsTypes, flags: LeaderElectionFlags) -> Written:
    known, unknown = select_known(body, KubeSchedulerConfiguration)
    documents = take_args(known)
    default_from_absence(known, flags.resource_name)
    configuration, wrong = convert_sound(known, KubeSchedulerConfiguration)
    findings = [*written.findings, *_strict_findings(unknown), *(_type_finding(fault, "") for fault in wrong)]
    broken = {fault.path for fault in wrong}
    profiles = []
    for i, profile in enumerate(configuration.profiles):
        entries = []
        for j, entry in enumerate(profile.plugin_config):
            where = f"profiles[{i}].pluginConfig[{j}].args"
            args, faults = _sound_args(entry.name, documents.get((i, j)), args_types, where)
            findings += faults
            broken |= {fault.path for fault in faults if fault.rule in ("wrong-type", "wrong-args")}
            entries.append(PluginConfig(entry.name, args))
        profiles.append(msgspec.structs.replace(profile, plugin_config=tuple(entries)))
    configuration = complete(msgspec.structs.replace(configuration, profiles=tuple(profiles)), args_types)
    election = msgspec.structs.replace(configuration.leader_election, **flags.given)
    configuration = msgspec.structs.replace(configuration, leader_election=election)
    read = Written(written.places, written.document, configuration, (), frozenset(broken))
    findings += [field_finding(error) for error in validate(configuration, flags) if not read.is_broken(error.path)]
    return msgspec.structs.replace(read, findings=tuple(findings))


def _strict_findings(faults: list[StrictFault], where: str = "") -> list[Finding]:
    return [
        Finding(
            "unknown-field" if fault.text.startswith("unknown") else "duplicate-field",
            child(where, fault.path) if where else fault.path,
            fault.text,
            _without_paths(fault),
            at_key=True,
        )
        for fault in faults
    ]


def _without_paths(fault: StrictFault) -> str:
    return "\n".join(line.removeprefix(f"{fault.path}: ") for line in fault.help)


def _type_finding(fault: StrictFault, where: str) -> Finding:
    path = child(where, fault.path) if where and fault.path else where or fault.path
    advice = _without_paths(fault)
    if fault.path.endswith("httpTimeout") and "found" in fault.text:
        found = fault.text.rpartition(" ")[2]
        number = as_int64(found)
        meant = (
            f'; as nanoseconds, {found} is "{Duration(number / 10**9)}"' if number is not None and number >= 0 else ""
        )
        advice = f'write a number with a unit, such as "5s"{meant}'
    return Finding("wrong-type", path, fault.text, advice)


def _sound_args(
    name: str, document: Any, args_types: ArgsTypes, where: str
) -> tuple[PluginArgs | bytes | None, list[Finding]]:
    """The arguments of what has the right types, and what is wrong with the rest."""
    if not is_typed(name, args_types):
        return (None if document is None else msgspec.json.encode(document)), []
    cls, body = args_types[name], document
    findings = []
    if name in ARGS_PLUGINS and isinstance(document, dict):
        fields = {key: value for key, value in document.items() if key not in ("kind", "apiVersion")}
        kind = document.get("kind")
        try:
            body = without_kind(name, document)
        except ConfigError as error:
            message, advice = split_error(error)
            is_version = "is registered for version" in message and (
                not kind or (isinstance(kind, str) and kind in KINDS)
            )
            wrong = "apiVersion" if is_version else "kind"
            findings.append(Finding("wrong-args", child(where, wrong), message, advice))
            body = fields if wrong == "apiVersion" else {}
    if body is not None and not isinstance(body, dict):
        message = f"decoding args for plugin {name}: expected an object, found {shorten(body)}"
        findings.append(Finding("wrong-type", where, message))
        body = {}
    known, faults = select_known(body or {}, cls)
    findings += _strict_findings(faults, where)
    try:
        args, wrong_types = convert_sound(known, cls)
    except ConfigError as error:
        message, advice = split_error(error)
        return None, [*findings, Finding("wrong-type", where, f"decoding args for plugin {name}: {message}", advice)]
    findings += [_type_finding(fault, where) for fault in wrong_types]
    return args.with_defaults(), findings
