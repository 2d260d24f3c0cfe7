"""What kubesched makes of expressions, in the form in which the oracle answers."""

from collections.abc import Callable
from typing import Any

from kubesched.cel import DeviceValue, Semver, compile_selector, device_value
from kubesched.errors import CelCompileError, CelRuntimeError
from kubesched.release import DEFAULT_RELEASE, Release

Answer = bool | str


def device_of(fields: dict[str, Any]) -> DeviceValue:
    """A device as ResourceSlices write it."""
    attributes = {}
    for name, typed in fields["attributes"].items():
        ((kind, value),) = typed.items()
        attributes[name] = Semver.parse(value) if kind == "version" else value
    capacity = {name: amount["value"] for name, amount in fields["capacity"].items()}
    shares = fields.get("allowMultipleAllocations", False)
    return device_value(fields["driver"], attributes, capacity, allow_multiple_allocations=shares)


def answers(expression: str, devices: list[DeviceValue], release: Release = DEFAULT_RELEASE) -> list[Answer] | str:
    """What kubesched makes of an expression: an answer for each device, or the error of the compiler."""
    try:
        selector = compile_selector(expression, release)
    except CelCompileError as error:
        return str(error)
    return [_answer(selector.matches, device) for device in devices]


def _answer(matches: Callable[[DeviceValue], bool], device: DeviceValue) -> Answer:
    try:
        return bool(matches(device))
    except CelRuntimeError as error:
        return str(error)
