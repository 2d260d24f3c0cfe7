"""Reads the text of a configuration, stage by stage, and finds what is wrong with it.

The order of the stages is kube-scheduler's. Each one is a function: it takes what is known, and returns what is known
then, with what it finds. It leaves out what is wrong, so that the next one can go on: a value of a wrong type has its
default. A loader stops at the first stage that finds something; a review goes on to the end.
"""

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, Final

import msgspec

from kubesched.config.decode_args import ArgsTypes, decode_args, has_args_kind
from kubesched.config.defaults import DEFAULT_SCHEDULER_NAME, default_plugins, with_defaults
from kubesched.config.field_errors import child
from kubesched.config.findings import Finding, ReadingStage, error_finding, field_finding, split_error
from kubesched.config.known_since import later_fields
from kubesched.config.parsed_text import Document, parse_document
from kubesched.config.strict import convert, select_known
from kubesched.config.type_meta import (
    API_VERSION,
    CONVERTS,
    KIND,
    KINDS,
    advice_on_missing,
    check_registered,
    take_type_meta,
)
from kubesched.config.types import (
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionFlags,
    PluginConfig,
    Plugins,
)
from kubesched.config.validation import validate
from kubesched.documents import is_toml
from kubesched.errors import ConfigError, InputError
from kubesched.release import DEFAULT_RELEASE, Release

_MAX_SHOWN: Final = 200  # characters of a text that is not a configuration; upstream shows all of it
_MAX_LINES: Final = 3
_NO_FLAGS: Final = LeaderElectionFlags()
_NOTHING: Final = KubeSchedulerConfiguration()

ToV1 = Callable[[Any, str], Any]
"""Makes a v1 document of one of any version; also takes the whole text."""


def only_v1(document: Any, text: str) -> Any:
    """Leave the document as it is, so that an older version is refused."""
    return document


