"""Reads documents that old kube-schedulers read leniently: Policy and v1alpha1.

Rule: kube-scheduler v1.18: keys in any case, unknown fields ignored.
"""

from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from kubesched.config.dialects.conversion import Document, Notice
from kubesched.config.strict import convert, select_known

T = TypeVar("T", bound=msgspec.Struct)


def read_forgiving(document: Any, cls: type[T]) -> tuple[T, Document, list[Notice]]:
    """Read a document and leave out what its version does not know.

    Returns: the typed value, the plain document with the fields' proper spelling, and a notice for each field that was
        left out.
    Raises:
        ConfigError: a value of a wrong type.
    """
    known, faults = select_known(_spelled(document, inspect.type_info(cls)), cls)
    ignored = [Notice(f"{fault.text}: ignored, as it always was") for fault in faults]
    return convert(known, cls), known, ignored


def _spelled(value: Any, kind: inspect.Type) -> Any:
    """The value with each key of an object in the spelling of its field."""
    if isinstance(kind, inspect.UnionType):
        members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        return _spelled(value, members[0]) if len(members) == 1 else value
    if isinstance(kind, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name.lower(): field for field in kind.fields}
        spelled = {}
        for key, entry in value.items():
            field = fields.get(key.lower())
            spelled[field.encode_name if field else key] = _spelled(entry, field.type) if field else entry
        return spelled
    if isinstance(kind, inspect.VarTupleType) and isinstance(value, list):
        return [_spelled(entry, kind.item_type) for entry in value]
    return value
