"""Describes what is wrong with a selector requirement, in upstream's words.

Rule: k8s.io/apimachinery v0.36 labels.NewRequirement, component-helpers nodeaffinity; all faults are
reported, in the order of the checks.
"""

import json
import re
from typing import Final

from kubesched.api.names import is_label_value, is_qualified_name, label_value_faults, qualified_name_faults

Operands = tuple[str, ...] | None

_DECIMAL = re.compile(r"([+-]?)0*([0-9]{1,19})")
_INT64: Final = 2**63
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS: Final = ("In", "NotIn")


def as_int64(text: str) -> int | None:
    """The text as a base-10 int64, or None where it is none, however long it is: int() refuses 5,000 digits."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    value = int(match[1] + match[2])
    return value if -_INT64 <= value < _INT64 else None


def int_or_percent(written: object, n: int, *, round_up: bool = True) -> int | None:
    """A number of pods such as `1` or `25%`, which is a share of `n`; None where it is neither.

    Rule: Kubernetes v1.36 IntOrString, as budgets and strategies scale it.
    """
    text = str(written)
    number = as_int64(text.removesuffix("%"))
    if number is None or number < 0:
        return None
    return (n * number + (99 if round_up else 0)) // 100 if text.endswith("%") else number


def requirement_faults(key: str, operator: str, values: Operands, path: str = "") -> list[str]:
    """The faults of a requirement on a label.

    Args:
        values: None and () are the same, but not in words.
        path: put before the fields, such as `matchExpressions[0].`.
    """
    if operator not in _OPERATORS:
        return [_unsupported(f"{path}operator", operator, _OPERATORS)]
    faults = []
    if not is_qualified_name(key):
        faults.append(f"{path}key: Invalid value: {_quoted(key)}: {'; '.join(qualified_name_faults(key))}")
    faults += _operand_faults(operator, values, f"{path}values")
    for i, value in enumerate(values or ()):
        if not is_label_value(value):
            text = "; ".join(label_value_faults(value))
            faults.append(f"{path}values[{i}][{key}]: Invalid value: {_quoted(value)}: {text}")
    return faults


def field_faults(operator: str, values: Operands, path: str = "") -> list[str]:
    """The faults of a requirement on a field; its value may be anything."""
    if operator not in _FIELD_OPERATORS:
        return [_unsupported(f"{path}operator", operator, _FIELD_OPERATORS)]
    return [] if values and len(values) == 1 else [f"{path}values: {_found(values)}: must have one element"]


def _operand_faults(operator: str, values: Operands, path: str) -> list[str]:
    n_values = len(values or ())
    if operator in ("In", "NotIn"):
        empty = f"{path}: {_found(values)}: for 'in', 'notin' operators, values set can't be empty"
        return [] if n_values else [empty]
    if operator in ("Exists", "DoesNotExist"):
        full = f"{path}: {_found(values)}: values set must be empty for exists and does not exist"
        return [full] if n_values else []
    faults = []
    if n_values != 1:
        faults.append(f"{path}: {_found(values)}: for 'Gt', 'Lt' operators, exactly one value is required")
    for i, value in enumerate(values or ()):
        if as_int64(value) is None:
            detail = "for 'Gt', 'Lt' operators, the value must be an integer"
            faults.append(f"{path}[{i}]: Invalid value: {_quoted(value)}: {detail}")
    return faults


def _unsupported(path: str, operator: str, supported: tuple[str, ...]) -> str:
    listed = ", ".join(map(_quoted, supported))
    return f"{path}: Unsupported value: {_quoted(operator)}: supported values: {listed}"


def _found(values: Operands) -> str:
    """The operands as JSON, as Go writes a list; a list that is not there is null."""
    listed = None if values is None else list(values)
    return f"Invalid value: {json.dumps(listed, ensure_ascii=False, separators=(',', ':'))}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
