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
        return f"{self.name}({', '.join(map(str, self.parameters))})" if self.parameters else self.name

    @property
    def is_dynamic(self) -> bool:
        """Whether only the value decides: the checker accepts it everywhere."""
        return self.name in ("dyn", "any", "*error*")

    @property
    def is_variable(self) -> bool:
        """Whether it is a type parameter, such as `A`."""
        return len(self.name) == 1


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
ERROR: Final = CelType("*error*")
INT: Final = CelType("int")
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
    if actual.is_dynamic or parameter.is_dynamic:
        return True
    if parameter.is_variable:
        return _fits_variable(parameter.name, actual, bindings)
    if actual.is_variable:
        return True
    return (
        parameter.name == actual.name
        and len(parameter.parameters) == len(actual.parameters)
        and all(fits(p, a, bindings) for p, a in zip(parameter.parameters, actual.parameters, strict=True))
    )


def _fits_variable(name: str, actual: CelType, bindings: Bindings) -> bool:
    bound = bindings.get(name)
    if bound is None or bound.is_dynamic:
        bindings[name] = actual if bound is None else bound
        return True
    if not fits(bound, actual, bindings):
        return False
    if _is_vaguer(actual, bound):
        bindings[name] = actual
    return True


def _is_vaguer(left: CelType, right: CelType) -> bool:
    """Whether the left type says less: has a `dyn` or a free parameter where the right one has a type."""
    if left.is_dynamic or right.is_dynamic:
        return left.is_dynamic and not right.is_dynamic
    return any(_is_vaguer(a, b) for a, b in zip(left.parameters, right.parameters, strict=False))


def filled_in(declared: CelType, bindings: Bindings) -> CelType:
    """A type with its type parameters replaced; one that nothing has bound is `dyn`."""
    if declared.is_variable:
        return bindings.get(declared.name, DYN)
    if not declared.parameters:
        return declared
    return CelType(declared.name, tuple(filled_in(part, bindings) for part in declared.parameters))


def joined(left: CelType, right: CelType) -> CelType:
    """The type of a value that is one or the other: `dyn` where they differ."""
    return left if left == right else DYN
