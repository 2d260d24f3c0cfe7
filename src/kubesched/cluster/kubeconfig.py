"""Kubeconfig files: finds, reads and merges them, and selects one context.

Rule: kubectl. A file given by name has to exist. Of the list in KUBECONFIG the files that exist count, and each entry
is taken from the first file that has it. Relative paths start at the folder of their file. The message about a value of
the wrong type has its place, and never the value, which may be secret.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from kubesched.cluster.kubeconfig_types import ClusterEntry, ContextEntry, KubeconfigFile, UserEntry
from kubesched.documents import describe_fault, read_file, read_yaml
from kubesched.errors import ConfigError, YamlError

T = TypeVar("T")

_NO_VALUES: Final = "an alias, tag or key that is not defined; put text with special characters in quotes"


class PlacedEntry(msgspec.Struct, Generic[T], frozen=True):
    """An entry and its place.

    Attributes:
        value: the entry.
        file: the file.
        path: the place in it, such as `users[0].user`.
    """

    value: T
    file: Path
    path: str

    def at(self, field: str) -> str:
        """How messages call a field of the entry; the entry itself when the field is empty."""
        return f"kubeconfig {self.file}: {self.path}{'.' if field else ''}{field}"

    def resolve(self, path: str) -> Path:
        """Resolve a path of the entry against the folder of its file."""
        return self.file.parent / Path(path).expanduser()


class Kubeconfig(msgspec.Struct):
    """The entries of all files by name."""

    files: tuple[Path, ...]
    clusters: dict[str, PlacedEntry[ClusterEntry]]
    users: dict[str, PlacedEntry[UserEntry]]
    contexts: dict[str, PlacedEntry[ContextEntry]]
    current_context: str = ""

    def __repr__(self) -> str:
        return f"Kubeconfig({self.label})"

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"kubeconfig {', '.join(map(str, self.files))}"

    @property
    def is_empty(self) -> bool:
        """Whether it has no entries."""
        return not (self.clusters or self.users or self.contexts or self.current_context)

    def context(self, name: str = "") -> PlacedEntry[ContextEntry]:
        """A context by name, the current one without.

        Raises:
            ConfigError: there is none.
        """
        if not name and not self.current_context:
            raise ConfigError(
                f"{self.label}: current-context is not set; set it, or choose a context: {_known(self.contexts)}"
            )
        return _entry(self.contexts, name or self.current_context, "context", self.label)

    def cluster_of(self, context: PlacedEntry[ContextEntry]) -> PlacedEntry[ClusterEntry]:
        """The cluster that a context names.

        Raises:
            ConfigError: it names none, or one that is not there.
        """
        return _entry(self.clusters, context.value.cluster or "", "cluster", context.at("cluster"))

    def user_of(self, context: PlacedEntry[ContextEntry]) -> PlacedEntry[UserEntry]:
        """The user that a context names; one without any credentials where it names none.

        Raises:
            ConfigError: it names one that is not there.
        """
        if not context.value.user:
            return PlacedEntry(UserEntry(), context.file, context.path)
        return _entry(self.users, context.value.user, "user", context.at("user"))


def find_kubeconfigs(kubeconfig: str | Path | None, environ: Mapping[str, str]) -> list[Path]:
    """Where kubeconfig files have to be, or may be: the one that is named, those in KUBECONFIG, ~/.kube/config."""
    if kubeconfig:
        return [Path(kubeconfig)]
    if listed := environ.get("KUBECONFIG"):
        return [Path(name) for name in dict.fromkeys(listed.split(os.pathsep)) if name]
    home = environ.get("HOME")
    return [Path(home, ".kube", "config")] if home else []


def load_kubeconfig(files: Sequence[Path], *, must_exist: bool = False) -> Kubeconfig:
    """Read and merge files; those that are not there are left out, unless they must be.

    Raises:
        ConfigError: a file cannot be read, or is not valid; with file and place.
    """
    merged = Kubeconfig(tuple(files), {}, {}, {})
    for file in files:
        if must_exist or file.exists():
            _merge(merged, file, _read(file))
    return merged


def _read(file: Path) -> KubeconfigFile:
    try:
        document = next(read_yaml(read_file(file)), None)
    except OSError as error:
        raise ConfigError(f"kubeconfig {file}: cannot be read: {error.strerror or error}") from error
    except YamlError as error:  # the cause would quote the file, and perhaps an unquoted password
        fault = str(error) if error.is_syntax else f"{error.place}{_NO_VALUES}"
        raise ConfigError(f"kubeconfig {file}: {fault}") from None
    if document is None or document.value is None:
        return KubeconfigFile()
    try:
        read = msgspec.convert(document.value, KubeconfigFile)
    except msgspec.ValidationError as error:
        raise ConfigError(f"kubeconfig {file}: {_fault_without_value(error)}") from None
    if read.kind not in (None, "", "Config") or read.api_version not in (None, "", "v1"):
        raise ConfigError(
            f"kubeconfig {file}: found kind {read.kind!r}, apiVersion {read.api_version!r}; a kubeconfig has kind "
            f"'Config', apiVersion 'v1'"
        )
    return read


def _fault_without_value(error: msgspec.ValidationError) -> str:
    """Msgspec names types, and a value only where there is a choice."""
    fault = describe_fault(error)
    if fault.text.startswith("invalid enum value"):
        fault = fault._replace(text="expected Never, IfAvailable or Always")
    return str(fault)


def _merge(merged: Kubeconfig, file: Path, read: KubeconfigFile) -> None:
    file = file.absolute()
    for i, cluster in enumerate(read.clusters or ()):
        merged.clusters.setdefault(
            cluster.name, PlacedEntry(cluster.cluster or ClusterEntry(), file, f"clusters[{i}].cluster")
        )
    for i, user in enumerate(read.users or ()):
        merged.users.setdefault(user.name, PlacedEntry(user.user or UserEntry(), file, f"users[{i}].user"))
    for i, context in enumerate(read.contexts or ()):
        merged.contexts.setdefault(
            context.name, PlacedEntry(context.context or ContextEntry(), file, f"contexts[{i}].context")
        )
    merged.current_context = merged.current_context or read.current_context or ""


def _entry(entries: Mapping[str, PlacedEntry[T]], name: str, what: str, label: str) -> PlacedEntry[T]:
    if name not in entries:
        fault = f"no {what} named {name!r}" if name else f"does not name a {what}"
        raise ConfigError(f"{label}: {fault}; {_known(entries)}")
    return entries[name]


def _known(entries: Mapping[str, Any]) -> str:
    return f"there are {', '.join(map(repr, sorted(entries)))}" if entries else "there are none"
