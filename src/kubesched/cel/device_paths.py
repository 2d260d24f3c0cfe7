"""Finds which part of a device a node of an expression stands for, through the variables of `cel.bind`."""

from collections.abc import Iterator
from typing import Final

from kubesched.cel.syntax_tree import (
    Constant,
    Expression,
    FunctionCall,
    MacroCall,
    MacroKind,
    Name,
    Select,
    children,
)

Path = tuple[str, ...]
"""Fields from `device` on: (), ("driver",), ("attributes", domain), ("attributes", domain, identifier)."""

Aliases = dict[str, Path | None]
"""The variables in scope. None stands for any other value."""

DEVICE_ALIASES: Final[Aliases] = {"device": ()}
_LENGTHS: Final = {"driver": 1, "allowMultipleAllocations": 1, "attributes": 3, "capacity": 3}


def is_fact(path: Path | None) -> bool:
    """Whether a path leads to one value of a device, such as an attribute."""
    return bool(path) and path is not None and len(path) == _LENGTHS.get(path[0], 0)


def path_of(node: Expression, aliases: Aliases) -> Path | None:
    """The part of the device that a node is, None for anything else."""
    match node:
        case Name():
            return aliases.get(node.text)
        case Select():
            return _longer(path_of(node.operand, aliases), node.field)
        case FunctionCall(function="_[_]" | "_[?_]", arguments=[operand, Constant(value=str(key))]):
            return _longer(path_of(operand, aliases), key) if path_of(operand, aliases) else None
        case _:
            return None


def _longer(path: Path | None, key: str) -> Path | None:
    return None if path is None or is_fact(path) else (*path, key)


def inner_aliases(node: MacroCall, aliases: Aliases) -> Aliases:
    """The variables inside of a macro."""
    if node.kind is MacroKind.BIND:
        return {**aliases, node.variables[0]: path_of(node.operand, aliases)}
    return {**aliases, **dict.fromkeys(node.variables)}


def nodes_below(node: Expression, aliases: Aliases) -> Iterator[tuple[Expression, Aliases]]:
    """The children of a node, each with the variables in scope."""
    if isinstance(node, MacroCall):
        inner = inner_aliases(node, aliases)
        yield node.operand, aliases
        yield from ((part, inner) for part in (node.condition, node.body) if part is not None)
    else:
        yield from ((child, aliases) for child in children(node))


def qualified(path: Path) -> str:
    """`domain/identifier` of an attribute or capacity, empty for other facts."""
    return "/".join(path[1:])
