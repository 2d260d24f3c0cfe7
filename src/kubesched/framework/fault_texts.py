"""Turns what plugins raise and return into text, and never raises, whatever their `__str__` and `__repr__` do."""

import logging
from traceback import walk_tb
from types import FrameType
from typing import Final

from kubesched.framework.status import HOOK_FAULTS, PluginFault

__all__ = ["answer_text", "fault_place", "fault_text", "in_one_line"]

_LOG: Final = logging.getLogger("kubesched.plugin")
_PLAIN: Final = (RuntimeError, PluginFault)
_NO_TEXT: Final = "<exception str() failed>"  # Python's words, from its stack traces
_MAX_TEXT: Final = 200
_MAX_ANSWER: Final = 80


def fault_text(error: BaseException) -> str:
    """Return an exception's text; its type in front, unless it was raised to say just that (RuntimeError).

    Its stack trace is logged at level DEBUG, because the text is all that a user sees otherwise.

    Example:
        assert fault_text(ValueError("no disk")) == "ValueError: no disk"
        assert fault_text(RuntimeError("no disk")) == "no disk"
    """
    _LOG.debug("the stack trace of a plugin's fault", exc_info=error)
    text = _text(error)
    is_plain = isinstance(error, _PLAIN) and text not in ("", _NO_TEXT)
    return text if is_plain else _with_type(error, text)


def fault_place(error: BaseException | None) -> str:
    """Return where in a plugin's file an exception was raised, such as `mem_head.py:12 in filter`; empty if unknown.

    The plugin's file is the first one below kubesched's frames, and its last frame counts.
    """
    raised = walk_tb(error.__traceback__ if error else None)
    frames = [(frame.f_code.co_filename, line, frame) for frame, line in raised]
    outside = [file for file, _, frame in frames if _is_outside(frame)]
    places = [(line, frame.f_code.co_name) for file, line, frame in frames if outside and file == outside[0]]
    if not places:
        return ""
    line, function = places[-1]
    return f"{outside[0].replace(chr(92), '/').rpartition('/')[2]}:{line} in {function}"


def in_one_line(error: BaseException) -> str:
    """Return an exception's type and text on one line, cut where that gets long: for messages to people."""
    text = " ".join(_text(error).split())
    return _with_type(error, f"{text[:_MAX_TEXT]}..." if len(text) > _MAX_TEXT else text)


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


def _is_outside(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] != "kubesched"
