"""Errors about fields of a configuration, in the words of the Kubernetes API.

Rule: k8s.io/apimachinery v0.36 field errors (`<path>: Invalid value: <value>: <detail>`) and aggregates (`[e1, e2]`);
until v0.33, values that are neither text nor number are in Go's syntax.
"""

import json
from collections.abc import Iterable
from typing import Any, Final, get_args

import msgspec
from msgspec.structs import fields as struct_fields

from kubesched.api import qualified_name_faults
from kubesched.config.known_since import shows_go_values
from kubesched.config.scalars import Duration
from kubesched.documents import did_you_mean as did_you_mean
from kubesched.documents import quoted as quoted
from kubesched.release import Release


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
        earlier: the text until v1.33; empty where it is the same.

    Example:
        error = FieldError.invalid("bonus", -1, "must be positive")
        assert str(error) == "bonus: Invalid value: -1: must be positive"
    """

    path: str
    text: str
    help: str = ""
    rule: str = ""
    earlier: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"

    def in_words_of(self, release: Release) -> "FieldError":
        """The same as a version says it."""
        return msgspec.structs.replace(self, text=self.earlier) if self.earlier and shows_go_values(release) else self

    @classmethod
    def invalid(
        cls,
        path: str,
        value: object,
        detail: str,
        *,
        help: str = "",
        rule: str = "",
        go_value: str = "",
        earlier_detail: str = "",
    ) -> "FieldError":
        """A value that the field may not have.

        Args:
            go_value: as messages until v1.33 show it; what follows from its type if empty.
            earlier_detail: the detail until v1.33, if it was another one.
        """
        go_value = go_value or go_syntax(value)
        earlier = f"Invalid value: {go_value or _shown(value)}: {earlier_detail or detail}"
        text = f"Invalid value: {_shown(value)}: {detail}"
        return cls(path, text, help, rule, earlier if go_value or earlier_detail else "")

    @classmethod
    def required(cls, path: str, detail: str = "", *, help: str = "") -> "FieldError":
        """A field that must be given."""
        return cls(path, f"Required value: {detail}" if detail else "Required value", help)

    @classmethod
    def duplicate(cls, path: str, value: object, *, help: str = "", go_value: str = "") -> "FieldError":
        """A value that is in the list already."""
        earlier = f"Duplicate value: {go_value}" if go_value else ""
        return cls(path, f"Duplicate value: {_shown(value)}", help, earlier=earlier)

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


def qualified_name_errors(path: str, name: str, go_value: str = "") -> list[FieldError]:
    """One finding per rule that a label key or resource name breaks: `name` or `dns.subdomain/name`."""
    return [FieldError.invalid(path, name, fault, go_value=go_value) for fault in qualified_name_faults(name)]


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


_GO_NAMES: Final = {"PluginEntry": "Plugin"}
_NANOSECONDS: Final = 10**9


def go_syntax(value: object) -> str:
    """A value as Go's `%#v` prints it; empty for what looks the same as in JSON.

    Example:
        assert go_syntax(Duration(15)) == "v1.Duration{Duration:15000000000}"
        assert go_syntax(["a"]) == '[]string{"a"}' and go_syntax(3) == ""
    """
    if isinstance(value, Duration):
        return f"v1.Duration{{Duration:{round(value * _NANOSECONDS)}}}"
    if isinstance(value, msgspec.Struct):
        fields = (_go_field(f.encode_name, f.type, getattr(value, f.name)) for f in struct_fields(value))
        return f"{_go_name(type(value))}{{{', '.join(fields)}}}"
    if isinstance(value, tuple | list) and value:
        items = ", ".join(go_syntax(entry) or _shown(entry) for entry in value)
        return f"[]{_go_name(type(value[0]))}{{{items}}}"
    return ""


def _go_field(name: str, kind: Any, value: object) -> str:
    text = f"[]{_go_name(get_args(kind)[0])}(nil)" if value == () else go_syntax(value) or _shown(value)
    return f"{name[:1].upper()}{name[1:]}:{text}"


def _go_name(cls: type) -> str:
    return "string" if cls is str else f"config.{_GO_NAMES.get(cls.__name__, cls.__name__)}"


def _dumped(value: object) -> object:
    """A struct with Go's exported field names, as upstream's dump of a value shows it; an empty list in it is null."""
    if isinstance(value, msgspec.Struct):
        fields = {f.encode_name[:1].upper() + f.encode_name[1:]: getattr(value, f.name) for f in struct_fields(value)}
        return {name: None if entry == () else _dumped(entry) for name, entry in fields.items()}
    if isinstance(value, tuple | list):
        return [_dumped(entry) for entry in value]
    return value
