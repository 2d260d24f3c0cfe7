"""Declares the functions of expressions: their types, what they do, and what they cost.

A signature is written as `size(string) -> int`, `sets.contains(list(A), list(A)) -> bool`, or, for a method,
`string: startsWith(string) -> bool`.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from kubesched.cel.cel_types import CelType, read_type
from kubesched.cel.cel_values import classes_of
from kubesched.errors import CelRuntimeError
from kubesched.release import Release

_SIGNATURE: Final = re.compile(r"(?:(?P<receiver>[^:]+): )?(?P<name>\S+?)\((?P<parameters>.*)\) -> (?P<result>.+)")

Apply = Callable[..., Any]
CostOf = Callable[..., int]
"""Takes the arguments and the result."""

_Function = TypeVar("_Function", bound=Apply)


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function.

    Attributes:
        parameters: with the receiver of a method first.
        classes: of the Python values that each parameter takes; None takes all.
        cost: None for functions that cost 1.
        grows: whether the result may be larger than what goes in.
        since, until: the first minor version of Kubernetes that has it, and the first one that has not; 0 for none.
    """

    function: str
    parameters: tuple[CelType, ...]
    result: CelType
    is_method: bool
    apply: Apply
    classes: tuple[frozenset[type] | None, ...]
    cost: CostOf | None = None
    grows: bool = False
    is_standard: bool = False
    since: int = 0
    until: int = 0

    def is_of(self, release: Release) -> bool:
        """Whether a version of Kubernetes has it."""
        return not release.before(self.since) and (not self.until or release.before(self.until))

    def takes(self, values: Iterable[Any]) -> bool:
        """Whether the values are of the types of the parameters."""
        return all(of is None or type(value) in of for of, value in zip(self.classes, values, strict=True))


class FunctionTable:
    """Functions by name, each with its overloads."""

    def __init__(self, *others: "FunctionTable") -> None:
        self._overloads: dict[str, list[Overload]] = {}
        for other in others:
            for function, overloads in other._overloads.items():
                self._overloads.setdefault(function, []).extend(overloads)

    def __contains__(self, function: str) -> bool:
        return function in self._overloads

    def overloads(self, function: str) -> tuple[Overload, ...]:
        """The overloads of a function, in the order of their declaration."""
        return tuple(self._overloads.get(function, ()))

    def declare(
        self,
        *signatures: str,
        cost: CostOf | None = None,
        grows: bool = False,
        is_standard: bool = False,
        since: int = 0,
        until: int = 0,
    ) -> Callable[[_Function], _Function]:
        """Declare what a Python function does for some signatures."""

        def register(apply: _Function) -> _Function:
            for signature in signatures:
                versions = since, until
                self._add(signature, apply, cost, versions, grows=grows, is_standard=is_standard)
            return apply

        return register

    def _add(
        self,
        signature: str,
        apply: Apply,
        cost: CostOf | None,
        versions: tuple[int, int],
        *,
        grows: bool,
        is_standard: bool,
    ) -> None:
        match = _SIGNATURE.fullmatch(signature)
        if match is None:
            raise ValueError(signature)
        receiver = (read_type(match["receiver"]),) if match["receiver"] else ()
        parameters = receiver + read_type(f"_({match['parameters']})").parameters
        overload = Overload(
            match["name"],
            parameters,
            read_type(match["result"]),
            bool(receiver),
            apply,
            tuple(classes_of(parameter.name) for parameter in parameters),
            cost,
            grows,
            is_standard,
            *versions,
        )
        self._overloads.setdefault(overload.function, []).append(overload)


def no_such_overload(function: str, *type_names: str) -> CelRuntimeError:
    """The error of a function whose arguments have other types than any of its overloads."""
    return CelRuntimeError(f"no such overload: {function}({', '.join(type_names)})")
