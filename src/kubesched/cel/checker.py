"""Gives every node of an expression its type, and reports names, fields and calls that cannot be.

Rule: cel-go v0.26 (checker), with the environment of device selectors in Kubernetes v1.36: one variable `device`,
lists and maps whose elements have one type.
"""

from collections.abc import Sequence
from typing import Final

from kubesched.cel.cel_types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    OPEN,
    STRING,
    UINT,
    Bindings,
    CelType,
    filled_in,
    fits,
    is_open,
    joined,
    list_of,
    map_of,
    optional_of,
    read_type,
)
from kubesched.cel.cel_values import TypeValue, Uint
from kubesched.cel.compile_errors import SourceErrors
from kubesched.cel.library import FUNCTIONS, ORDERED_TYPES, SORT_BY_KEYS
from kubesched.cel.literal_checks import check_literals
from kubesched.cel.overloads import Overload
from kubesched.cel.syntax_tree import (
    Constant,
    Expression,
    FunctionCall,
    ListDisplay,
    MacroCall,
    MacroKind,
    MapDisplay,
    Name,
    Select,
    qualified_name,
)
from kubesched.errors import CelCompileError
from kubesched.release import DEFAULT_RELEASE, Release

DEVICE: Final = CelType("kubernetes.DRADevice")
DEVICE_FIELDS: Final = {
    "driver": STRING,
    "attributes": read_type("map(string, map(string, any))"),
    "capacity": read_type("map(string, map(string, kubernetes.Quantity))"),
    "allowMultipleAllocations": BOOL,
}
_LATER_FIELDS: Final = DEVICE_FIELDS | {"attributes": read_type("map(string, map(string, dyn))")}
"""Rule: kube-scheduler since v1.37."""
TYPE_NAMES: Final = {
    name: TypeValue(name)
    for name in (
        *("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint", "optional_type"),
        *("google.protobuf.Duration", "google.protobuf.Timestamp", "net.IP", "net.CIDR"),
    )
}
_CONSTANTS: Final = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}
_TESTS: Final = frozenset({MacroKind.ALL, MacroKind.EXISTS})


def check_expression(tree: Expression, text: str, release: Release = DEFAULT_RELEASE) -> None:
    """Fill in types and overloads.

    Rule: kube-scheduler since v1.37 takes a value that may be of any type for one that may be a bool.

    Raises:
        CelCompileError: the expression has an error, or its value is certainly not a bool.
    """
    errors = SourceErrors(text)
    result = _Checker(errors, release).check(tree)
    errors.raise_any()
    check_literals(tree, text)
    if result.name not in ("bool", "any") and (release.before(37) or result.name != "dyn"):
        shown = "null_type" if result == NULL else result
        raise CelCompileError(f"must evaluate to bool or the unknown type, not {shown}")


