"""The tables that some objects hold, however deep: what grows without end shows in their lengths."""

from collections import Counter, deque
from collections.abc import Iterator
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from kubesched.api import KubeObject

_MAPPINGS = (dict, WeakValueDictionary, WeakKeyDictionary)
_TABLES = (*_MAPPINGS, list, set, deque)


def tables_of(*roots: object) -> Counter[str]:
    """The number of entries in all tables that are reached from the roots, by class and attribute.

    Objects of the API are entries and have no tables of their own.
    """
    sizes: Counter[str] = Counter()
    seen: set[int] = set()
    found: list[tuple[str, Any]] = [("", root) for root in roots]
    while found:
        name, value = found.pop()
        if id(value) in seen or isinstance(value, KubeObject | type):
            continue
        seen.add(id(value))
        if isinstance(value, _TABLES):
            sizes[name] += len(value)
        found += _within(name, value)
    return sizes


def _within(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, _MAPPINGS):
        yield from ((name, one) for pair in list(value.items()) for one in pair)
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from ((name, one) for one in list(value))
    elif isinstance(value, MethodType):
        yield name, value.__self__
    elif isinstance(value, partial):
        yield name, (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, FunctionType):
        yield from ((name, cell) for cell in value.__closure__ or ())
    elif isinstance(value, CellType):
        yield name, getattr(value, "cell_contents", None)
    elif type(value).__module__.partition(".")[0] in ("kubesched", "tests"):
        yield from ((f"{type(value).__name__}.{key}", one) for key, one in _attributes(value))


def _attributes(value: object) -> Iterator[tuple[str, object]]:
    yield from list(getattr(value, "__dict__", {}).items())
    for each in type(value).__mro__:
        slots = vars(each).get("__slots__", ())
        for key in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, key):
                yield key, getattr(value, key)
    for key in getattr(value, "__struct_fields__", ()):
        yield key, getattr(value, key)
