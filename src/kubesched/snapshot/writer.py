"""Writes objects to a file: a v1 List in JSON, one object per line, for simulate, kubectl and jq.

Only kinds that a scheduler reads are written, and those that plugins read if somebody asked for them; Secrets never
are. The metadata of the list has the time at which the objects were read, which kinds are complete, and the
configuration of an export.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from kubesched.api import KINDS, KubeObject, Unstructured, kind_of
from kubesched.errors import InputError
from kubesched.snapshot.cluster_objects import ClusterObjects
from kubesched.snapshot.fields import LAST_APPLIED
from kubesched.snapshot.object_documents import ListOrigin, read_header
from kubesched.snapshot.packing import packed_writer

_SUFFIXES: Final = (".json", ".json.gz", ".json.zst")
_OWNER_ONLY: Final = 0o600
_AS_UMASK: Final = 0o666
_CONTAINER_LISTS: Final = ("containers", "initContainers", "ephemeralContainers")


def write_snapshot(
    objects: Iterable[KubeObject], path: str | os.PathLike[str] | IO[bytes], *, strip: bool = False
) -> None:
    """Write objects so that `load_snapshot` gives equal ones back; the same objects give the same bytes.

    Args:
        objects: of ClusterObjects, `taken_at`, `listed_kinds`, `scheduler_config` and `server_version` are written too.
        path: a file in `.json`, `.json.gz` or `.json.zst`, replaced as a whole when all is written and left alone when
            writing fails; or an open binary stream, written plainly.
        strip: leave out managedFields, the values of environment variables and the annotation in which `kubectl apply`
            keeps the manifest. A scheduler reads none of them.
    Raises:
        InputError: the name has another suffix, or the file cannot be written.

    Example:
        snapshot = load_snapshot("cluster.json")
        write_snapshot(snapshot, "cluster.json.gz", strip=True)
    """
    if not isinstance(path, str | os.PathLike):
        _write_list(objects, path, "", strip)
        return
    target = check_target(path)
    with replacing(target) as file:
        _write_list(objects, file, target.suffix, strip)


@contextmanager
def replacing(target: Path, *, is_private: bool = False) -> Iterator[IO[bytes]]:
    """Open a new file that replaces the target as a whole when the block ends, and never when it fails.

    Args:
        is_private: only this user may read the file.
    Raises:
        InputError: the file cannot be written.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        mode = _OWNER_ONLY if is_private else _AS_UMASK
        with open(unfinished, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            yield file
        unfinished.replace(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path of a snapshot that is about to be written.

    Raises:
        InputError: the name has another suffix than a snapshot, or its folder does not exist.
    """
    target = Path(path)
    if not target.name.endswith(_SUFFIXES):
        raise InputError(
            f"{target}: a snapshot is written as JSON; expected a name that ends with {', '.join(_SUFFIXES)}"
        )
    if not target.parent.is_dir():
        raise InputError(f"{target}: cannot be written: No such file or directory")
    return target


def _write_list(objects: Iterable[KubeObject], file: IO[bytes], suffix: str, strip: bool) -> None:
    with packed_writer(file, suffix) as append:
        append(b'{"apiVersion":"v1","kind":"List",' + _metadata(objects) + b'"items":[')
        separator = b"\n"
        for known in objects:
            append(separator + _encode(known, strip))
            separator = b",\n"
        append(b"\n]}\n")


def _metadata(objects: Iterable[KubeObject]) -> bytes:
    """The field `metadata` of the list, with its comma; empty if there is nothing to say."""
    if not isinstance(objects, ClusterObjects):
        return b""
    others = sorted(objects.listed_kinds - KINDS.keys())
    kinds = (*(kind for kind in KINDS if kind in objects.listed_kinds), *others)
    configuration = msgspec.json.decode(objects.scheduler_config) if objects.scheduler_config else None
    origin = ListOrigin(objects.taken_at, kinds, configuration, objects.server_version)
    return b"" if origin == ListOrigin() else b'"metadata":' + msgspec.json.encode(origin) + b","


def _encode(known: KubeObject, strip: bool) -> bytes:
    if isinstance(known, Unstructured):
        return _encode_whole(known, strip)
    raw = known.raw
    kind = KINDS[kind_of(known)]
    if "raw_source" not in known.__dict__ and not (strip and known.annotations):
        return f'{{"apiVersion":"{kind.api_version}","kind":"{kind.name}",'.encode() + raw[1:]
    if not strip and read_header(raw).kind == kind.name:
        return msgspec.json.format(raw, indent=-1)
    document = {"apiVersion": kind.api_version, "kind": kind.name, **known.document}
    if strip:
        _strip(document)
    return msgspec.json.encode(document)


def _encode_whole(known: Unstructured, strip: bool) -> bytes:
    document = {"apiVersion": known.api_version, "kind": known.kind, **known.document}
    if strip:
        _strip_metadata(document["metadata"])
    return msgspec.json.encode(document)


def _strip(document: dict[str, Any]) -> None:
    _strip_metadata(document["metadata"])
    _strip_values(document.get("spec"))


def _strip_metadata(metadata: dict[str, Any]) -> None:
    metadata.pop("managedFields", None)
    if metadata.get("annotations"):
        metadata["annotations"].pop(LAST_APPLIED, None)


def _strip_values(spec: Any) -> None:
    """Take the environment's values out of a pod's spec, or out of the template in a controller's spec."""
    if not isinstance(spec, dict):
        return
    if isinstance(spec.get("template"), dict):
        _strip_values(spec["template"].get("spec"))
    for name in _CONTAINER_LISTS:
        for container in _maps_in(spec.get(name)):
            for variable in _maps_in(container.get("env")):
                variable.pop("value", None)


def _maps_in(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
