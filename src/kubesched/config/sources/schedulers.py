"""The configuration that a scheduler in a pod or workload runs with: in a ConfigMap, in a file, or its flags alone."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from kubesched.config.sources.commands import Mounted, SchedulerCommand
from kubesched.config.sources.flags import configuration_of_flags, election_flags
from kubesched.config.sources.kinds import holds_configuration, is_configuration
from kubesched.config.sources.objects import Input, InputObject, one_line
from kubesched.config.sources.source import ConfigSource, bare_source, text_source
from kubesched.documents import PlacedText, write_yaml
from kubesched.errors import InputError
from kubesched.known_flags import unknown_flags

_LEASE_NAME: Final = "kubesched"  # of `kubesched scheduler`, see cli/leader_election.py
_POLICY_KEY: Final = "policy.cfg"


class LocalFiles(msgspec.Struct, frozen=True):
    """Files that are not among the inputs, as command lines name them.

    Attributes:
        places: takes a path and the name of the input that names it; returns where to look, best place first.
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

    def use_policy(self, namespace: str, name: str) -> None:
        """Note that the Policy in a ConfigMap is part of another configuration."""
        if config_map := self._config_map(namespace, name):
            self._use(config_map, _POLICY_KEY)

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
        return msgspec.structs.replace(
            source,
            name=f"{source.name} ({command.title})",
            flags=election_flags(command.flags, _LEASE_NAME if command.is_kubesched else ""),
            unknown_flags=() if command.is_kubesched else unknown_flags(command.flags),
        )

    def _of_flags(self, command: SchedulerCommand) -> ConfigSource:
        """The configuration that the flags alone mean."""
        document = configuration_of_flags(command.flags)
        policy = document.get("algorithmSource", {}).get("policy", {})
        config_maps: tuple[object, ...] = ()
        if "configMap" in policy:
            self.use_policy(policy["configMap"]["namespace"], policy["configMap"]["name"])
        elif "file" in policy:
            source, holder, key = self._file(command, policy["file"]["path"])
            if source is None:
                raise self._missing(command, policy["file"]["path"])
            self._use(holder, key)
            name = {"namespace": "", "name": policy["file"]["path"]}
            document["algorithmSource"]["policy"] = {"configMap": name}
            config_maps = ({"kind": "ConfigMap", "metadata": name, "data": {_POLICY_KEY: source.text}},)
        file, place = command.holder.file.name, command.place
        return ConfigSource(
            f"{file}: flags of {command.title}",
            write_yaml(document),
            file,
            place.line,
            place.column,
            is_verbatim=False,
            is_generated=True,
            flags=election_flags(command.flags, _LEASE_NAME if command.is_kubesched else ""),
            unknown_flags=() if command.is_kubesched else unknown_flags(command.flags),
            config_maps=config_maps,
        )

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
                return ConfigSource(place, content, place), None, ""
        return None, None, ""

    def _places(self, mounted: Mounted | None, path: str, file: Input) -> list[str]:
        paths = [mounted.key, path] if mounted is not None and not mounted.config_map else [path]
        return list(dict.fromkeys(place for one in paths for place in self._files.places(one, file.name)))

    def _missing(self, command: SchedulerCommand, path: str) -> InputError:
        mounted = command.mounted(path)
        places = self._places(mounted, path, command.holder.file)
        looked = one_line(f"; looked for {' and '.join(places)}") if places else ""
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

    def _use(self, one: InputObject | None, key: str) -> None:
        if one is None:
            return
        self._used.add((one, key))
        self.used_files.add(one.file.name)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
