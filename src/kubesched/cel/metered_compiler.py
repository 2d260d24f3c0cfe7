"""Compiles expressions that could run for long: each step is charged.

Rule: cel-go v0.26 (interpreter), as far as the costs that Kubernetes v1.36.3 reports can be observed: a variable, a
field, an index and a call cost 1, a list 10, a map 30, and the loops of macros what their hidden variables cost.
"""

from collections.abc import Sequence
from typing import Any, Final

from kubesched.cel.cel_values import MAPS, equal, is_equal
from kubesched.cel.closures import Evaluate, Frame, chosen, overload_for
from kubesched.cel.field_access import is_element
from kubesched.cel.library import FUNCTIONS, size_of
from kubesched.cel.metering import (
    charge,
    charged,
    charged_by_result,
    charged_for_sorting,
    charged_if_there,
    effort_of,
    weighed,
)
from kubesched.cel.selector_compiler import Compiler
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
    children,
)

_LIST_COST: Final = 10
_MAP_COST: Final = 30
_COMPUTED_BEFORE: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)
"""Functions that upstream computes once where their argument is a literal."""

_PATTERNS: Final = frozenset({"find", "findAll", "matches"})
_BAD_PATTERN_COST: Final = 1000
_INDEXES: Final = frozenset({"_[_]", "_[?_]"})
_RESULT_COST: Final = {MacroKind.EXISTS_ONE: 2, MacroKind.BIND: 0, MacroKind.OPT_MAP: 2, MacroKind.OPT_FLAT_MAP: 2}
_STEP_COST: Final = {
    MacroKind.ALL: 3,
    MacroKind.EXISTS: 4,
    MacroKind.MAP: 12,
    MacroKind.TRANSFORM_LIST: 12,
    MacroKind.TRANSFORM_MAP: 3,
    MacroKind.TRANSFORM_MAP_ENTRY: 2,
    MacroKind.SORT_BY: 12,
    MacroKind.OPT_MAP: 2,
    MacroKind.OPT_FLAT_MAP: 1,
}
_COST_OF_ANSWER: Final = {
    MacroKind.ALL: {False: 2},
    MacroKind.EXISTS: {True: 3},
    MacroKind.EXISTS_ONE: {True: 2},
    MacroKind.FILTER: {True: 13},
}


