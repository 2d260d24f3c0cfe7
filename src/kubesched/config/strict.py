"""Decodes plain values into structs strictly: finds every unknown or repeated field, and the path of a wrong type.

Rule: Kubernetes' strict decoding. Null is the same as absent; a wrong type counts before unknown fields; the
findings are in the order of the document. Where upstream shows the error of Go's decoder (`json: cannot unmarshal
...`), the words are ours.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from kubesched.config.documents import Document, JsonObject
from kubesched.config.field_errors import child, did_you_mean, item, quoted
from kubesched.config.scalars import Duration, parse_duration
from kubesched.documents import describe_fault, next_step
from kubesched.errors import ConfigError

T = TypeVar("T")


class StrictFault(msgspec.Struct, frozen=True):
    """A field that is not allowed at its place.

    Attributes:
        text: upstream's words, such as `unknown field "profiles[0].bar"`.
        help: our addition, lines that begin with the field's path.
        path: the field.
    """

    text: str
    help: tuple[str, ...] = ()
    path: str = ""


def strict_error(faults: Sequence[StrictFault], prefix: str = "") -> ConfigError:
    """The findings as one exception, upstream's text first; there is at least one."""
    text = f"{prefix}strict decoding error: {', '.join(fault.text for fault in faults)}"
    return ConfigError("\n  ".join([text, *(line for fault in faults for line in fault.help)]))


def yaml_faults(parsed: Document) -> list[StrictFault]:
    """The repeated keys of a YAML text, as the one finding that upstream makes of them."""
    if not parsed.duplicate_keys:
        return []
    return [StrictFault("\n".join(("yaml: unmarshal errors:", *parsed.duplicate_keys)))]


def select_known(document: Any, cls: type[msgspec.Struct]) -> tuple[Any, list[StrictFault]]:
    """Drop what `cls` does not know, at any depth, and what is null.

    Returns: a copy of the document that `convert` takes, and the findings in the order of the document.
    """
    faults: list[StrictFault] = []
    return _select(document, _type_info(cls), "", faults), faults


def convert(document: Any, cls: type[T]) -> T:
    """Make the struct.

    Raises:
        ConfigError: a value of a wrong type, the first in the order of the document.
    """
    try:
        return msgspec.convert(document, cls, dec_hook=_decode_custom)
    except msgspec.ValidationError as error:
        fault = _describe_type_fault(error, document)
        raise ConfigError("\n  ".join([fault.text, *fault.help])) from None


def convert_sound(document: Any, cls: type[T]) -> tuple[T, list[StrictFault]]:
    """Make the struct of what has the right types; every other value is left out, and is one finding.

    Args:
        document: as from select_known, an object; values of a wrong type are taken out of it.
    Raises:
        ConfigError: not even an object without fields is valid.
    """
    faults: list[StrictFault] = []
    while True:
        try:
            return msgspec.convert(document, cls, dec_hook=_decode_custom), faults
        except msgspec.ValidationError as error:
            fault = _describe_type_fault(error, document)
            if not document:
                raise ConfigError(fault.text) from None
            is_new = all(fault.path != known.path for known in faults)
            if is_new:
                faults.append(fault)
            _take_out(document, fault.path, keep_item=is_new)


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


def _describe_type_fault(error: msgspec.ValidationError, document: Any) -> StrictFault:
    """A value of a wrong type as a finding; upstream's text where it has one."""
    fault = describe_fault(error, document)
    if fault.text.startswith("time: "):
        advice = f"{fault.path}: a duration is a number with a unit, such as 15s or 1m30s"
        return StrictFault(fault.text, (advice,), fault.path)
    return StrictFault(str(fault), path=fault.path)


@lru_cache(maxsize=256)
def _type_info(cls: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(cls)


def _select(value: Any, kind: inspect.Type, path: str, faults: list[StrictFault]) -> Any:
    if isinstance(kind, inspect.Metadata):
        return _select(value, kind.type, path, faults)
    if isinstance(kind, inspect.UnionType):
        members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        return _select(value, members[0], path, faults) if len(members) == 1 else value
    if isinstance(kind, inspect.StructType) and isinstance(value, dict) and kind.tag is None:
        return _select_fields(value, kind, path, faults)
    if isinstance(kind, inspect.DictType) and isinstance(value, dict):
        return {key: _select(entry, kind.value_type, child(path, key), faults) for key, entry in value.items()}
    if isinstance(kind, inspect.ListType | inspect.VarTupleType) and isinstance(value, list):
        return [_select_item(entry, kind.item_type, item(path, i), faults) for i, entry in enumerate(value)]
    return value


def _select_item(value: Any, kind: inspect.Type, path: str, faults: list[StrictFault]) -> Any:
    """An item of a list; null means an object without fields."""
    if value is None and isinstance(kind, inspect.StructType):
        return {}
    return _select(value, kind, path, faults)


def _select_fields(
    value: dict[str, Any], kind: inspect.StructType, path: str, faults: list[StrictFault]
) -> dict[str, Any]:
    fields = {field.encode_name: field.type for field in kind.fields}
    repeated = value.duplicates if isinstance(value, JsonObject) else ()
    selected = {}
    for name, entry in value.items():
        where = child(path, name)
        if name not in fields:
            advice = f"{where}: {_help_with_field(name, tuple(fields))}"
            faults.append(StrictFault(f"unknown field {quoted(where)}", (advice,), where))
            continue
        if name in repeated:
            faults.append(StrictFault(f"duplicate field {quoted(where)}", path=where))
        if entry is not None:
            selected[name] = _select(entry, fields[name], where, faults)
    return selected


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
