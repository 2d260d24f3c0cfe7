"""Turns what plugins raise and return into text, and never raises, whatever their `__str__` and `__repr__` do."""

import logging
import re
from collections.abc import Callable
from traceback import walk_tb
from types import FrameType
from typing import Final

from kubesched.api import Pod
from kubesched.framework.status import HOOK_FAULTS, FaultText, PluginFault
from kubesched.state import NodeInfo

_LOG: Final = logging.getLogger("kubesched.plugin")
_SEPARATORS: Final = re.compile(r"[\\/]")
_PLAIN: Final = (RuntimeError, PluginFault)
_NO_TEXT: Final = "<exception str() failed>"  # Python's words, from its stack traces
_MAX_TEXT: Final = 200
_MAX_ANSWER: Final = 80


def fault_text(error: BaseException, hook: Callable[..., object] | None = None) -> FaultText:
    """Return an exception's text; its type in front, unless it was raised to say just that (RuntimeError).

    The text does not contain the place in the plugin's file, so that texts can be put into others; `located` adds it.

    Args:
        hook: what was called; its first line is the place of an invalid answer.

    Its stack trace is logged at level DEBUG, because the text is all that a user sees otherwise. The record has
    the plugin, the hook, the pod and the node.

    Example:
        assert fault_text(ValueError("no disk")) == "ValueError: no disk"
        assert fault_text(RuntimeError("no disk")) == "no disk"
    """
    if _LOG.isEnabledFor(logging.DEBUG):
        _LOG.debug("the stack trace of a plugin's fault", exc_info=error, extra=_call_of(error))
    text = _text(error)
    is_plain = isinstance(error, _PLAIN) and text not in ("", _NO_TEXT)
    return FaultText(text if is_plain else _with_type(error, text), fault_place(error) or _first_line(hook))


def _call_of(error: BaseException) -> dict[str, str]:
    """What the hook was called with that raised: its first frame in the plugin's file has the arguments."""
    frame = next((frame for frame, _ in walk_tb(error.__traceback__) if not _is_own(frame)), None)
    if frame is None:
        return {}
    code = frame.f_code
    about = {"hook": code.co_name}
    for name in code.co_varnames[: code.co_argcount]:
        value = frame.f_locals.get(name)
        if name == "self":
            named = getattr(type(value), "name", None)
            about["plugin"] = named if isinstance(named, str) else type(value).__name__
        elif isinstance(value, Pod):
            about["pod"] = value.key
        elif isinstance(value, NodeInfo):
            about["node"] = value.name
        elif name == "node_name" and isinstance(value, str):
            about["node"] = value
    return about


def fault_place(error: BaseException | None) -> str:
    """The last line of the plugin's file that ran, such as `disks.py:12 in filter`; empty where none did.

    The plugin's file is the first one that kubesched called.
    """
    frames = [(frame, line) for frame, line in walk_tb(error.__traceback__ if error else None) if not _is_own(frame)]
    file = frames[0][0].f_code.co_filename if frames else ""
    places = [(line, frame.f_code.co_name) for frame, line in frames if frame.f_code.co_filename == file]
    if not places:
        return ""
    line, function = places[-1]
    return _place(file, line, function)


def _first_line(hook: Callable[..., object] | None) -> str:
    code = getattr(getattr(hook, "__func__", None), "__code__", None)
    return "" if code is None else _place(code.co_filename, code.co_firstlineno, code.co_name)


def _place(file: str, line: int, function: str) -> str:
    return f"{_SEPARATORS.split(file)[-1]}:{line} in {function}"


def _is_own(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] == "kubesched"


def in_one_line(error: BaseException) -> str:
    """Return an exception's type and text on one line, cut where that gets long: for messages to people."""
    text = " ".join(_text(error).split())
    return _with_type(error, f"{text[:_MAX_TEXT]}..." if len(text) > _MAX_TEXT else text)


def located_line(error: BaseException) -> str:
    """Return `in_one_line` with the place in the plugin's file, where there is one."""
    place = fault_place(error)
    return f"{in_one_line(error)} ({place})" if place else in_one_line(error)


def answer_text(answer: object) -> str:
    """Return the start of an answer's repr."""
    try:
        return repr(answer)[:_MAX_ANSWER]
    except HOOK_FAULTS:
        return f"a {type(answer).__name__}, whose repr() failed"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except HOOK_FAULTS:
        return _NO_TEXT


def _with_type(error: BaseException, text: str) -> str:
    name = type(error).__name__
    return f"{name}: {text}" if text else name
