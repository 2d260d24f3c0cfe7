"""CEL selectors of devices, as far as the generators write them (kube-scheduler v1.36).

Apart from the spelling of four operators these expressions are Python expressions too, so Python's own parser takes
them apart.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from tests.reference.objects import quantity

SPELLING = (("&&", " and "), ("||", " or "))
NEGATION = re.compile(r"!(?!=)")
OPTIONAL_FIELD = re.compile(r"\.\?(\w+)")
SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")


class CelError(Exception):
    """A runtime error, with the text of upstream."""


class Domains(dict):
    """Attributes or capacities by domain; a domain that is not there is empty."""

    def __missing__(self, domain: str) -> dict:
        return {}


@dataclass(frozen=True, order=True)
class Quantity:
    amount: Fraction


@dataclass(frozen=True, order=True)
class Semver:
    """A version in the order of semver.org; build metadata does not count."""

    release: tuple[int, ...]
    is_final: bool
    pre: tuple[tuple[int, int, str], ...]


def as_quantity(text: str) -> Quantity:
    return Quantity(quantity(text))


def as_semver(text: str) -> Semver:
    match = SEMVER.fullmatch(text)
    if not match:
        raise CelError("No Major.Minor.Patch elements found")
    pre = [part for part in (match[4] or "").split(".") if part]
    ordered = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre)
    return Semver(tuple(map(int, match.groups()[:3])), not pre, ordered)


@cache
def parse(expression: str) -> ast.expr:
    text = OPTIONAL_FIELD.sub(r'.optional("\1")', NEGATION.sub("~", expression))
    for theirs, pythons in SPELLING:
        text = text.replace(theirs, pythons)
    return ast.parse(text.strip(), mode="eval").body


def matches(expression: str, device: dict) -> bool:
    """Whether a device is selected.

    Raises:
        CelError: the expression fails for the device.
    """
    return evaluate(parse(expression), {"device": device})


def evaluate(node: ast.expr, scope: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return scope[name]
        case ast.List(elts=elements):
            return [evaluate(element, scope) for element in elements]
        case ast.BoolOp(op=op, values=operands):
            return decided(operands, isinstance(op, ast.Or), scope)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return not evaluate(operand, scope)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return compared(op, evaluate(left, scope), evaluate(right, scope))
        case ast.Subscript(value=table, slice=key):
            return evaluate(table, scope)[evaluate(key, scope)]
        case ast.Attribute(value=table, attr=name):
            found = evaluate(table, scope)
            if name not in found:
                raise CelError(f"no such key: {name}")
            return found[name]
        case ast.Call(func=function, args=arguments):
            return called(function, arguments, scope)
    raise NotImplementedError(ast.dump(node))


def decided(operands: Iterable[ast.expr], decisive: bool, scope: dict[str, Any]) -> bool:
    """`&&` and `||`: an operand that decides outweighs errors of the others."""
    error = None
    for operand in operands:
        try:
            if evaluate(operand, scope) is decisive:
                return decisive
        except CelError as raised:
            error = error or raised
    if error:
        raise error
    return not decisive


def compared(op: ast.cmpop, left: Any, right: Any) -> bool:
    if isinstance(op, ast.In):
        return left in right
    is_same_type = type(left) is type(right)
    if isinstance(op, ast.Eq | ast.NotEq) and not isinstance(left, Semver | Quantity):
        return (is_same_type and left == right) is isinstance(op, ast.Eq)
    if not is_same_type:
        raise CelError("no such overload")
    match op:
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
        case ast.Lt():
            return left < right
        case ast.LtE():
            return left <= right
        case ast.Gt():
            return left > right
        case ast.GtE():
            return left >= right
    raise NotImplementedError(ast.dump(op))


METHODS = {
    "compareTo": lambda a, b: (a > b) - (a < b),
    "isGreaterThan": lambda a, b: a > b,
    "isLessThan": lambda a, b: a < b,
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "lowerAscii": str.lower,
    "optional": lambda table, name: [table[name]] if name in table else [],
    "orValue": lambda optional, other: optional[0] if optional else other,
}
FUNCTIONS = {"quantity": as_quantity, "semver": as_semver}


def called(function: ast.expr, arguments: list[ast.expr], scope: dict[str, Any]) -> Any:
    match function, arguments:
        case ast.Name(id="has"), [ast.Attribute(value=table, attr=name)]:
            return name in evaluate(table, scope)
        case ast.Attribute(value=ast.Name(id="cel"), attr="bind"), [ast.Name(id=name), value, body]:
            return evaluate(body, {**scope, name: evaluate(value, scope)})
        case ast.Name(id=name), _:
            return FUNCTIONS[name](*(evaluate(argument, scope) for argument in arguments))
        case ast.Attribute(value=target, attr=name), _:
            return METHODS[name](evaluate(target, scope), *(evaluate(argument, scope) for argument in arguments))
    raise NotImplementedError(ast.dump(function))
