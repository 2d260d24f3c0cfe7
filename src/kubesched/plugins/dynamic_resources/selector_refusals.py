"""Why the expressions of a request do not accept a device: the part that does not hold, or that fails."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.errors import CelCompileError, CelRuntimeError
from kubesched.plugins.dynamic_resources.asks import DeviceAsk, NamedAsk
from kubesched.release import Release
from kubesched.state import DevicePool, PoolDevice

if TYPE_CHECKING:
    from kubesched.cel import CompiledSelector, Refusal

_LONGEST: Final = 60
_BEHIND: Final = 12  # characters of a text that are shown behind a word


def refusal_of(texts: Iterable[str], device: PoolDevice) -> "Refusal | None":
    """The first part of a selector that does not hold for a device."""
    for text in texts:
        try:
            selector = kubesched.cel.compile_in_any_version(text)
            if not _holds(selector, device) and (refusal := selector.refusal(device.value)):
                return refusal
        except CelCompileError:
            continue
    return None


def failing_selectors(pools: Sequence[DevicePool], claims: Iterable[NamedAsk], release: Release) -> Iterator[str]:
    """A phrase for each request with an expression that does not compile, or fails for a device of a node."""
    for claim in claims:
        for ask in claim.ask.asks:
            failures = (_failure_of(ask, device, release) for pool in pools for device in pool.devices)
            if failure := next(filter(None, failures), ""):
                yield f"request {ask.name}: {failure}"


def _failure_of(ask: DeviceAsk, device: PoolDevice, release: Release) -> str:
    """The part of a selector that fails for a device which the ones before it accept, and why; empty for none."""
    failure = _failing_one(ask.class_selectors, device, release)
    if failure:
        return f"class {ask.class_name}: {failure}"
    return "" if refusal_of(ask.class_selectors, device) else _failing_one(ask.selectors, device, release)


def _failing_one(texts: Iterable[str], device: PoolDevice, release: Release) -> str:
    for text in texts:
        try:
            selector = kubesched.cel.compile_selector(text, release)
        except CelCompileError as error:
            return f"{cut(text)} does not compile: {str(error).splitlines()[0]}"
        try:
            if not selector.matches(device.value):
                return ""
        except CelRuntimeError as error:
            refusal = selector.refusal(device.value)
            return f"{cut(text)} fails: {error}" if refusal is None else failing(refusal)
    return ""


def failing(refusal: "Refusal") -> str:
    """The part of a selector that fails, and why."""
    return f"{cut(refusal.conjunct.text, refusal.wrong_word)} fails: {refusal.error}"


def _holds(selector: "CompiledSelector", device: PoolDevice) -> bool:
    """Whether a device matches: that is known for a part of what a refusal costs."""
    try:
        return selector.matches(device.value)
    except CelRuntimeError:
        return False


def bare_name(name: str) -> str:
    """The name of an attribute without its domain."""
    return name.rpartition("/")[2]


def cut(text: str, word: str = "") -> str:
    """A part of a long text, with a word of it."""
    end = text.find(word) + len(word)
    if len(text) <= _LONGEST or end <= _LONGEST:
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    end += _BEHIND
    return f"...{text[end - _LONGEST : end]}{'...' if end < len(text) else ''}"
