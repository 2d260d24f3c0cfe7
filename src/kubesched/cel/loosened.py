"""Writes a selector so that it matches a device that it refuses: with the value that the device has."""

import json
from typing import Final

import msgspec

from kubesched.cel.compiled_selector import CompiledSelector, compile_selector
from kubesched.cel.conjuncts import Conjunct
from kubesched.cel.device_value import DeviceValue
from kubesched.cel.exact_amounts import Quantity
from kubesched.cel.literal_comparisons import FactValue, LiteralComparison
from kubesched.cel.semantic_versions import Semver
from kubesched.errors import CelCompileError, CelRuntimeError

_BESIDE: Final = {">": -1, "<": 1}
_NUMBERS: Final = "+-.0123456789"


class OtherLiteral(msgspec.Struct, frozen=True):
    """A comparison with another literal.

    Attributes:
        comparison: as it is.
        value: what the device has.
        literal: what is compared then; for a choice, all that is accepted then.
    """

    comparison: LiteralComparison
    value: FactValue
    literal: str | tuple[str, ...]


class Loosened(msgspec.Struct, frozen=True):
    """A selector that matches one more device.

    Attributes:
        text: the expression.
        changes: in the order of the text.
    """

    text: str
    changes: tuple[OtherLiteral, ...] = ()


def loosened(selector: CompiledSelector, device: DeviceValue) -> Loosened | None:
    """The selector with other literals, so that it matches a device; None where other literals do not do it.

    What is equal to a text or a number becomes a choice; a limit becomes the value of the device.

    Example:
        large = compile_selector('device.attributes["d"].model == "H100"')
        assert loosened(large, a100).text == 'device.attributes["d"].model in ["H100", "A100"]'
    """
    changes: list[OtherLiteral] = []
    changed = selector
    for conjunct in reversed(refused_conjuncts(selector, device)):  # the places of those before it stay as they are
        comparison = conjunct.comparison
        value = comparison.value(device) if comparison is not None else None
        if comparison is None or value is None or comparison.start < 0:
            return None
        written = _with_value(changed, comparison, value)
        if written is None:
            return None
        changed = compile_selector(written[0])
        changes.append(OtherLiteral(comparison, value, written[1]))
    return Loosened(changed.text, tuple(reversed(changes))) if _matches(changed.text, device) else None


def refused_conjuncts(selector: CompiledSelector, device: DeviceValue) -> list[Conjunct]:
    """The parts of a selector that a device does not meet, each taken by itself."""
    return [one for one in selector.conjuncts if not _matches(one.text, device)]


def without_conjunct(selector: CompiledSelector, conjunct: Conjunct) -> str:
    """The text of a selector without one of its parts; empty without the only one."""
    if len(selector.conjuncts) == 1:
        return ""
    return f"{selector.text[: conjunct.start]}true{selector.text[conjunct.end :]}"


def _matches(text: str, device: DeviceValue) -> bool:
    try:
        return compile_selector(text).matches(device)
    except (CelCompileError, CelRuntimeError):  # a part inside of cel.bind, or of a device without the attribute
        return False


def _with_value(
    selector: CompiledSelector, comparison: LiteralComparison, value: FactValue
) -> tuple[str, str | tuple[str, ...]] | None:
    """The text with a comparison that holds for a value, and what it compares with; None where there is none."""
    literal, operator = comparison.literal, comparison.operator
    is_amount = isinstance(value, Quantity | Semver)
    if operator in (">=", "<=") or (operator == "==" and is_amount):
        return selector.with_literal(comparison, str(value)), str(value)
    if operator in _BESIDE:
        near = _beside(value, _BESIDE[operator])
        return None if near is None else (selector.with_literal(comparison, str(near)), str(near))
    choices = (*literal, value) if isinstance(literal, tuple) else (literal, value)
    before, after = selector.text[: comparison.start], selector.text[comparison.end :]
    if isinstance(value, bool):
        return None
    if operator == "==" and type(literal) is type(value) and before.rstrip().endswith("=="):
        before = f"{before.rstrip()[:-2]}in "
    elif operator != "in" or is_amount:
        return None
    listed = ", ".join(json.dumps(one, ensure_ascii=False) for one in choices)
    return f"{before}[{listed}]{after}", tuple(map(str, choices))


def _beside(value: FactValue, step: int) -> FactValue | None:
    """The next smaller or larger number, in the unit in which the value is written."""
    if type(value) is int:
        return value + step
    if not isinstance(value, Quantity):
        return None
    unit = value.text.lstrip(_NUMBERS)
    number = value.text.removesuffix(unit)
    return Quantity.parse(f"{int(number) + step}{unit}") if number.isdigit() else None
