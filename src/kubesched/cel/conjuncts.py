"""The parts of a selector that all have to hold, and which of them a device does not meet."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import msgspec

from kubesched.cel.cel_values import NO_SUCH_OVERLOAD, not_a_bool
from kubesched.cel.closures import Evaluate
from kubesched.cel.device_paths import DEVICE_ALIASES, Aliases, inner_aliases
from kubesched.cel.device_value import DeviceValue
from kubesched.cel.exact_amounts import Quantity
from kubesched.cel.library import BUDGET
from kubesched.cel.literal_comparisons import FactValue, LiteralComparison, comparison_of
from kubesched.cel.metered_compiler import MeteredCompiler
from kubesched.cel.syntax_tree import Constant, Expression, FunctionCall, MacroCall, MacroKind, children
from kubesched.errors import CelRuntimeError

_NO_KEY: Final = "no such key: "


class UnreadQuantity(msgspec.Struct, frozen=True):
    """A text in `quantity(...)` that is not a quantity, such as `80GB`.

    Attributes:
        start, end: of the text with its quotes, in the selector.
    """

    text: str
    start: int
    end: int


class Conjunct(msgspec.Struct, frozen=True):
    """A part of a selector.

    Attributes:
        start, end: of the part in the text.
        comparison: what it compares, if it is one comparison and nothing else.
        unread: what it has for quantities that is not one.
    """

    text: str
    start: int
    end: int
    comparison: LiteralComparison | None = None
    unread: tuple[UnreadQuantity, ...] = ()


class Refusal(msgspec.Struct, frozen=True):
    """Why a device does not match.

    Attributes:
        conjunct: the first part that is false; if there is none, the first one that fails.
        value: what the device has where the part is one comparison, None if it has nothing there.
        error: of the evaluation; empty if the part is false.
    """

    conjunct: Conjunct
    value: FactValue | None = None
    error: str = ""

    @property
    def lacking(self) -> str:
        """The key that the device does not have, if the part fails for that; else empty."""
        return self.error.removeprefix(_NO_KEY) if self.error.startswith(_NO_KEY) else ""

    @property
    def wrong_word(self) -> str:
        """The word of the part that makes it fail; empty where that is not known."""
        return self.lacking or next((one.text for one in self.conjunct.unread), "")


class Conjunction:
    """The parts of one selector, also those inside of `cel.bind`.

    Attributes:
        conjuncts: in the order of the text; one, if the selector is no conjunction.
    """

    def __init__(self, tree: Expression, text: str) -> None:
        parts = list(_parts(tree, DEVICE_ALIASES, ()))
        self.conjuncts = tuple(
            Conjunct(
                text[node.start : node.end], node.start, node.end, comparison_of(node, aliases), tuple(_unread(node))
            )
            for node, aliases, _ in parts
        )
        compiler = MeteredCompiler(tree)
        self._evaluators = [compiler.compile(_bound(node, bindings)) for node, _, bindings in parts]
        self._places = compiler.places

    def refusal(self, device: DeviceValue) -> Refusal | None:
        """The part that a device does not meet, None if it meets all of them."""
        failed: Refusal | None = None
        for conjunct, evaluate in zip(self.conjuncts, self._evaluators, strict=True):
            value = conjunct.comparison.value(device) if conjunct.comparison else None
            try:
                if not self._holds(evaluate, device):
                    return Refusal(conjunct, value)
            except CelRuntimeError as error:
                refusal = Refusal(conjunct, value, str(error))
                if error.is_final:
                    return refusal
                failed = failed or refusal
        return failed

    def _holds(self, evaluate: Evaluate, device: DeviceValue) -> bool:
        result = evaluate([device, BUDGET, *[None] * (self._places - 2)])
        if type(result) is bool:
            return result
        raise not_a_bool(result) if len(self.conjuncts) == 1 else CelRuntimeError(NO_SUCH_OVERLOAD)


def _parts(
    node: Expression, aliases: Aliases, bindings: tuple[MacroCall, ...]
) -> list[tuple[Expression, Aliases, tuple[MacroCall, ...]]]:
    """The operands of a conjunction, each with the variables and the `cel.bind` around it."""
    match node:
        case FunctionCall(function="_&&_"):
            return [part for operand in node.arguments for part in _parts(operand, aliases, bindings)]
        case MacroCall(kind=MacroKind.BIND):
            return _parts(node.body, inner_aliases(node, aliases), (*bindings, node))
        case _:
            return [(node, aliases, bindings)]


def _unread(node: Expression) -> Iterator[UnreadQuantity]:
    """The texts below a node that are not the quantities that they should be."""
    match node:
        case FunctionCall(function="quantity", arguments=[Constant(value=str(text)) as literal], target=None):
            try:
                Quantity.parse(text)
            except CelRuntimeError:
                yield UnreadQuantity(text, literal.start, literal.end)
        case _:
            for child in children(node):
                yield from _unread(child)


def _bound(node: Expression, bindings: tuple[MacroCall, ...]) -> Expression:
    """A part with its own `cel.bind` around it."""
    for binding in reversed(bindings):
        node = replace(binding, body=node)
    return node
