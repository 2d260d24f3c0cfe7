"""Evaluates parsed expressions step by step: slow, plain, and without anything that the closures use.

It knows the part of the language that campaigns/cel/random_expressions.py writes, without formats and patterns.
"""

import operator
from collections.abc import Callable
from typing import Any

from kubesched.cel import DeviceValue, Quantity, Semver
from kubesched.cel.syntax_tree import (
    Constant,
    Expression,
    FunctionCall,
    ListDisplay,
    MacroCall,
    MacroKind,
    Name,
    Select,
)

Scope = dict[str, Any]
ABSENT = object()
ORDERS = {"_<_": operator.lt, "_<=_": operator.le, "_>_": operator.gt, "_>=_": operator.ge}


class FailedError(Exception):
    """The expression cannot be evaluated."""


class UnknownError(Exception):
    """The interpreter does not know a function."""


def interpret(node: Expression, device: DeviceValue) -> Any:
    return value_of(node, {"device": device})


def value_of(node: Expression, scope: Scope) -> Any:
    match node:
        case Constant():
            return node.value
        case Name():
            return scope[node.text]
        case Select():
            return selected(node, scope)
        case ListDisplay():
            return [value_of(element, scope) for element in node.elements]
        case MacroCall():
            return macro(node, scope)
        case FunctionCall():
            return call(node, scope)
        case _:
            raise UnknownError


def field(value: Any, name: str) -> Any:
    if isinstance(value, DeviceValue):
        return getattr(value, {"allowMultipleAllocations": "allow_multiple_allocations"}.get(name, name))
    return value.get(name, ABSENT) if isinstance(value, dict) else ABSENT


def selected(node: Select, scope: Scope) -> Any:
    found = field(value_of(node.operand, scope), node.field)
    if node.is_test:
        return found is not ABSENT
    if node.is_optional:
        return [] if found is ABSENT else [found]
    return there(found)


def there(value: Any) -> Any:
    if value is ABSENT:
        raise FailedError
    return value


def call(node: FunctionCall, scope: Scope) -> Any:
    operands = [*([node.target] if node.target else []), *node.arguments]
    match node.function, operands:
        case "_&&_", _:
            return decided([lambda o=o: value_of(o, scope) for o in operands], decisive=False)
        case "_||_", _:
            return decided([lambda o=o: value_of(o, scope) for o in operands], decisive=True)
        case "_?_:_", [condition, first, second]:
            return value_of(first if truth(value_of(condition, scope)) else second, scope)
        case "orValue", [optional, other]:
            found = value_of(optional, scope)
            return found[0] if found else value_of(other, scope)
        case _:
            return apply(node.function, [value_of(operand, scope) for operand in operands])


def decided(operands: list[Callable[[], Any]], *, decisive: bool) -> bool:
    values = []
    for operand in operands:
        try:
            values.append(operand())
        except FailedError:
            values.append(None)
        if values[-1] is decisive:
            return decisive
    if all(value is (not decisive) for value in values):
        return not decisive
    raise FailedError


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise FailedError
    return value


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(left: Any, right: Any) -> bool:
    for kind in (Quantity, Semver):
        if isinstance(left, kind) and not isinstance(right, kind) and right is not None:
            raise FailedError
    if is_number(left) and is_number(right):
        return bool(left == right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)


def differs(left: Any, right: Any) -> bool:
    try:
        return not same(left, right)
    except FailedError:
        return True


def apply(function: str, values: list[Any]) -> Any:
    if function in ORDERS:
        return ordered(ORDERS[function], *values)
    if function not in KNOWN:
        raise UnknownError
    return KNOWN[function](*values)


def ordered(order: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    for kind in (bool, str):
        if isinstance(left, kind) and isinstance(right, kind):
            return order(left, right)
    if is_number(left) and is_number(right):
        return order(left, right)
    raise FailedError


def arithmetic(apply_to: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    def compute(left: Any, right: Any) -> Any:
        if apply_to is operator.add and any(isinstance(left, k) and isinstance(right, k) for k in (str, list)):
            return left + right
        if type(left) is not int or type(right) is not int:
            raise FailedError
        return fits(apply_to(left, right))

    return compute


def fits(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise FailedError
    return value


def quotient(left: int, right: int) -> int:
    if not right:
        raise FailedError
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def index(values: Any, at: Any) -> Any:
    if isinstance(values, list) and type(at) is int and 0 <= at < len(values):
        return values[at]
    if isinstance(values, dict):
        return there(values.get(at, ABSENT)) if at in values or type(values) is dict else values[at]
    raise FailedError


def of_kind(kind: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*values: Any) -> Any:
        if any(not isinstance(value, kind) for value in values):
            raise FailedError
        return function(*values)

    return checked


def first_of(values: list[Any], choose: Callable[[list[Any]], Any]) -> Any:
    if not values:
        raise FailedError
    return choose(values)


KNOWN: dict[str, Callable[..., Any]] = {
    "_==_": same,
    "_!=_": differs,
    "!_": lambda value: not truth(value),
    "-_": of_kind(int, lambda value: fits(-value)),
    "_+_": arithmetic(operator.add),
    "_-_": arithmetic(operator.sub),
    "_*_": arithmetic(operator.mul),
    "_/_": arithmetic(quotient),
    "_%_": arithmetic(lambda a, b: a - b * quotient(a, b)),
    "_[_]": index,
    "@in": lambda value, values: any(not differs(value, v) for v in values),
    "size": len,
    "sum": lambda values: fits(sum(values)),
    "min": lambda values: first_of(values, min),
    "max": lambda values: first_of(values, max),
    "contains": of_kind(str, operator.contains),
    "startsWith": of_kind(str, str.startswith),
    "indexOf": of_kind(str, str.find),
    "reverse": lambda values: values[::-1],
    "hasValue": bool,
}


def macro(node: MacroCall, scope: Scope) -> Any:
    if node.kind is MacroKind.BIND:
        return value_of(node.body, {**scope, node.variables[0]: value_of(node.operand, scope)})
    values = value_of(node.operand, scope)
    pairs = enumerate(values) if isinstance(values, list) else values.items()
    scopes = [{**scope, **dict(zip(node.variables, pair[-len(node.variables) :], strict=True))} for pair in pairs]
    match node.kind:
        case MacroKind.ALL | MacroKind.EXISTS:
            bodies = [lambda s=s: truth(value_of(node.body, s)) for s in scopes]
            return decided(bodies, decisive=node.kind is MacroKind.EXISTS)
        case MacroKind.EXISTS_ONE:
            return sum(truth(value_of(node.body, s)) for s in scopes) == 1
        case MacroKind.FILTER:
            return [s[node.variables[0]] for s in scopes if truth(value_of(node.body, s))]
        case MacroKind.MAP | MacroKind.TRANSFORM_LIST if node.condition is None:
            return [value_of(node.body, s) for s in scopes]
        case _:
            raise UnknownError
