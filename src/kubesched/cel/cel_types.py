"""Types of CEL expressions: how they are written in errors, and which value fits which parameter.

Rule: cel-go v0.26 (checker): a type parameter (`A`) takes the first type that it meets; `dyn` and `any` fit everything.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z_][\w.]*|[(),]")


@dataclass(frozen=True, slots=True)
class CelType:
    """A type: a name, and the types of its elements.

    Attributes:
        name: as error messages write it, such as `list` or `kubernetes.Quantity`.
        parameters: of `list(T)`, `map(K, V)`, `optional_type(T)` and `type(T)`.
    """

    name: str
    parameters: tuple["CelType", ...] = ()

    def __str__(self) -> str:
        if self.name == "_":
            return "dyn"
        return f"{self.name}({', '.join(map(str, self.parameters))})" if self.parameters else self.name

    @property
    def is_dynamic(self) -> bool:
        """Whether only the value decides: the checker accepts it everywhere."""
        return self.name in ("_", "any", "dyn", "!error!")

    @property
    def may_be_null(self) -> bool:
        """Whether null is a value of the type; upstream's types that are messages or have methods."""
        return "." in self.name or self.name in ("duration", "optional_type", "timestamp")

    @property
    def is_variable(self) -> bool:
        """Whether it is a type parameter, such as `A`."""
        return len(self.name) == 1 and self.name != "_"


@lru_cache(maxsize=512)
def read_type(text: str) -> CelType:
    """Read a type as error messages write it: `map(string, list(A))`."""
    words = _WORD.findall(text)
    words.reverse()
    return _read(words)


def _read(words: list[str]) -> CelType:
    name, parameters = words.pop(), []
    if words and words[-1] == "(":
        words.pop()
        while words[-1] != ")":
            parameters.append(_read(words))
            if words[-1] == ",":
                words.pop()
        words.pop()
    return CelType(name, tuple(parameters))


ANY: Final = CelType("any")
BOOL: Final = CelType("bool")
BYTES: Final = CelType("bytes")
DOUBLE: Final = CelType("double")
DYN: Final = CelType("dyn")
ERROR: Final = CelType("!error!")
INT: Final = CelType("int")
OPEN: Final = CelType("_")
"""What the elements of an empty list are: any one type, written as `dyn`."""

NULL: Final = CelType("null")
STRING: Final = CelType("string")
UINT: Final = CelType("uint")

Bindings = dict[str, CelType]
"""The types that type parameters have taken so far."""


def list_of(element: CelType) -> CelType:
    """The type of a list."""
    return CelType("list", (element,))


def map_of(key: CelType, value: CelType) -> CelType:
    """The type of a map."""
    return CelType("map", (key, value))


def optional_of(value: CelType) -> CelType:
    """The type of an optional value."""
    return CelType("optional_type", (value,))


def fits(parameter: CelType, actual: CelType, bindings: Bindings) -> bool:
    """Whether a value of a type may stand where a parameter stands; binds the type parameters that it meets."""
    if parameter.is_variable:
        return _fits_variable(parameter.name, actual, bindings)
    if actual.is_dynamic or parameter.is_dynamic:
        return True
    if actual.is_variable or (actual == NULL and parameter.may_be_null):
        return True
    return (
        parameter.name == actual.name
        and len(parameter.parameters) == len(actual.parameters)
        and all(fits(p, a, bindings) for p, a in zip(parameter.parameters, actual.parameters, strict=True))
    )


def _fits_variable(name: str, actual: CelType, bindings: Bindings) -> bool:
    bound = bindings.setdefault(name, actual)
    if bound == NULL and actual.may_be_null:
        return True
    if not fits(bound, actual, bindings):
        return False
    if _is_vaguer(actual, bound):
        bindings[name] = actual
    return True


def _is_vaguer(left: CelType, right: CelType) -> bool:
    """Whether the left type says less: has a `dyn` where the right one has a type."""
    if right == OPEN:
        return left != OPEN
    if left.is_dynamic or right.is_dynamic:
        return left.is_dynamic and not right.is_dynamic
    return any(_is_vaguer(a, b) for a, b in zip(left.parameters, right.parameters, strict=False))


def filled_in(declared: CelType, bindings: Bindings) -> CelType:
    """A type with its type parameters replaced; one that nothing has bound is open."""
    if declared.is_variable:
        return bindings.get(declared.name, OPEN)
    if not declared.parameters:
        return declared
    return CelType(declared.name, tuple(filled_in(part, bindings) for part in declared.parameters))


def joined(left: CelType, right: CelType) -> CelType:
    """The type of a value that is one or the other: `dyn` where they differ. Empty lists fit others."""
    if left == right or _is_same_but_open(right, left):
        return left
    return right if _is_same_but_open(left, right) else DYN


def _is_same_but_open(left: CelType, right: CelType) -> bool:
    """Whether the left type has parts that are open, and is else the right one."""
    if left == OPEN:
        return True
    return (
        left.name == right.name
        and all(a == b or _is_same_but_open(a, b) for a, b in zip(left.parameters, right.parameters, strict=False))
        and bool(left.parameters)
    )


def is_open(of: CelType) -> bool:
    """Whether some part of a type is open."""
    return of == OPEN or any(map(is_open, of.parameters))