class MeteredCompiler(Compiler):
    """As its base class, with charges. The frame has what is left at 1."""

    def __init__(self, *trees: Expression) -> None:
        super().__init__(*trees)
        self.places = 2

    def _name(self, node: Name) -> Evaluate:
        evaluate = super()._name(node)
        return charged(evaluate, int(self._variable(node.text) is not None))

    def _select(self, node: Select) -> Evaluate:
        evaluate = super()._select(node)
        if self._is_type(node):
            return evaluate
        if node.is_test:
            return charged(evaluate, _base_cost(node.operand))
        is_optional = node.is_optional or _is_optional(node.operand)
        evaluate = charged(evaluate, _base_cost(node.operand) + int(not is_optional))
        return charged_if_there(evaluate) if is_optional else evaluate

    def element(self, node: FunctionCall) -> Evaluate:
        """`a[b]` and `a[?b]`."""
        evaluate = super().element(node)
        operand, index = node.arguments
        is_optional = node.function == "_[?_]" or _is_optional(operand)
        refund = int(_is_attribute(index))
        evaluate = charged(evaluate, _base_cost(operand) + int(not is_optional) - refund)
        return charged_if_there(evaluate) if is_optional else evaluate

    def choice(self, node: FunctionCall) -> Evaluate:
        """The ternary. Upstream does not charge for the variable that a branch begins with."""
        condition, *branches = map(self.compile, node.arguments)
        refunds = [-int(_is_attribute(branch)) for branch in node.arguments[1:]]
        first, second = map(charged, branches, refunds)
        return chosen(condition, first, second)

    def negation(self, node: FunctionCall) -> Evaluate:
        """`!`."""
        return charged(super().negation(node), int(not isinstance(node.arguments[0], Constant)))

    def equality(self, node: FunctionCall) -> Evaluate:
        """`==` and `!=`."""
        left, right = map(self.compile, node.arguments)
        cost = FUNCTIONS.overloads(node.function)[0].cost
        wants = node.function == "_==_"

        def evaluate(frame: Frame) -> bool:
            first, second = left(frame), right(frame)
            charge(frame, cost(first, second, None) if cost else 1)
            return equal(first, second) if wants else not is_equal(first, second)

        return evaluate

    def comparison(self, node: FunctionCall) -> Evaluate:
        """`<` and the like."""
        return self._metered(node, node.arguments)

    def membership(self, node: FunctionCall) -> Evaluate:
        """`in`."""
        if _is_computed_before(node.arguments[1]) and isinstance(node.arguments[1], ListDisplay):
            return super().membership(node)
        value, collection = map(self.compile, node.arguments)

        def evaluate(frame: Frame) -> bool:
            wanted, elements = value(frame), collection(frame)
            charge(frame, 1 if type(elements) in MAPS else size_of(elements))
            return is_element(wanted, elements)

        return evaluate

    def _function(self, node: FunctionCall, operands: Sequence[Expression]) -> Evaluate:
        if _is_computed_before(node):
            return super()._function(node, operands)
        return self._metered(node, operands)

    def _metered(self, node: FunctionCall, operands: Sequence[Expression]) -> Evaluate:
        """A call that is charged by its arguments and its result."""
        arguments = self._arguments(node, operands)
        overloads, function = node.overloads, node.function
        failure_cost = _cost_of_failure(function, operands)

        def evaluate(frame: Frame) -> Any:
            values = [argument(frame) for argument in arguments]
            overload = overload_for(function, overloads, values)
            effort = max(effort_of(values), int(overload.cost is None))
            charge(frame, effort + failure_cost)
            result = overload.apply(*values)
            cost = 1 if overload.cost is None else overload.cost(*values, result)
            charge(frame, max(cost - effort, 0) - failure_cost)
            return result

        return evaluate

    def _list(self, node: ListDisplay) -> Evaluate:
        return weighed(charged(super()._list(node), 0 if _is_computed_before(node) else _LIST_COST))

    def _map(self, node: MapDisplay) -> Evaluate:
        return weighed(charged(super()._map(node), 0 if _is_computed_before(node) else _MAP_COST))

    def _loop(self, node: MacroCall, operand: Evaluate, places: list[int]) -> Evaluate:
        evaluate = charged(super()._loop(node, operand, places), _RESULT_COST.get(node.kind, 1))
        return charged_for_sorting(evaluate) if node.kind is MacroKind.SORT_BY else evaluate

    def _step(self, node: MacroCall) -> Evaluate:
        body = charged(super()._step(node), _STEP_COST.get(node.kind, 0))
        answers = _COST_OF_ANSWER.get(node.kind)
        return charged_by_result(body, answers) if answers else body


def _is_attribute(node: Expression) -> bool:
    """Whether a node is a variable with what is read from it."""
    if isinstance(node, FunctionCall):
        return node.function in _INDEXES
    return isinstance(node, Name) or (isinstance(node, Select) and not node.is_test)


def _cost_of_failure(function: str, operands: Sequence[Expression]) -> int:
    """What a call costs that fails: a pattern that is not written in the expression may be new each time."""
    return _BAD_PATTERN_COST if function in _PATTERNS and not isinstance(operands[1], Constant) else 0


def _is_optional(node: Expression) -> bool:
    return node.type.name == "optional_type"


def _base_cost(operand: Expression) -> int:
    """What the first field of something else than a variable costs more."""
    return int(not _is_attribute(operand))


def _is_computed_before(node: Expression) -> bool:
    """Whether upstream computes a node once."""
    match node:
        case Constant():
            return True
        case ListDisplay() | MapDisplay():
            return not node.optional and all(map(_is_computed_before, children(node)))
        case FunctionCall():
            return node.function in _COMPUTED_BEFORE and all(map(_is_computed_before, children(node)))
        case _:
            return False
