"""Tells selectors that cannot cost much from those whose evaluation has to be metered."""

from kubesched.cel.device_paths import DEVICE_ALIASES, Aliases, nodes_below, path_of
from kubesched.cel.syntax_tree import Expression, FunctionCall, MacroCall, MacroKind


def is_bounded(tree: Expression) -> bool:
    """Whether an expression costs less than the limit for every device of usual size.

    It has no loop, and nothing that makes texts or lists longer. Each text of the expression is read at most once then,
    and all of them together have at most 10 KiB.
    """
    return _is_bounded(tree, DEVICE_ALIASES)


def _is_bounded(node: Expression, aliases: Aliases) -> bool:
    if isinstance(node, MacroCall) and not _is_alias(node, aliases):
        return False
    if isinstance(node, FunctionCall) and any(overload.grows for overload in node.overloads):
        return False
    return all(_is_bounded(child, inner) for child, inner in nodes_below(node, aliases))


def _is_alias(node: MacroCall, aliases: Aliases) -> bool:
    """Whether a macro only gives a part of the device a name."""
    return node.kind is MacroKind.BIND and path_of(node.operand, aliases) is not None
