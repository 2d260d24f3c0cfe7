"""Functions of lists and sets.

Rule: Kubernetes v1.36 CEL library "lists"; cel-go v0.26 ext.Lists and ext.Sets.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from kubesched.cel.cel_values import equal
from kubesched.cel.library.costs import cost_of_elements
from kubesched.cel.overloads import FunctionTable
from kubesched.errors import CelRuntimeError

LIST_FUNCTIONS = FunctionTable()
declare = LIST_FUNCTIONS.declare

_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_MOST_IN_RANGE = 1_000_000


def _ordered(name: str, result: str) -> list[str]:
    return [f"list({of}): {name}() -> {result.format(of)}" for of in _COMPARABLE]


@declare(*_ordered("isSorted", "bool"), cost=cost_of_elements)
def _is_sorted(elements: list[Any]) -> bool:
    return all(a <= b for a, b in pairwise(elements))


def _extreme(name: str, choose: Callable[[list[Any]], Any]) -> None:
    def apply(elements: list[Any]) -> Any:
        if not elements:
            raise CelRuntimeError(f"{name} called on empty list")
        return choose(elements)

    declare(*_ordered(name, "{}"), cost=cost_of_elements)(apply)


_extreme("min", min)
_extreme("max", max)


@declare("list(A): indexOf(A) -> int", cost=cost_of_elements)
def _index(elements: list[Any], wanted: Any) -> int:
    return next((i for i, element in enumerate(elements) if equal(element, wanted)), -1)


@declare("list(A): lastIndexOf(A) -> int", cost=cost_of_elements)
def _last_index(elements: list[Any], wanted: Any) -> int:
    return next((i for i in reversed(range(len(elements))) if equal(elements[i], wanted)), -1)