class Reading(msgspec.Struct, frozen=True):
    """What is known of a text after some of the stages.

    Attributes:
        text: as it is written.
        args_types: the plugins whose arguments are known.
        flags: what the command line says about leader election.
        default_plugins: whether profiles start with upstream's default plugins.
        to_v1: converts a document of an older version.
        release: the version whose fields, defaults and words count.
        written: the plain values as they are in the text.
        value: the same, or the document of v1 that the conversion makes of them.
        fields: of the document, without kind and apiVersion; None if it is not a configuration of v1.
        args: the arguments in it by the numbers of profile and entry: each plugin reads its own.
        without_flags: what the text alone says.
        configuration: complete, of what could be decoded.
        findings: of these stages; those about FIELDS come with the stage that meets them.
        broken: paths of values that were left out.
    """

    text: str
    args_types: ArgsTypes
    flags: LeaderElectionFlags = _NO_FLAGS
    default_plugins: bool = True
    to_v1: ToV1 = only_v1
    release: Release = DEFAULT_RELEASE
    written: Any = None
    value: Any = None
    fields: dict[str, Any] | None = None
    args: dict[tuple[int, int], Any] = {}
    without_flags: KubeSchedulerConfiguration = _NOTHING
    configuration: KubeSchedulerConfiguration = _NOTHING
    findings: tuple[Finding, ...] = ()
    broken: frozenset[str] = frozenset()

    @property
    def document(self) -> dict[str, Any]:
        """The plain values; an empty object if the text has none."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def is_converted(self) -> bool:
        """Whether the text has an older version."""
        return self.written is not self.value

    def is_broken(self, path: str) -> bool:
        """Whether a field is one that was left out, or is inside one."""
        return any(path == broken or path.startswith((f"{broken}.", f"{broken}[")) for broken in self.broken)


def read_stages(reading: Reading) -> Iterator[tuple[ReadingStage, Reading]]:
    """What is known after each stage; ends early where a text cannot be read further, or is not one of v1."""
    for stage, step in _STEPS.items():
        result = step(reading)
        if isinstance(result, Finding):
            yield stage, _with(reading, result)
            return
        reading = result
        yield stage, reading


def repeated_keys(parsed: Document) -> list[Finding]:
    """The repeated keys of a YAML text; upstream makes one finding of all."""
    lines = "\n".join(("yaml: unmarshal errors:", *(f"line {key.line}: {key.text}" for key in parsed.repeated_keys)))
    return [
        Finding(
            "duplicate-field",
            "",
            key.text,
            "the last value counts",
            key.line,
            key.column,
            stage=ReadingStage.FIELDS,
            printed=(lines if key is parsed.repeated_keys[0] else "",),
        )
        for key in parsed.repeated_keys
    ]


def _with(reading: Reading, *findings: Finding, **changed: Any) -> Reading:
    return msgspec.structs.replace(reading, findings=(*reading.findings, *findings), **changed)


def _parse(reading: Reading) -> Reading | Finding:
    try:
        parsed = parse_document(reading.text)
    except ConfigError as error:
        return _with_format(error_finding("syntax", "", error, ReadingStage.SYNTAX), reading.text)
    return _with(reading, *repeated_keys(parsed), written=parsed.value, value=parsed.value)


def _convert(reading: Reading) -> Reading | Finding:
    try:
        return _with(reading, value=reading.to_v1(reading.value, reading.text))
    except ConfigError as error:
        return not_convertible(error)


def _with_format(finding: Finding, text: str) -> Finding:
    """The fault of a text, with its format if that is another one."""
    if finding.help or not is_toml(text):
        return finding
    advice = "the text is TOML; a configuration is YAML or JSON"
    return msgspec.structs.replace(finding, help=advice, printed=(*finding.lines, advice))


def not_convertible(error: InputError) -> Finding:
    """What keeps a document of an older version from becoming one of v1."""
    path, sign, _ = split_error(error)[1].partition(": ")
    return error_finding("not-convertible", path if sign and " " not in path else "", error, ReadingStage.CONVERSION)


def _take_fields(reading: Reading) -> Reading | Finding:
    """The fields of the document, if kind or version says that they are those of v1."""
    kind, version = reading.document.get("kind"), reading.document.get("apiVersion")
    wrong = "kind" if version == API_VERSION or str(kind) not in KINDS else "apiVersion"
    try:
        kind_text, version_text, fields = take_type_meta({} if reading.value is None else reading.value)
        if kind_text and version_text:
            _check_kind(kind_text, version_text, reading.release)
            return _with(reading, fields=fields)
        advice = advice_on_missing(kind_text, version_text, fields)
        finding = _missing("apiVersion" if kind_text else "Kind", advice, reading.text)
    except ConfigError as error:
        finding = error_finding("type-meta", wrong if kind and version else "", error, ReadingStage.TYPE_META)
    if not isinstance(reading.value, dict):
        finding = _with_format(finding, reading.text)
    if CONVERTS in finding.help:
        finding = msgspec.structs.replace(finding, rule="old-version", path=finding.path and "apiVersion")
    is_meant = kind == KIND or version == API_VERSION
    if not is_meant or kind not in (None, "", KIND) or version not in (None, "", API_VERSION):
        return finding
    fields = {name: entry for name, entry in reading.document.items() if name not in ("kind", "apiVersion")}
    return _with(reading, finding, fields=fields)


def _check_kind(kind: str, version: str, release: Release) -> None:
    check_registered(kind, version, release)
    if kind != KIND:
        advice = "put arguments into a configuration, in profiles[].pluginConfig[].args"
        raise ConfigError(f"couldn't decode as {KIND}, got {API_VERSION}, Kind={kind}: \n  {advice}")


def _missing(field: str, advice: str, text: str) -> Finding:
    """That the document does not have its kind or version. A scheduler also shows the text."""
    message = f"Object '{field}' is missing"
    printed = (f"{message} in '{_begin_of(text)}'", advice)
    return Finding("type-meta", "", message, advice, stage=ReadingStage.TYPE_META, printed=printed)


def _begin_of(text: str) -> str:
    """The first lines of a text, up to one that is indented: in a message, such a line is help."""
    lines = text.splitlines(keepends=True)[:_MAX_LINES]
    begin = "".join(takewhile(lambda line: not line.startswith("  ") or line is lines[0], lines))[:_MAX_SHOWN]
    return text if begin == text else f"{begin.rstrip()}..."


def _read_types(reading: Reading) -> Reading:
    fields, unknown = select_known(reading.fields, KubeSchedulerConfiguration, later_fields(reading.release))
    args = _take_args(fields)
    _default_from_absence(fields, reading.flags.resource_name)
    configuration, wrong = convert(fields, KubeSchedulerConfiguration)
    broken = frozenset(finding.path for finding in wrong)
    return _with(reading, *unknown, *wrong, configuration=configuration or _NOTHING, args=args, broken=broken)


def _take_args(body: dict[str, Any]) -> dict[tuple[int, int], Any]:
    """Take the arguments out of the document."""
    args = {}
    for i, profile in enumerate(_list_in(body, "profiles")):
        for j, entry in enumerate(_list_in(profile, "pluginConfig")):
            if isinstance(entry, dict) and "args" in entry:
                args[i, j] = entry.pop("args")
    return args


def _list_in(value: Any, field: str) -> list[Any]:
    entries = value.get(field) if isinstance(value, dict) else None
    return entries if isinstance(entries, list) else []


def _default_from_absence(body: dict[str, Any], lease_name: str) -> None:
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


def _read_args(reading: Reading) -> Reading:
    """Put the arguments into the profiles."""
    profiles: list[KubeSchedulerProfile] = []
    findings: list[Finding] = []
    for i, profile in enumerate(reading.configuration.profiles):
        entries = []
        for j, entry in enumerate(profile.plugin_config):
            args, wrong = decode_args(entry.name, reading.args.get((i, j)), reading.args_types, reading.release)
            findings += _located(wrong, f"profiles[{i}].pluginConfig[{j}]", entry.name)
            entries.append(PluginConfig(entry.name, args))
        profiles.append(msgspec.structs.replace(profile, plugin_config=tuple(entries)))
    configuration = msgspec.structs.replace(reading.configuration, profiles=tuple(profiles))
    broken = reading.broken.union(finding.path for finding in findings if finding.stage is ReadingStage.ARGS)
    return _with(reading, *findings, configuration=configuration, broken=broken)


def _located(findings: list[Finding], where: str, name: str) -> Iterator[Finding]:
    """What is wrong with the arguments of one plugin at its place; upstream prints them as one."""
    prefix = f"decoding .{where}: strict decoding error: decoding args for plugin {name}: strict decoding error: "
    for finding in findings:
        path = child(f"{where}.args", finding.path) if finding.path else f"{where}.args"
        located = msgspec.structs.replace(finding, path=path)
        text, *helps = located.lines
        if finding.stage is ReadingStage.ARGS:
            text = f"decoding .{where}: {text}"
        else:
            text, prefix = f"{prefix}{text}", ""
        yield msgspec.structs.replace(located, printed=(text, *helps))


def _fill_in(reading: Reading) -> Reading:
    """Fill in the defaults, and what flags replace."""
    plugins = default_plugins(reading.release) if reading.default_plugins else Plugins()
    filled = with_defaults(reading.configuration, plugins)
    profiles = tuple(_with_default_args(profile, reading.args_types, reading.release) for profile in filled.profiles)
    complete = msgspec.structs.replace(filled, profiles=profiles)
    election = msgspec.structs.replace(complete.leader_election, **reading.flags.given)
    configuration = msgspec.structs.replace(complete, leader_election=election)
    return _with(reading, without_flags=complete, configuration=configuration)


def _with_default_args(profile: KubeSchedulerProfile, args_types: ArgsTypes, release: Release) -> KubeSchedulerProfile:
    """Add arguments for the enabled plugins that have a kind of arguments and no entry, by name."""
    given = {entry.name for entry in profile.plugin_config}
    names = sorted(profile.plugins.enabled_names - given)
    missing = [name for name in names if has_args_kind(name, args_types, release)]
    added = [PluginConfig(name, decode_args(name, None, args_types, release)[0]) for name in missing]
    return msgspec.structs.replace(profile, plugin_config=(*profile.plugin_config, *added))


def _check_values(reading: Reading) -> Reading:
    errors = validate(reading.configuration, reading.flags)
    sound = (error for error in errors if not reading.is_broken(error.path))
    return _with(reading, *(field_finding(error, release=reading.release) for error in sound))


_STEPS: Final[dict[ReadingStage, Callable[[Reading], Reading | Finding]]] = {
    ReadingStage.SYNTAX: _parse,
    ReadingStage.CONVERSION: _convert,
    ReadingStage.TYPE_META: _take_fields,
    ReadingStage.TYPES: _read_types,
    ReadingStage.ARGS: _read_args,
    ReadingStage.FIELDS: _fill_in,
    ReadingStage.VALUES: _check_values,
}
"""What each stage does; one that gives only a finding is the last."""
