"""Errors about fields of a configuration, in the words of the Kubernetes API.

Rule: k8s.io/apimachinery v0.36 field errors (`<path>: Invalid value: <value>: <detail>`) and aggregates (`[e1, e2]`).
"""

import json
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import fields as struct_fields

from kubesched.api import qualified_name_faults
from kubesched.config.scalars import Duration
from kubesched.documents import did_you_mean as did_you_mean
from kubesched.documents import quoted as quoted


class Verbatim(str):
    """A value as the message shows it, where it is neither text nor number."""

    __slots__ = ()


class FieldError(msgspec.Struct, frozen=True):
    """One finding about one field.

    Attributes:
        path: the field, such as `profiles[0].schedulerName`.
        text: what is wrong, in upstream's words.
        help: our own addition for the reader; not part of upstream's text.
        rule: the rule of `kubesched config check`; empty for the one of upstream's words, such as `required-value`.

    Example:
        error = FieldError.invalid("bonus", -1, "must be positive")
        assert str(error) == "bonus: Invalid value: -1: must be positive"
    """

    path: str
    text: str
    help: str = ""
    rule: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"

    @classmethod
    def invalid(cls, path: str, value: object, detail: str, *, help: str = "", rule: str = "") -> "FieldError":
        """A value that the field may not have."""
        return cls(path, f"Invalid value: {_shown(value)}: {detail}", help, rule)

    @classmethod
    def required(cls, path: str, detail: str = "", *, help: str = "") -> "FieldError":
        """A field that must be given."""
        return cls(path, f"Required value: {detail}" if detail else "Required value", help)

    @classmethod
    def duplicate(cls, path: str, value: object, *, help: str = "") -> "FieldError":
        """A value that is in the list already."""
        return cls(path, f"Duplicate value: {_shown(value)}", help)

    @classmethod
    def unsupported(cls, path: str, value: str, supported: Iterable[str]) -> "FieldError":
        """A value outside a closed set; the nearest member is offered."""
        members = tuple(supported)
        listed = ", ".join(quoted(member) for member in members)
        return cls(
            path, f"Unsupported value: {quoted(value)}: supported values: {listed}", did_you_mean(value, members)
        )

    @classmethod
    def forbidden(cls, path: str, detail: str, *, help: str = "") -> "FieldError":
        """A field that may not be given here."""
        return cls(path, f"Forbidden: {detail}", help)


def qualified_name_errors(path: str, name: str) -> list[FieldError]:
    """One finding per rule that a label key or resource name breaks: `name` or `dns.subdomain/name`."""
    return [FieldError.invalid(path, name, fault) for fault in qualified_name_faults(name)]


def child(path: str, name: str) -> str:
    """The path of a field of the object at `path`; the empty path is the document itself.

    Example:
        assert child("profiles[0]", "plugins") == "profiles[0].plugins"
    """
    return f"{path}.{name}" if path else name


def item(path: str, index: int) -> str:
    """The path of an item of the list at `path`."""
    return f"{path}[{index}]"


def bracketed(texts: Iterable[str]) -> str:
    """Several messages as one: `[a, b]`; a single message has no brackets, a repeated one counts once."""
    distinct = list(dict.fromkeys(texts))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


PLUGIN_LIKENESS: Final = 0.8
"""How near the name of a plugin has to be: Coscheduling is another plugin than SchedulingGates."""


def _shown(value: object) -> str:
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, Duration):
        return quoted(str(value))
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(_dumped(value), ensure_ascii=False, separators=(",", ":"))


def _dumped(value: object) -> object:
    """A struct with Go's exported field names, as upstream's dump of a value shows it; an empty list in it is null."""
    if isinstance(value, msgspec.Struct):
        fields = {f.encode_name[:1].upper() + f.encode_name[1:]: getattr(value, f.name) for f in struct_fields(value)}
        return {name: None if entry == () else _dumped(entry) for name, entry in fields.items()}
    if isinstance(value, tuple | list):
        return [_dumped(entry) for entry in value]
    return value
