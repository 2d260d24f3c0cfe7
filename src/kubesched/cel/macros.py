"""Recognizes macros among calls: `has`, the loops over lists and maps, `cel.bind`, `optMap`.

Rule: the macros of cel-go v0.26 that Kubernetes v1.36 enables; a call with another number of arguments is a function.
"""

from typing import Final

from kubesched.cel.compile_errors import SourceErrors
from kubesched.cel.syntax_tree import Expression, FunctionCall, MacroCall, MacroKind, Name, Select

_LOOPS: Final = {
    ("all", 2): MacroKind.ALL,
    ("all", 3): MacroKind.ALL,
    ("exists", 2): MacroKind.EXISTS,
    ("exists", 3): MacroKind.EXISTS,
    ("exists_one", 2): MacroKind.EXISTS_ONE,
    ("exists_one", 3): MacroKind.EXISTS_ONE,
    ("existsOne", 3): MacroKind.EXISTS_ONE,
    ("filter", 2): MacroKind.FILTER,
    ("map", 2): MacroKind.MAP,
    ("map", 3): MacroKind.MAP,
    ("transformList", 3): MacroKind.TRANSFORM_LIST,
    ("transformList", 4): MacroKind.TRANSFORM_LIST,
    ("transformMap", 3): MacroKind.TRANSFORM_MAP,
    ("transformMap", 4): MacroKind.TRANSFORM_MAP,
    ("transformMapEntry", 3): MacroKind.TRANSFORM_MAP_ENTRY,
    ("transformMapEntry", 4): MacroKind.TRANSFORM_MAP_ENTRY,
    ("sortBy", 2): MacroKind.SORT_BY,
    ("optMap", 2): MacroKind.OPT_MAP,
    ("optFlatMap", 2): MacroKind.OPT_FLAT_MAP,
}
_ONE_VARIABLE: Final = frozenset({"filter", "map", "sortBy", "optMap", "optFlatMap"})


def expanded(call: FunctionCall, errors: SourceErrors) -> Expression:
    """The macro that a call is, or the call."""
    target, arguments = call.target, call.arguments
    if target is None:
        return _has(call, errors) if call.function == "has" and len(arguments) == 1 else call
    if call.function == "bind" and isinstance(target, Name) and target.text == "cel" and len(arguments) == 3:
        return _bind(call, errors)
    kind = _LOOPS.get((call.function, len(arguments)))
    return call if kind is None else _loop(call, kind, target, errors)


def _has(call: FunctionCall, errors: SourceErrors) -> Expression:
    """`has(operand.field)`."""
    select = call.arguments[0]
    if not isinstance(select, Select) or select.is_test:
        errors.add(select.at, "invalid argument to has() macro")
        return call
    depth, at, start, end = select.depth, call.at, call.start, call.end
    return Select(select.operand, select.field, is_test=True, depth=depth, at=at, start=start, end=end)


def _bind(call: FunctionCall, errors: SourceErrors) -> Expression:
    """`cel.bind(variable, value, body)`."""
    variable, value, body = call.arguments
    if not isinstance(variable, Name):
        errors.add(variable.at, "cel.bind() variable names must be simple identifiers")
    return _macro(call, MacroKind.BIND, value, (_text(variable),), body)


def _loop(call: FunctionCall, kind: MacroKind, target: Expression, errors: SourceErrors) -> Expression:
    """`operand.macro(variable, body)`, with one or two variables, and a condition before the body of some."""
    count = 1 if call.function in _ONE_VARIABLE or len(call.arguments) == 2 else 2
    names, rest = call.arguments[:count], call.arguments[count:]
    for name in names:
        if not isinstance(name, Name):
            errors.add(name.at, _not_a_name(call.function, count))
    variables = tuple(map(_text, names))
    if len(set(variables)) < count and all(isinstance(name, Name) for name in names):
        errors.add(names[-1].at, f"duplicate variable name: {variables[-1]}")
    return _macro(call, kind, target, variables, rest[-1], rest[0] if len(rest) == 2 else None)


def _not_a_name(function: str, variables: int) -> str:
    """Upstream's text for something else where a variable has to be."""
    if function in ("optMap", "optFlatMap"):
        return f"{function}() variable name must be a simple identifier"
    if function in ("map", "filter"):
        return "argument is not an identifier"
    return "argument must be a simple name"


def _macro(
    call: FunctionCall,
    kind: MacroKind,
    operand: Expression,
    variables: tuple[str, ...],
    body: Expression,
    condition: Expression | None = None,
) -> MacroCall:
    depth = 1 + max(part.depth for part in (operand, body, condition) if part is not None)
    at, start, end = call.at, call.start, call.end
    return MacroCall(kind, operand, variables, body, condition, depth=depth, at=at, start=start, end=end)


def _text(node: Expression) -> str:
    return node.text if isinstance(node, Name) else ""
