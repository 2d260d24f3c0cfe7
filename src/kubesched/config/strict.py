"""Decodes plain values into structs strictly: finds every unknown or repeated field, and the path of a wrong type.

Rule: Kubernetes' strict decoding. Null is the same as absent; a wrong type counts before unknown fields; the
findings are in the order of the document. Where upstream shows the error of Go's decoder (`json: cannot unmarshal
...`), the words are ours.
"""

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from kubesched.config.field_errors import child, did_you_mean, item, quoted
from kubesched.config.findings import Finding, ReadingStage, error_of
from kubesched.config.parsed_text import JsonObject
from kubesched.config.scalars import Duration, parse_duration
from kubesched.documents import describe_fault, next_step

T = TypeVar("T")
_NOTHING_LATER: Final[Mapping[str, int]] = {}


class _Selection(NamedTuple):
    """What has been found so far, and the fields that are not known yet."""

    findings: list[Finding]
    later: Mapping[str, int]


def select_known(
    document: Any, cls: type[msgspec.Struct], later: Mapping[str, int] = _NOTHING_LATER
) -> tuple[Any, list[Finding]]:
    """Drop what `cls` does not know, at any depth, and what is null.

    Args:
        later: fields of `cls` that the version does not know yet, and the minor version that has them first.
    Returns: a copy of the document that `convert` takes, and the findings in the order of the document.
    """
    selection = _Selection([], later)
    return _select(document, _type_info(cls), "", selection), selection.findings


def convert(document: Any, cls: type[T]) -> tuple[T | None, list[Finding]]:
    """Make the struct of what has the right types; every other value is left out, and is one finding.

    Args:
        document: as from select_known.
    Returns: nothing instead of the struct if not even an object without fields is valid; and the findings in the order
        of the document.
    """
    findings: list[Finding] = []
    while True:
        try:
            return _converted(document, cls), findings
        except msgspec.ValidationError as error:
            finding = _type_finding(error, document)
            is_new = finding.path not in {earlier.path for earlier in findings}
            if is_new:
                findings.append(finding)
            if not document:
                return None, findings
            if len(findings) == 1:
                document = copy.deepcopy(document)
            _take_out(document, finding.path, keep_item=is_new)


def typed(value: object, cls: type[T]) -> T:
    """A value that Python code gives as one of this type.

    Raises:
        ConfigError: it has another one.
    """
    try:
        return _converted(value, cls)
    except msgspec.ValidationError as error:
        raise error_of([_type_finding(error, value)]) from None


def _converted(value: object, cls: type[T]) -> T:
    return msgspec.convert(value, cls, dec_hook=_decode_custom)


def _take_out(document: Any, path: str, *, keep_item: bool) -> None:
    """Remove the field that is or holds the value at a path.

    Args:
        keep_item: whether an item of a list becomes an empty object first, so that the others keep their numbers.
    """
    holder: Any = document
    field = None
    value, rest = document, path
    while rest and isinstance(value, dict | list):
        step = next_step(value if isinstance(value, dict) else range(len(value)), rest)
        if step is None:
            break
        name: Any
        name, rest = step
        if isinstance(value, dict):
            holder, field = value, name
        elif keep_item and not rest:
            value[name] = {}
            return
        value = value[name]
    if field is None:
        document.clear()
    else:
        del holder[field]


def _type_finding(error: msgspec.ValidationError, document: Any) -> Finding:
    """A value of a wrong type; in upstream's words where it has some."""
    fault = describe_fault(error, document)
    if fault.text.startswith("time: "):
        advice = "a duration is a number with a unit, such as 15s or 1m30s"
        return Finding("wrong-type", fault.path, fault.text, advice, stage=ReadingStage.TYPES)
    return Finding("wrong-type", fault.path, str(fault), stage=ReadingStage.TYPES)


@lru_cache(maxsize=256)
def _type_info(cls: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(cls)


def _select(value: Any, kind: inspect.Type, path: str, selection: _Selection) -> Any:
    if isinstance(kind, inspect.Metadata):
        return _select(value, kind.type, path, selection)
    if isinstance(kind, inspect.UnionType):
        members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        return _select(value, members[0], path, selection) if len(members) == 1 else value
    if isinstance(kind, inspect.StructType) and isinstance(value, dict) and kind.tag is None:
        return _select_fields(value, kind, path, selection)
    if isinstance(kind, inspect.DictType) and isinstance(value, dict):
        return {key: _select(entry, kind.value_type, child(path, key), selection) for key, entry in value.items()}
    if isinstance(kind, inspect.ListType | inspect.VarTupleType) and isinstance(value, list):
        return [_select_item(entry, kind.item_type, item(path, i), selection) for i, entry in enumerate(value)]
    return value


def _select_item(value: Any, kind: inspect.Type, path: str, selection: _Selection) -> Any:
    """An item of a list; null means an object without fields."""
    if value is None and isinstance(kind, inspect.StructType):
        return {}
    return _select(value, kind, path, selection)


def _select_fields(value: dict[str, Any], kind: inspect.StructType, path: str, selection: _Selection) -> dict[str, Any]:
    fields = {field.encode_name: field.type for field in kind.fields if field.encode_name not in selection.later}
    repeated = value.duplicates if isinstance(value, JsonObject) else ()
    selected = {}
    for name, entry in value.items():
        where = child(path, name)
        if name not in fields:
            is_later = any(name == field.encode_name for field in kind.fields)
            advice = f"it exists since v1.{selection.later[name]}" if is_later else _help_with_field(name, (*fields,))
            selection.findings.append(_field_finding("unknown", where, advice))
            continue
        if name in repeated:
            selection.findings.append(_field_finding("duplicate", where))
        if entry is not None:
            selected[name] = _select(entry, fields[name], where, selection)
    return selected


def _field_finding(what: str, path: str, advice: str = "") -> Finding:
    text = f"{what} field {quoted(path)}"
    return Finding(f"{what}-field", path, text, advice, at_key=True, stage=ReadingStage.FIELDS)


def _help_with_field(name: str, fields: tuple[str, ...]) -> str:
    return did_you_mean(name, fields) or (
        f"allowed here: {', '.join(fields)}" if fields else "no field is allowed here"
    )


def _decode_custom(cls: type, value: Any) -> Any:
    if isinstance(value, cls):  # from Python
        return value
    if cls is not Duration:
        raise TypeError(f"Expected `{cls.__name__}`, got `{type(value).__name__}`")
    if not isinstance(value, str):
        raise TypeError("Expected `duration`, got `other`")
    return parse_duration(value)
