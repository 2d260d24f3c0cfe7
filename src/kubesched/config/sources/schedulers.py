"""The configuration that a scheduler in a pod or workload runs with: in a ConfigMap, in a file, or its flags alone."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from kubesched.config.parsed_text import parse_value
from kubesched.config.sources.command_lines import Mounted, SchedulerCommand
from kubesched.config.sources.flags import configuration_of_flags, election_flags, field_flags
from kubesched.config.sources.given_objects import Input, InputObject, one_line, text_at
from kubesched.config.sources.recognition import (
    holds_configuration,
    is_configuration,
    is_meant_as_configuration,
    is_policy,
    may_be_policy,
)
from kubesched.config.sources.source import ConfigSource, bare_source, text_source
from kubesched.config.types import lease_name
from kubesched.documents import PlacedText, write_yaml
from kubesched.errors import ConfigError, InputError
from kubesched.known_flags import unknown_flags

_POLICY_KEY: Final = "policy.cfg"
_ALGORITHM_SOURCE: Final = "algorithmsource"


class LocalFiles(msgspec.Struct, frozen=True):
    """Files that are not among the inputs, as command lines name them.

    Attributes:
        places: takes a path and the name of the input that names it; returns where to look, best place first. It leaves
            out what is not to be read.
        read: takes one of these places; returns the text, or None if it is not a file.
    """

    places: Callable[[str, str], Sequence[str]]
    read: Callable[[str], str | None]


NO_FILES: Final = LocalFiles(lambda _path, _beside: (), lambda _place: None)


class Schedulers:
    """Finds what schedulers run with, and notes what of the inputs that is.

    Attributes:
        used_files: names of the inputs that hold some of it.
    """

    def __init__(self, objects: Iterable[InputObject], files: LocalFiles) -> None:
        self._config_maps = [one for one in objects if one.kind == "ConfigMap"]
        self._bare = {_file_name(one.file.name): one for one in objects if is_configuration(one.value)}
        self._files = files
        self._used: set[tuple[InputObject, str]] = set()
        self.used_files: set[str] = set()

    def uses(self, one: InputObject, key: str = "") -> bool:
        """Whether an object, or the text under a key of a ConfigMap, is part of another configuration."""
        return (one, key) in self._used

    def with_policy(
        self, source: ConfigSource, holder: InputObject | None = None, command: SchedulerCommand | None = None
    ) -> ConfigSource:
        """The source with the file of the Policy that it names; that Policy, if it is in an input, is a part of it.

        A KubeSchedulerConfiguration that is named as a Policy is not a part: the loader refuses it by name, and where
        configurations name each other, or themselves, each of them is left to be refused.

        Args:
            holder: the object that the source is or is in.
            command: of the scheduler that runs with the source.
        """
        config_map, path = named_policy(source.text)
        if config_map is not None:
            one = self._config_map(*config_map)
            self._use_policy(one, _POLICY_KEY, text_at(one.value, "data", _POLICY_KEY) if one is not None else "")
        if not path or path in source.named_files:
            return source
        text, one, key = self._policy_file(path, holder, command)
        if text is None:
            return source
        self._use_policy(one, key, text.text)
        return msgspec.structs.replace(source, named_files={path: text.text})

    def sources(self, commands: Iterable[SchedulerCommand]) -> list[ConfigSource]:
        """The configurations of those command lines that are a scheduler's.

        Raises:
            InputError: a file that a command line names does not exist, or a flag is not valid.
        """
        return [source for command in commands if (source := self._source(command)) is not None]

    def _source(self, command: SchedulerCommand) -> ConfigSource | None:
        path = command.flags.get("config", "")
        try:
            if not path:
                return self._of_flags(command) if command.is_kube_scheduler else None
            return self._of_file(command, path)
        except InputError as error:
            raise InputError(f"{command.holder.file.name}: {command.title}: {error}") from None

    def _of_file(self, command: SchedulerCommand, path: str) -> ConfigSource | None:
        """The configuration in the file that --config names."""
        source, holder, key = self._file(command, path)
        if source is None:
            if command.is_scheduler:
                raise self._missing(command, path)
            return None
        if not command.is_scheduler and not holds_configuration(source.text):
            return None
        self._use(holder, key)
        source = self.with_policy(source, holder, command)
        return msgspec.structs.replace(
            source,
            name=f"{source.name} ({command.title})",
            flags=election_flags(command.flags, _lease_name(command)),
            unknown_flags=() if command.is_kubesched else unknown_flags(command.flags),
            ignored_flags=() if command.is_kubesched else field_flags(command.flags),
        )

    def _of_flags(self, command: SchedulerCommand) -> ConfigSource:
        """The configuration that the flags alone mean."""
        text = write_yaml(configuration_of_flags(command.flags))
        file, place = command.holder.file.name, command.place
        source = ConfigSource(
            f"{file}: flags of {command.title}",
            text,
            file,
            place.line,
            place.column,
            is_verbatim=False,
            is_generated=True,
            flags=election_flags(command.flags, _lease_name(command)),
            unknown_flags=() if command.is_kubesched else unknown_flags(command.flags),
        )
        source = self.with_policy(source, None, command)
        _, path = named_policy(text)
        if path and path not in source.named_files:
            raise self._missing(command, path)
        return source

    def _file(self, command: SchedulerCommand, path: str) -> tuple[ConfigSource | None, InputObject | None, str]:
        """The text that a container sees at a path, with the object of the inputs and the key that it is from."""
        mounted, file = command.mounted(path), command.holder.file
        if mounted is not None and mounted.config_map:
            config_map = self._config_map(command.holder.namespace, mounted.config_map)
            text = config_map.data.get(mounted.key) if config_map else None
            if config_map and isinstance(text, PlacedText):
                name = f"{config_map.file.name}: {config_map.title}, {mounted.key}"
                return text_source(name, config_map.file, text), config_map, mounted.key
        if (bare := self._bare.get(_file_name(path))) is not None:
            return bare_source(bare.file.name, bare), bare, ""
        for place in self._places(mounted, path, file):
            if (content := self._files.read(place)) is not None:
                if command.is_scheduler and not is_meant_as_configuration(content):
                    raise InputError(f"{place} holds no scheduler configuration; give the right file, too")
                return ConfigSource(place, content, place), None, ""
        return None, None, ""

    def _policy_file(
        self, path: str, holder: InputObject | None, command: SchedulerCommand | None
    ) -> tuple[ConfigSource | None, InputObject | None, str]:
        """The file of a Policy as `_file` returns it; without a command, files count by their names alone."""
        found = self._file(command, path) if command is not None else (None, None, "")
        if found[0] is not None:
            return found
        key = _file_name(path)
        if (bare := self._bare.get(key)) is not None:
            return bare_source(bare.file.name, bare), bare, ""
        for one in (*self._config_maps,) if holder is None else (holder, *self._config_maps):
            text = one.data.get(key)
            if isinstance(text, PlacedText) and holds_configuration(text):
                return text_source(one.title, one.file, text), one, key
        return None, None, ""

    def _places(self, mounted: Mounted | None, path: str, file: Input) -> list[str]:
        paths = [mounted.key, path] if mounted is not None and not mounted.config_map else [path]
        return list(dict.fromkeys(place for one in paths for place in self._files.places(one, file.name)))

    def _missing(self, command: SchedulerCommand, path: str) -> InputError:
        mounted = command.mounted(path)
        places = self._places(mounted, path, command.holder.file)
        looked = one_line(f"; looked for {' and '.join(places)}") if places else ""
        if path not in places:
            looked += "; files outside the folder of the manifest are not read"
        path = one_line(path)
        if mounted is None or not mounted.config_map:
            return InputError(f"{path} is missing{looked}; give that file, too")
        namespace = f"-n {command.holder.namespace} " if command.holder.namespace else ""
        return InputError(
            f"{path} is key {mounted.key} of ConfigMap {mounted.config_map}, which is missing{looked}; give it, too: "
            f"kubectl get configmap {namespace}{mounted.config_map} -o yaml"
        )

    def _config_map(self, namespace: str, name: str) -> InputObject | None:
        """The ConfigMap of this name; a namespace that is not written down is any."""
        named = (one for one in self._config_maps if name and one.name == name)
        return next((one for one in named if not (namespace and one.namespace) or one.namespace == namespace), None)

    def _use_policy(self, one: InputObject | None, key: str, text: str) -> None:
        if may_be_policy(text):
            self._use(one, key)

    def _use(self, one: InputObject | None, key: str) -> None:
        if one is None:
            return
        self._used.add((one, key))
        self.used_files.add(one.file.name)


def named_policy(text: str) -> tuple[tuple[str, str] | None, str]:
    """The Policy that a configuration names: namespace and name of its ConfigMap, or else the path of its file."""
    if _ALGORITHM_SOURCE not in text.lower():
        return None, ""
    try:
        value = parse_value(text).value
    except ConfigError:
        return None, ""
    if is_policy(value):
        return None, ""
    policy = _entry(_entry(value, _ALGORITHM_SOURCE), "policy")
    if (file := _entry(policy, "file")) is not None:  # which counts if both are given
        return None, _text(file, "path")
    config_map = _entry(policy, "configmap")
    return (None if config_map is None else (_text(config_map, "namespace"), _text(config_map, "name"))), ""


def _entry(value: Any, name: str) -> Any:
    """A field in any case, as the versions with an algorithmSource are read."""
    return next((one for key, one in value.items() if key.lower() == name), None) if isinstance(value, dict) else None


def _text(value: Any, name: str) -> str:
    text = _entry(value, name)
    return text if isinstance(text, str) else ""


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _lease_name(command: SchedulerCommand) -> str:
    """The Lease where neither the file nor a flag names one; "" for kube-scheduler's."""
    return lease_name(replaces="replace" in command.flags) if command.is_kubesched else ""
