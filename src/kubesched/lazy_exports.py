"""Lets a door list what its room exports, and load a module of the room only when one of its names is used.

Example:
    with lazy_exports(__name__):
        from kubesched.api.pod import Pod as Pod, PodSpec as PodSpec

The block is noted and not carried out. The import of `Pod` from the door then imports `kubesched.api.pod`. The names of
the block are the `__all__` of the door. To type checkers, `Pod as Pod` is an export and `Pod` is not.
"""

import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any, Final, NamedTuple

_ONE_BLOCK: Final = RLock()  # so that two blocks never restore each other's `builtins.__import__`


@contextmanager
def lazy_exports(door: str, *own: str) -> Iterator[None]:
    """Make every `from MODULE import NAME` of the block wait until the name is used.

    The block has nothing but such imports: while it is carried out, other threads that import doors wait for it, so an
    import that it really did could wait for one of theirs.

    Args:
        door: `__name__` of the door.
        own: names that the door defines itself and exports, too.
    """
    with _ONE_BLOCK:
        yield from _noting(sys.modules[door], own)


def _noting(package: ModuleType, own: tuple[str, ...]) -> Iterator[None]:
    """Note the imports that a package does until this goes on, then make them its exports."""
    given = builtins.__import__

    def note(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType | _Listed:
        if globals is not package.__dict__:
            return given(name, globals, locals, fromlist, level)
        return _Listed(name)

    builtins.__import__ = note  # type: ignore[assignment]  # the import statement takes any object with the names
    try:
        yield
    finally:
        builtins.__import__ = given
    exports = {name: value for name, value in package.__dict__.items() if isinstance(value, _Export)}
    for name in exports:
        del package.__dict__[name]
    package.__dict__["_exports"] = exports
    package.__dict__["__all__"] = sorted([*exports, *own])
    package.__class__ = _Door


class _Export(NamedTuple):
    """Where a name of a door comes from."""

    module: str
    name: str


class _Listed:
    """A module of which only names are listed."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> _Export:
        return _Export(self._module, name)


class _Door(ModuleType):
    """A package that imports what it exports when it is first used."""

    _exports: dict[str, _Export]

    def __getattr__(self, name: str) -> Any:
        export = self._exports.get(name)
        if export is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(export.module), export.name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        """Set a name; the import of a submodule does not hide an export that has the same name."""
        if name not in self._exports or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self._exports})
