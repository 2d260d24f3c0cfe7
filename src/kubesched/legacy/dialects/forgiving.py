"""Reads documents that old kube-schedulers read leniently, Policy and v1alpha1, and reports all faults in one error.

Rule: kube-scheduler v1.18: keys in any case, unknown fields ignored.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import inspect

from kubesched.config import Finding, ReadingStage, convert, select_known
from kubesched.documents import locate
from kubesched.errors import ConfigError
from kubesched.legacy.conversion import Document, Notice

T = TypeVar("T", bound=msgspec.Struct)


def fault(path: str, message: str, advice: str = "") -> Finding:
    """A fault of a document that no version after it has."""
    return Finding("not-convertible", path, message, advice, stage=ReadingStage.CONVERSION)


def faults_error(findings: Sequence[Finding], text: str = "") -> ConfigError:
    """All faults as one exception, in the order of the text; the words of a single one come first.

    Args:
        findings: at least one.
        text: the one that the document is from; without it, there are no lines.
    """
    root = locate(text).root
    placed = sorted(((root.nearest(f.path)[0].shown, f) for f in findings), key=lambda pair: pair[0])
    lines = [(f"line {place[0]}: " if text else "", finding) for place, finding in placed]
    if len(lines) == 1:
        ((line, finding),) = lines
        rest = f"{line}{_shown_path(finding)}{finding.help}".removesuffix(": ")
        return ConfigError("\n  ".join(filter(None, (finding.message, rest))))
    shown = [f"{line}{_shown_path(f)}{'; '.join(filter(None, (f.message, f.help)))}" for line, f in lines]
    return ConfigError("\n  ".join([f"{len(shown)} fields are not valid", *shown]))


def _shown_path(finding: Finding) -> str:
    """The path and a colon, unless the message begins with it."""
    return "" if finding.message.startswith(finding.path) else f"{finding.path}: "


class Forgiven(msgspec.Struct, Generic[T], frozen=True):
    """A document that was read leniently.

    Attributes:
        value: without what has a wrong type.
        known: the plain document with the proper spelling of the fields.
        ignored: a notice for each field that the version does not know.
        wrong: values of a wrong type.
    """

    value: T
    known: Document
    ignored: list[Notice]
    wrong: list[Finding]


def read_forgiving(document: Any, cls: type[T]) -> Forgiven[T]:
    """Read an object and leave out what its version does not know.

    Args:
        cls: without a field that has to be given.
    """
    known, unknown = select_known(_spelled(document, inspect.type_info(cls)), cls)
    ignored = [Notice(f"{finding.message}: ignored, as it always was") for finding in unknown]
    value, wrong = convert(known, cls)
    return Forgiven(value or cls(), known, ignored, wrong)


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
