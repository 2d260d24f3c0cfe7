"""Quantities and versions.

Rule: Kubernetes v1.36 CEL libraries "quantity" and "semver".
"""

from collections.abc import Callable
from typing import Any

from kubesched.cel.exact_amounts import Quantity
from kubesched.cel.library.costs import cost_of_text
from kubesched.cel.overloads import FunctionTable
from kubesched.cel.semantic_versions import Semver
from kubesched.errors import CelRuntimeError

KUBERNETES_FUNCTIONS = FunctionTable()
declare = KUBERNETES_FUNCTIONS.declare

declare("quantity(string) -> kubernetes.Quantity", cost=cost_of_text)(Quantity.parse)


def _parses(parse: Callable[..., Any], *arguments: Any, **options: Any) -> bool:
    try:
        parse(*arguments, **options)
    except CelRuntimeError:
        return False
    return True


@declare("isQuantity(string) -> bool", cost=cost_of_text)
def _is_quantity(text: str) -> bool:
    return _parses(Quantity.parse, text)


declare("kubernetes.Quantity: isInteger() -> bool")(lambda amount: amount.is_integer)
declare("kubernetes.Quantity: asInteger() -> int")(Quantity.as_integer)
declare("kubernetes.Quantity: asApproximateFloat() -> double")(Quantity.as_float)
declare("sign(kubernetes.Quantity) -> int")(lambda amount: (amount.nano > 0) - (amount.nano < 0))
declare("kubernetes.Quantity: compareTo(kubernetes.Quantity) -> int")(Quantity.compare)
declare("kubernetes.Quantity: isGreaterThan(kubernetes.Quantity) -> bool")(lambda a, b: a.nano > b.nano)
declare("kubernetes.Quantity: isLessThan(kubernetes.Quantity) -> bool")(lambda a, b: a.nano < b.nano)


@declare("kubernetes.Quantity: add(kubernetes.Quantity) -> kubernetes.Quantity")
@declare("kubernetes.Quantity: add(int) -> kubernetes.Quantity")
def _sum(left: Quantity, right: Quantity | int) -> Quantity:
    return Quantity(left.nano + _nano(right))


@declare("kubernetes.Quantity: sub(kubernetes.Quantity) -> kubernetes.Quantity")
@declare("kubernetes.Quantity: sub(int) -> kubernetes.Quantity")
def _difference(left: Quantity, right: Quantity | int) -> Quantity:
    return Quantity(left.nano - _nano(right))


def _nano(value: Quantity | int) -> int:
    return value.nano if isinstance(value, Quantity) else value * 10**9


@declare("semver(string) -> kubernetes.Semver", "semver(string, bool) -> kubernetes.Semver", cost=cost_of_text)
def _semver(text: str, normalize: bool = False) -> Semver:
    return Semver.parse(text, normalize=normalize)


@declare("isSemver(string) -> bool", "isSemver(string, bool) -> bool", cost=cost_of_text)
def _is_semver(text: str, normalize: bool = False) -> bool:
    return _parses(Semver.parse, text, normalize=normalize)


declare("kubernetes.Semver: major() -> int")(lambda version: version.major)
declare("kubernetes.Semver: minor() -> int")(lambda version: version.minor)
declare("kubernetes.Semver: patch() -> int")(lambda version: version.patch)
declare("kubernetes.Semver: compareTo(kubernetes.Semver) -> int")(Semver.compare)
declare("kubernetes.Semver: isGreaterThan(kubernetes.Semver) -> bool")(lambda a, b: a.order > b.order)
declare("kubernetes.Semver: isLessThan(kubernetes.Semver) -> bool")(lambda a, b: a.order < b.order)