class _Checker:
    """The variables in scope, and the errors so far."""

    def __init__(self, errors: SourceErrors, release: Release) -> None:
        self._errors = errors
        self._release = release
        self._fields = DEVICE_FIELDS if release.before(37) else _LATER_FIELDS
        self._scopes: list[dict[str, CelType]] = [{"device": DEVICE}]

    def check(self, node: Expression) -> CelType:
        match node:
            case Constant():
                node.type = _CONSTANTS[type(node.value)]
            case Name():
                node.type = self._name(node)
            case Select():
                node.type = self._select(node)
            case FunctionCall():
                node.type = self._call(node)
            case ListDisplay():
                node.type = self._list(node)
            case MapDisplay():
                node.type = self._map(node)
            case MacroCall():
                node.type = self._macro(node)
        return node.type

    def _variable(self, name: str) -> CelType | None:
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)

    def _name(self, node: Name) -> CelType:
        variable = self._variable(node.text)
        if variable is not None:
            return variable
        if node.text in TYPE_NAMES:
            return CelType("type", (DYN,))
        return self._undeclared(node.at, node.text)

    def _undeclared(self, at: int, name: str) -> CelType:
        self._errors.add(at, f"undeclared reference to '{name}' (in container '')")
        return ERROR

    def _select(self, node: Select) -> CelType:
        name = qualified_name(node)
        if name in TYPE_NAMES and self._variable(name.split(".")[0]) is None:
            return CelType("type", (DYN,))
        field = self._field(self.check(node.operand), node)
        return BOOL if node.is_test else field

    def _field(self, operand: CelType, node: Select) -> CelType:
        """The type of a field; of an optional value, or after `.?`, it is optional."""
        is_optional = operand.name == "optional_type"
        if is_optional:
            operand = operand.parameters[0]
        field = self._plain_field(operand, node)
        return optional_of(field) if (is_optional or node.is_optional) and field.name != "optional_type" else field

    def _plain_field(self, operand: CelType, node: Select) -> CelType:
        if operand.name == "map":
            return operand.parameters[1]
        if operand == DEVICE:
            if node.field in self._fields:
                return self._fields[node.field]
            self._errors.add(node.at, f"undefined field '{node.field}'")
            return ERROR
        if operand.is_dynamic:
            return DYN if operand != ERROR else ERROR
        self._errors.add(node.at, f"type '{operand}' does not support field selection")
        return ERROR

    def _call(self, node: FunctionCall) -> CelType:
        self._resolve_namespace(node)
        receiver = [] if node.target is None else [self.check(node.target)]
        arguments = [self.check(argument) for argument in node.arguments]
        if node.function in ("_&&_", "_||_"):
            return self._logic(node, arguments)
        if node.function not in FUNCTIONS:
            return self._undeclared(node.at, node.function)
        result = self._resolve(node, receiver + arguments)
        if result is None:
            applied = ", ".join(map(str, arguments))
            shown = f"{receiver[0]}.({applied})" if receiver else f"({applied})"
            self._errors.add(node.at, f"found no matching overload for '{node.function}' applied to '{shown}'")
            return ERROR
        return result

    def _resolve_namespace(self, node: FunctionCall) -> None:
        """Make a function of what looks like a method: `sets.contains(...)`."""
        if node.target is None:
            return
        prefix = qualified_name(node.target)
        name = f"{prefix}.{node.function}"
        if prefix and name in FUNCTIONS and self._variable(prefix.split(".")[0]) is None:
            node.function, node.target = name, None

    def _logic(self, node: FunctionCall, arguments: list[CelType]) -> CelType:
        for argument, of in zip(node.arguments, arguments, strict=True):
            if not fits(BOOL, of, {}):
                self._errors.add(argument.at, f"expected type 'bool' but found '{of}'")
        return BOOL

    def _resolve(self, node: FunctionCall, arguments: list[CelType]) -> CelType | None:
        """The type of a call, by all overloads that the arguments fit; None if there is none."""
        matching: list[Overload] = []
        results: list[CelType] = []
        for overload in FUNCTIONS.overloads(node.function):
            bindings: Bindings = {}
            is_meant = overload.is_of(self._release) and overload.is_method == (node.target is not None)
            if is_meant and _take(overload, arguments, bindings):
                matching.append(overload)
                results.append(filled_in(overload.result, bindings))
        node.overloads = tuple(matching)
        if not results:
            return None
        return results[0] if len(set(results)) == 1 or any(map(is_open, arguments)) else DYN

    def _list(self, node: ListDisplay) -> CelType:
        return list_of(self._common(node.elements, node.optional))

    def _map(self, node: MapDisplay) -> CelType:
        keys = self._common([key for key, _ in node.entries], frozenset())
        return map_of(keys, self._common([value for _, value in node.entries], node.optional))

    def _common(self, nodes: Sequence[Expression], optional: frozenset[int]) -> CelType:
        """The type that elements have in common."""
        result: CelType | None = None
        for i, node in enumerate(nodes):
            of = self.check(node)
            of = self._unwrapped(of, node) if i in optional else of
            result = of if result is None else joined(result, of)
        return OPEN if result is None else result

    def _unwrapped(self, of: CelType, node: Expression) -> CelType:
        """The type of the value of an optional entry."""
        if of.name == "optional_type":
            return of.parameters[0]
        if not of.is_dynamic:
            self._errors.add(node.at, f"expected type 'optional_type({of})' but found '{of}'")
        return of

    def _macro(self, node: MacroCall) -> CelType:
        operand = self.check(node.operand)
        scope = self._variables(node, operand)
        self._scopes.append(scope)
        condition = self.check(node.condition) if node.condition else BOOL
        body = self.check(node.body)
        self._scopes.pop()
        return self._macro_type(node, operand, condition, body)

    def _variables(self, node: MacroCall, operand: CelType) -> dict[str, CelType]:
        """The types of the variables that a macro brings."""
        if node.kind is MacroKind.BIND:
            return {node.variables[0]: operand}
        if node.kind in (MacroKind.OPT_MAP, MacroKind.OPT_FLAT_MAP):
            return {node.variables[0]: operand.parameters[0] if operand.name == "optional_type" else DYN}
        return dict(zip(node.variables, self._element_types(node, operand), strict=False))

    def _element_types(self, node: MacroCall, operand: CelType) -> tuple[CelType, ...]:
        two = len(node.variables) == 2
        if operand.name == "list":
            return (INT, operand.parameters[0]) if two else operand.parameters
        if operand.name == "map":
            return operand.parameters
        if operand.name not in ("dyn", ERROR.name):
            self._errors.add(
                node.operand.at,
                f"expression of type '{operand}' cannot be range of a comprehension (must be list, map, or dynamic)",
            )
            return ERROR, ERROR
        return DYN, DYN

    def _macro_type(self, node: MacroCall, operand: CelType, condition: CelType, body: CelType) -> CelType:
        match node.kind:
            case MacroKind.ALL | MacroKind.EXISTS:
                self._expect_bool(node.body, body)
                return BOOL
            case MacroKind.EXISTS_ONE:
                self._expect_condition(node, body, INT)
                return BOOL
            case MacroKind.FILTER:
                result = list_of(self._element_types_of_filter(node, operand))
                self._expect_condition(node, body, result)
                return result
            case MacroKind.MAP | MacroKind.TRANSFORM_LIST:
                self._expect_condition(node, condition, list_of(body))
                return list_of(body)
            case MacroKind.TRANSFORM_MAP:
                key = INT if operand.name == "list" else operand.parameters[0] if operand.name == "map" else DYN
                self._expect_condition(node, condition, map_of(key, body))
                return map_of(key, body)
            case MacroKind.TRANSFORM_MAP_ENTRY:
                self._expect_condition(node, condition, body)
                return body
            case MacroKind.SORT_BY:
                return self._sort_by(node, operand, body)
            case MacroKind.OPT_MAP:
                return optional_of(body)
            case _:
                return body

    def _sort_by(self, node: MacroCall, operand: CelType, body: CelType) -> CelType:
        """Upstream makes a function call of `sortBy`, and its error is about that one."""
        if body.is_dynamic or body.name in ORDERED_TYPES:
            return operand
        applied = f"'{SORT_BY_KEYS}' applied to '{operand}.({list_of(body)})'"
        self._errors.add(node.at, f"found no matching overload for {applied}")
        return ERROR

    @staticmethod
    def _element_types_of_filter(node: MacroCall, operand: CelType) -> CelType:
        return operand.parameters[0] if operand.name in ("list", "map") else DYN

    def _expect_bool(self, node: Expression, of: CelType) -> None:
        if not fits(BOOL, of, {}):
            self._errors.add(node.at, f"expected type 'bool' but found '{of}'")

    def _expect_condition(self, node: MacroCall, condition: CelType, step: CelType) -> None:
        """Upstream makes a ternary of the condition of a loop, and its error is about that one."""
        if not fits(BOOL, condition, {}):
            applied = f"({condition}, {step}, {step})"
            self._errors.add(node.at, f"found no matching overload for '_?_:_' applied to '{applied}'")


def _take(overload: Overload, arguments: list[CelType], bindings: Bindings) -> bool:
    return len(overload.parameters) == len(arguments) and all(
        fits(parameter, argument, bindings) for parameter, argument in zip(overload.parameters, arguments, strict=True)
    )


def is_settled(of: CelType) -> bool:
    """Whether the value of a node is certainly of its type."""
    return not of.is_dynamic and of != ANY
