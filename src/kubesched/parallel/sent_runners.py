"""Packs a runner for other processes: also plugins of files and notebooks, which these cannot import."""

import io
import sys
import zlib
from collections.abc import Iterable
from functools import cache, reduce
from hashlib import blake2b
from types import FunctionType
from typing import Any, Final

import numpy as np

from kubesched.api import KubeObject
from kubesched.parallel.worker import Packed
from kubesched.setup import FileRun, file_run, module_of

_LEVEL: Final = 1  # a tenth of the size in a thirtieth of the time of pickling


class Sent:
    """Objects of a cluster, as they are pickled for another process.

    Args:
        raw_kinds: the kinds whose objects keep their JSON; the others have what a scheduler reads.
    """

    def __init__(self, objects: Iterable[KubeObject], raw_kinds: Iterable[str] = ()) -> None:
        self.objects = [*objects]
        self._raw_kinds = frozenset(raw_kinds)

    def __getstate__(self) -> tuple[list[KubeObject], frozenset[str], dict[int, bytes]]:
        raw = {
            i: one.raw
            for i, one in enumerate(self.objects)
            if type(one).__name__ in self._raw_kinds and "raw_source" in one.__dict__
        }
        return self.objects, self._raw_kinds, raw

    def __setstate__(self, state: tuple[list[KubeObject], frozenset[str], dict[int, bytes]]) -> None:
        self.objects, self._raw_kinds, raw = state
        for i, source in raw.items():
            self.objects[i].__dict__["raw_source"] = source


def _of_file(run: FileRun, name: str) -> Any:
    return _named(module_of(run), name)


def _named(module: object, name: str) -> Any:
    return reduce(lambda owner, part: getattr(owner, part, None), name.split("."), module)


def packed(runner: object) -> Packed:
    """A runner as bytes; equal ones need not give equal bytes.

    Raises:
        Exception: something in it cannot be pickled; whatever its class raises.
    """
    with io.BytesIO() as file:
        _pickler_class()(file, protocol=5).dump(runner)
        data = file.getvalue()
    content = np.frombuffer(zlib.compress(data, _LEVEL), dtype=np.uint8)
    return Packed(blake2b(data, digest_size=16).hexdigest(), content, len(data))


@cache
def _pickler_class() -> Any:
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, one: Any) -> Any:
            """A class or function of a plugin's file is sent with the file, which runs there as it ran here."""
            if isinstance(one, type | FunctionType) and (run := file_run(one.__module__)) is not None:
                if _named(sys.modules[one.__module__], one.__qualname__) is one:
                    return _of_file, (run, one.__qualname__)
            return super().reducer_override(one)

    return Pickler
