"""Checks literals of an expression that has the right types: patterns, times, formats, and the elements of lists.

Rule: the validators of cel-go v0.26 that Kubernetes v1.36 enables. Conversions of literals are computed when an
expression is compiled, so they fail then, too.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from kubesched.cel.cel_types import OPEN, CelType
from kubesched.cel.cel_values import type_name
from kubesched.cel.compile_errors import SourceErrors
from kubesched.cel.library import check_clause, clauses, parse_moment, parse_span
from kubesched.cel.overloads import no_such_overload
from kubesched.cel.regular_expressions import compile_pattern
from kubesched.cel.syntax_tree import Constant, Expression, FunctionCall, ListDisplay, MapDisplay, children
from kubesched.errors import CelCompileError, CelRuntimeError

_FIRST_SECOND: Final = -62135596800
_LAST_SECOND: Final = 253402300799
_CONVERSIONS: Final = frozenset({"bool", "bytes", "double", "int", "string", "uint"})
_PATTERNS: Final = frozenset({"matches", "find", "findAll"})


def check_literals(tree: Expression, text: str) -> None:
    """Check all literals.

    Raises:
        CelCompileError: one of them is wrong.
    """
    errors = SourceErrors(text)
    _check(tree, errors)
    errors.raise_any()
    _compute(tree)


def _check(node: Expression, errors: SourceErrors, *, may_mix: bool = False) -> None:
    match node:
        case FunctionCall():
            _check_call(node, errors)
        case ListDisplay() if not may_mix:
            _report(_odd_elements(node.elements, node.optional)[:1], errors)
        case MapDisplay() if not may_mix:
            _report(_odd_elements([key for key, _ in node.entries], frozenset()), errors)
            _report(_odd_elements([value for _, value in node.entries], node.optional), errors)
        case _:
            pass
    for child in children(node):
        _check(child, errors, may_mix=may_mix or (isinstance(node, FunctionCall) and node.function == "format"))


def _odd_elements(elements: Sequence[Expression], optional: frozenset[int]) -> list[tuple[int, str]]:
    """Elements that are not of the type of the first one, as upstream wants it: their places, and what is wrong."""
    first: CelType | None = None
    odd = []
    for i, element in enumerate(elements):
        of = element.type.parameters[0] if i in optional and element.type.parameters else element.type
        if i in optional and of == OPEN:
            continue
        first = first or of
        if not _same(first, of):
            odd.append((element.at, f"expected type '{first}' but found '{of}'"))
    return odd


def _report(problems: Sequence[tuple[int, str]], errors: SourceErrors) -> None:
    for at, message in problems:
        errors.add(at, message)


def _same(first: CelType, other: CelType) -> bool:
    """Whether elements of two types may be in one list: a list that is empty has elements of any type."""
    if first == other:
        return True
    return first.name == other.name and all(
        part == OPEN or partner == OPEN or _same(part, partner)
        for part, partner in zip(first.parameters, other.parameters, strict=False)
    )


def _check_call(node: FunctionCall, errors: SourceErrors) -> None:
    check = _CHECKED.get(node.function)
    if check is not None and len(node.arguments) == 1 and isinstance(node.arguments[0], Constant):
        check(node, node.arguments[0], errors)
    elif node.function == "format" and isinstance(node.target, Constant):
        _check_format(node, str(node.target.value), errors)


def _check_pattern(node: FunctionCall, literal: Constant, errors: SourceErrors) -> None:
    if node.target is not None:
        try:
            compile_pattern(literal.value)
        except CelRuntimeError:
            errors.add(literal.at, "invalid matches argument")


def _check_moment(_node: FunctionCall, literal: Constant, errors: SourceErrors) -> None:
    value = literal.value
    if isinstance(value, str):
        is_moment = parse_moment(value) is not None
    else:
        is_moment = isinstance(value, int) and _FIRST_SECOND <= value <= _LAST_SECOND
    if not is_moment:
        errors.add(literal.at, "invalid timestamp argument")


def _check_span(_node: FunctionCall, literal: Constant, errors: SourceErrors) -> None:
    if not isinstance(literal.value, str) or parse_span(literal.value) is None:
        errors.add(literal.at, "invalid duration argument")


_CHECKED: Final[dict[str, Callable[[FunctionCall, Constant, SourceErrors], None]]] = {
    "matches": _check_pattern,
    "timestamp": _check_moment,
    "duration": _check_span,
}


def _check_format(node: FunctionCall, template: str, errors: SourceErrors) -> None:
    """A literal template with literal arguments."""
    arguments = node.arguments[0]
    if not isinstance(arguments, ListDisplay):
        return
    try:
        letters = [letter for _, letter, _ in clauses(template) if letter]
    except CelRuntimeError as error:
        errors.add(node.at, str(error))
        return
    for letter, element in zip(letters, arguments.elements, strict=False):
        problem = "" if element.type.name in ("dyn", "_") else check_clause(letter, _full_name(element.type, element))
        if problem:
            errors.add(element.at, problem)
    given = len(arguments.elements)
    if len(letters) > given:
        errors.add(node.at, f"index {given} out of range")
    elif given > len(letters):
        text = f"too many arguments supplied to string.format (expected {len(letters)}, got {given})"
        errors.add(node.at, text)


def _full_name(of: CelType, node: Expression) -> str:
    """The name of a type as errors of `format` have it; a text that is a special number is fine for all numbers."""
    names = {
        "any": "google.protobuf.Any",
        "duration": "google.protobuf.Duration",
        "timestamp": "google.protobuf.Timestamp",
        "null": "null_type",
    }
    return names.get(of.name, of.name) if not isinstance(node, Constant) or node.value is not None else "null_type"


def _compute(node: Expression) -> None:
    """Convert literals, and compile the patterns of functions that are no methods."""
    for child in children(node):
        _compute(child)
    if isinstance(node, FunctionCall) and node.overloads:
        operands: list[Any] = [*([node.target] if node.target else []), *node.arguments]
        try:
            if node.function in _PATTERNS and isinstance(operands[1], Constant):
                compile_pattern(operands[1].value)
            elif node.function in _CONVERSIONS and isinstance(operands[0], Constant):
                _convert(node, operands[0].value)
        except CelRuntimeError as error:
            raise CelCompileError(f"program instantiation failed: {error}") from None


def _convert(node: FunctionCall, value: Any) -> None:
    for overload in node.overloads:
        if overload.takes([value]):
            overload.apply(value)
            return
    raise no_such_overload(node.function, type_name(value))
