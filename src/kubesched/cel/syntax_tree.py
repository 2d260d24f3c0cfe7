"""The nodes of a parsed expression. A macro is a node, not the loop that cel-go makes of it."""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypeAlias

from kubesched.cel.cel_types import DYN, CelType


@dataclass(slots=True, kw_only=True)
class SyntaxNode:
    """What all nodes have.

    Attributes:
        at: offset of the character that errors point to: an operator, a bracket, a dot.
        start, end: offsets of the text of the node.
        depth: nodes from here to the deepest leaf.
        type: filled in by the checker.
    """

    at: int
    start: int
    end: int
    depth: int = 1
    type: CelType = DYN


@dataclass(slots=True)
class Constant(SyntaxNode):
    """A literal."""

    value: Any


@dataclass(slots=True)
class Name(SyntaxNode):
    """An identifier: a variable, or a type such as `int`.

    Attributes:
        is_rooted: whether it is written with a leading dot.
    """

    text: str
    is_rooted: bool = False


@dataclass(slots=True)
class Select(SyntaxNode):
    """`operand.field`, `operand.?field`, or `has(operand.field)`."""

    operand: "Expression"
    field: str
    is_optional: bool = False
    is_test: bool = False


@dataclass(slots=True)
class FunctionCall(SyntaxNode):
    """A function, a method or an operator; operators have cel-go's names, such as `_+_`.

    Attributes:
        target: what a method is called on.
        overloads: those that the types of the arguments leave; filled in by the checker.
    """

    function: str
    arguments: list["Expression"]
    target: "Expression | None" = None
    overloads: tuple[Any, ...] = ()


@dataclass(slots=True)
class ListDisplay(SyntaxNode):
    """`[a, ?b]`.

    Attributes:
        optional: positions of elements with a `?`.
    """

    elements: list["Expression"]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True)
class MapDisplay(SyntaxNode):
    """`{a: 1, ?b: c}`.

    Attributes:
        colons: offset of the colon of each entry.
        optional: positions of entries with a `?`.
    """

    entries: list[tuple["Expression", "Expression"]]
    colons: list[int] = field(default_factory=list)
    optional: frozenset[int] = frozenset()


class MacroKind(Enum):
    """What a macro does."""

    ALL = auto()
    EXISTS = auto()
    EXISTS_ONE = auto()
    MAP = auto()
    FILTER = auto()
    TRANSFORM_LIST = auto()
    TRANSFORM_MAP = auto()
    TRANSFORM_MAP_ENTRY = auto()
    SORT_BY = auto()
    BIND = auto()
    OPT_MAP = auto()
    OPT_FLAT_MAP = auto()


@dataclass(slots=True)
class MacroCall(SyntaxNode):
    """A macro that brings variables: `operand.all(x, body)`, `cel.bind(x, operand, body)`.

    Attributes:
        condition: of `map`, `transformList` and the like with one argument more.
    """

    kind: MacroKind
    operand: "Expression"
    variables: tuple[str, ...]
    body: "Expression"
    condition: "Expression | None" = None


Expression: TypeAlias = Constant | Name | Select | FunctionCall | ListDisplay | MapDisplay | MacroCall


def children(node: Expression) -> list[Expression]:
    """The nodes directly below a node, in the order of the text."""
    match node:
        case Select():
            return [node.operand]
        case FunctionCall():
            return [*([node.target] if node.target else []), *node.arguments]
        case ListDisplay():
            return list(node.elements)
        case MapDisplay():
            return [part for entry in node.entries for part in entry]
        case MacroCall():
            return [node.operand, *([node.condition] if node.condition else []), node.body]
        case _:
            return []


def qualified_name(node: Expression) -> str:
    """The name with dots that a chain of fields spells, empty for anything else."""
    match node:
        case Name():
            return node.text
        case Select(is_optional=False, is_test=False):
            prefix = qualified_name(node.operand)
            return f"{prefix}.{node.field}" if prefix else ""
        case _:
            return ""
