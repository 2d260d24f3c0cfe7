"""Finds the scheduler configurations in what was given: bare ones, several documents, Lists, ConfigMaps.

What is not valid YAML, or has no kind, is taken for a configuration: the loader says what is wrong with it, in
kube-scheduler's words.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from kubesched.config.documents import parse_value
from kubesched.config.sources.source import ConfigSource, line_of, text_source
from kubesched.config.type_meta import GROUP, KIND
from kubesched.documents import PlacedText, YamlDocument, read_yaml
from kubesched.errors import ConfigError, InputError, YamlError

_POLICY: Final = "Policy"
_MARKS: Final = (KIND, GROUP, _POLICY)
_MAX_KINDS: Final = 5
_EXPECTED: Final = (
    "expected a KubeSchedulerConfiguration or a Policy, or a ConfigMap that holds one; "
    "render a chart with `helm template` first"
)


class Input(msgspec.Struct, frozen=True):
    """A file that was given.

    Attributes:
        name: how messages call it.
    """

    name: str
    text: str


class Part(msgspec.Struct, frozen=True):
    """One object of an input: a document, or an item of a List in it.

    Attributes:
        text: the document alone.
        line: where the document begins in the file, from 1.
    """

    file: Input
    value: Any
    text: str
    line: int

    @property
    def kind(self) -> str:
        """Its kind; empty where it has none."""
        kind = self.value.get("kind") if isinstance(self.value, dict) else None
        return kind if isinstance(kind, str) else ""

    @property
    def object_name(self) -> str:
        """Kind and name, such as `ConfigMap kube-system/my-scheduler`."""
        metadata = self.value.get("metadata")
        named = metadata if isinstance(metadata, dict) else {}
        return f"{self.kind} {'/'.join(str(named[key]) for key in ('namespace', 'name') if named.get(key))}".rstrip()


def find_sources(inputs: Sequence[Input]) -> tuple[ConfigSource, ...]:
    """The configurations in some files that belong together, in their order.

    Raises:
        InputError: a file has none.
    """
    parts = {file: _parts(file) for file in inputs}
    config_maps = tuple(part.value for own in parts.values() for part in own or () if part.kind == "ConfigMap")
    policies = {name for own in parts.values() for part in own or () for name in _policy_names(part)}
    sources: list[ConfigSource] = []
    for file, own in parts.items():
        if own is None or not any(part.kind for part in own):
            sources.append(ConfigSource(file.name, file.text, file.name, config_maps=config_maps))
            continue
        is_only = sum(is_configuration(part.value) for part in own) == 1
        held = [source for part in own for source in _sources_in(part, is_only, policies)]
        if not held and not any(_is_named(part, policies) for part in own):
            kinds = list(dict.fromkeys(part.kind for part in own if part.kind))
            shown = ", ".join(kinds[:_MAX_KINDS]) + (", ..." if len(kinds) > _MAX_KINDS else "")
            raise InputError(f"{file.name}: found {shown} and no scheduler configuration; {_EXPECTED}")
        sources += [msgspec.structs.replace(source, config_maps=config_maps) for source in held]
    return tuple(sources)


def is_configuration(value: Any) -> bool:
    """Whether an object is a KubeSchedulerConfiguration or a Policy of any version, valid or not."""
    if not isinstance(value, dict):
        return False
    kind, version = value.get("kind"), str(value.get("apiVersion"))
    return kind == KIND or version.startswith(f"{GROUP}/") or (kind == _POLICY and version == "v1")


def holds_configuration(text: str) -> bool:
    """Whether a text is meant to be a configuration, valid or not."""
    if not any(mark in text for mark in _MARKS):
        return False
    try:
        return is_configuration(parse_value(text).value)
    except ConfigError:
        return KIND in text or GROUP in text


def _parts(file: Input) -> list[Part] | None:
    """The objects of a file; None if it is not valid YAML."""
    try:
        documents = list(read_yaml(file.text, places=True))
    except YamlError:
        return None
    parts = []
    for i, document in enumerate(documents):
        begin = _begin(file.text, document) if i else 0
        end = documents[i + 1].start if i + 1 < len(documents) else len(file.text)
        text, line = file.text[begin:end], line_of(file.text, begin)
        parts += [Part(file, value, text, line) for value in _items(document.value)]
    return parts


def _begin(text: str, document: YamlDocument) -> int:
    """Where a further document begins: below its `---` if that line has nothing else."""
    end = text.find("\n", document.start) + 1
    return end if end and text[document.start : end].strip() == "---" else document.start


def _items(value: Any) -> Iterator[Any]:
    """The value, or the objects in it if it is a List."""
    items = value.get("items") if isinstance(value, dict) and str(value.get("kind")).endswith("List") else None
    if isinstance(items, list) and items:
        for item in items:
            yield from _items(item)
    else:
        yield value


def _sources_in(part: Part, is_only: bool, policies: set[tuple[str, str]]) -> Iterator[ConfigSource]:
    """The configurations that an object is or holds.

    Args:
        is_only: whether its file has one bare configuration.
        policies: namespace and name of the ConfigMaps whose Policy belongs to another configuration of the input.
    """
    file = part.file
    if is_configuration(part.value):
        name = file.name if is_only else f"{file.name}: line {part.line}"
        yield ConfigSource(name, part.text, file.name, part.line)
    elif part.kind == "ConfigMap" and not _is_named(part, policies):
        data = part.value.get("data")
        for key, text in data.items() if isinstance(data, dict) else ():
            if isinstance(text, PlacedText) and holds_configuration(str(text)):
                yield text_source(f"{file.name}: {part.object_name}, {key}", file.name, text, file.text)


def _is_named(part: Part, policies: set[tuple[str, str]]) -> bool:
    """Whether the part is one of these ConfigMaps."""
    metadata = part.value.get("metadata") if part.kind == "ConfigMap" else None
    if not isinstance(metadata, dict):
        return False
    return any(
        metadata.get("name") == name and metadata.get("namespace") in (namespace, None) for namespace, name in policies
    )


def _policy_names(part: Part) -> Iterator[tuple[str, str]]:
    """Namespace and name of the ConfigMap with the Policy of a bare v1alpha1 configuration."""
    value = part.value
    for step in ("algorithmSource", "policy", "configMap"):
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, dict):
        yield str(value.get("namespace", "")), str(value.get("name", ""))
