"""cel-expr-python, CEL in C++, as a second judge of the standard part of the language.

It knows none of the functions and types of Kubernetes. So it is asked about expressions that it compiles and that read
no version or capacity. The texts of its errors are its own: only whether an expression fails is compared.
"""

from collections.abc import Iterator
from typing import Any

from campaigns.cel.answers import answers, device_of
from campaigns.cel.record import DRIVER

PACKAGE = "cel-expr-python"
UNKNOWN = ("driverVersion", "device.capacity")
ONLY_THERE = "no such overload: int(bool)"
"""It converts these, and the library that kube-scheduler uses does not."""


class SecondJudge:
    """Says what an expression is for devices.

    Raises:
        ImportError: the package is not installed.
    """

    def __init__(self) -> None:
        from cel_expr_python import cel  # not a dependency
        from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

        extensions = [ext_bindings.ExtBindings(), ext_optional.ExtOptional(), ext_strings.ExtStrings()]
        device = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
        self._environment = cel.NewEnv(variables={"device": device}, extensions=extensions)

    def answers(self, expression: str, devices: list[dict[str, Any]]) -> list[object] | None:
        """A value for each device, None where it fails; None instead of all where the expression is not standard."""
        if any(word in expression for word in UNKNOWN):
            return None
        try:
            compiled = self._environment.compile(expression)
        except Exception:  # noqa: BLE001 - it has no class for errors
            return None
        return [self._answer(compiled, device) for device in devices]

    @staticmethod
    def _answer(compiled: Any, fields: dict[str, Any]) -> object:
        try:
            value = compiled.eval(data={"device": plain(fields)}).value()
        except Exception:  # noqa: BLE001
            return None
        return value if isinstance(value, bool) else None


def plain(fields: dict[str, Any]) -> dict[str, Any]:
    """A device as maps. Its driver's domain is there, because an unknown one is empty for Kubernetes."""
    attributes: dict[str, dict[str, Any]] = {DRIVER: {}}
    for name, typed in fields["attributes"].items():
        domain, _, bare = name.rpartition("/")
        ((_, value),) = typed.items()
        attributes.setdefault(domain or fields["driver"], {})[bare] = value
    shares = fields.get("allowMultipleAllocations", False)
    return {"driver": fields["driver"], "attributes": attributes, "allowMultipleAllocations": shares}


def judged(
    judge: SecondJudge, expressions: list[str], devices: list[dict[str, Any]]
) -> Iterator[tuple[str, list[object], list[object]]]:
    """Expressions that both compile, with the judge's answers and kubesched's; None for one that fails."""
    values = [device_of(fields) for fields in devices]
    for expression in expressions:
        expected, found = judge.answers(expression, devices), answers(expression, values)
        if expected is not None and isinstance(found, list) and ONLY_THERE not in found:
            yield expression, expected, [None if isinstance(one, str) else one for one in found]
