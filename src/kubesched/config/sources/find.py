"""Finds the scheduler configurations in what was given: bare, in other objects, or what the schedulers in it run with.

What is not valid YAML, or has no kind, is taken for a configuration: the loader says what is wrong with it, in
kube-scheduler's words.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubesched.config.sources.command_lines import WORKLOADS, scheduler_commands
from kubesched.config.sources.given_objects import Input, InputObject, read_objects
from kubesched.config.sources.recognition import is_configuration, may_hold_configurations
from kubesched.config.sources.schedulers import NO_FILES, LocalFiles, Schedulers
from kubesched.config.sources.source import ConfigSource, bare_source
from kubesched.config.sources.values import sources_inside, text_sources
from kubesched.documents import PlacedText, listed
from kubesched.errors import InputError, YamlError

_EXPECTED: Final = (
    "expected a KubeSchedulerConfiguration or a Policy, a ConfigMap or Helm values that hold one, or a Pod or workload "
    "that runs a scheduler; for a chart, give what `helm template` prints"
)
_SECRET: Final = (
    "; the data of a Secret is not decoded: "
    "print it with `kubectl get secret NAME -o go-template='{{index .data \"KEY\" | base64decode}}'`"
)


class _Held(msgspec.Struct, frozen=True):
    """A configuration in an object of an input.

    Attributes:
        holder: the object that it is, or is in.
        key: of a ConfigMap.
    """

    source: ConfigSource
    holder: InputObject
    key: str = ""


def find_sources(inputs: Sequence[Input], files: LocalFiles = NO_FILES) -> tuple[ConfigSource, ...]:
    """The configurations in some files that belong together, in their order.

    A ConfigMap or file that a scheduler of the inputs runs with is one source, with the flags of that scheduler.

    Args:
        files: what the command lines of schedulers may name.
    Raises:
        InputError: an input has no configuration, or the configuration of a scheduler is missing.
    """
    objects = {file: _objects_in(file) for file in inputs}
    everything = [one for own in objects.values() for one in own]
    schedulers = Schedulers(everything, files)
    run_with = {one: schedulers.sources(scheduler_commands(one)) for one in everything}
    held: dict[InputObject, list[_Held]] = {one: [] for one in everything}
    for file, own in objects.items():
        for one in _held(file, own):
            source = schedulers.with_policy(one.source, one.holder)
            held[one.holder].append(msgspec.structs.replace(one, source=source))
    config_maps = tuple(one.value for one in everything if one.kind == "ConfigMap")
    sources: list[ConfigSource] = []
    for file, own in objects.items():
        found = []
        for holder in own:
            found += [one.source for one in held[holder] if not schedulers.uses(holder, one.key)]
            found += run_with[holder]
        if not found and file.name not in schedulers.used_files:
            found = [_for_the_loader(file, own)]
        sources += found
    return tuple(msgspec.structs.replace(source, config_maps=(*source.config_maps, *config_maps)) for source in sources)


def _objects_in(file: Input) -> list[InputObject]:
    """The objects of a file; none if it is not valid YAML."""
    try:
        return read_objects(file)
    except YamlError:
        return []


def _held(file: Input, objects: list[InputObject]) -> Iterator[_Held]:
    """The configurations in the objects of a file, those that are part of another one, too."""
    is_only = sum(is_configuration(one.value) for one in objects) == 1
    for one in objects:
        if is_configuration(one.value):
            name = file.name if is_only else f"{file.name}: line {one.line}"
            yield _Held(bare_source(name, one), one)
        elif one.kind == "ConfigMap":
            for key, text in one.data.items():
                if isinstance(text, PlacedText) and may_hold_configurations(text):
                    for source in text_sources(f"{file.name}: {one.title}, {key}", file, text):
                        yield _Held(source, one, key)
        elif one.kind not in WORKLOADS:
            for source in sources_inside(one.value, file, one.title):
                yield _Held(source, one)


def _for_the_loader(file: Input, objects: Sequence[InputObject]) -> ConfigSource:
    """A file without a configuration as one, for the loader to say what is wrong with it.

    Raises:
        InputError: the file has objects of other kinds.
    """
    kinds = list(dict.fromkeys(one.kind for one in objects if one.kind))
    if not kinds:
        return ConfigSource(file.name, file.text, file.name)
    secret = _SECRET if "Secret" in kinds else ""
    raise InputError(f"{file.name}: no scheduler configuration: found {listed(kinds, first=5)}; {_EXPECTED}{secret}")
