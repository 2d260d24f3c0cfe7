"""A standard error that has JSON lines only, whatever writes to it: prints, warnings, tracebacks, messages.

Only what Python code writes to `sys.stderr` or `sys.__stderr__` passes here. C code, child processes, faulthandler,
`os.write(2, ...)` and the stack traces of a process whose interpreter is blocked write to the file itself.
"""

import io
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, TextIO, cast

from kubesched.serving.logs import JsonLines

_OUTPUT: Final = "kubesched.output"  # the logger of lines that no logger wrote
_LONGEST_LINE: Final = 2**16  # longer ones are cut into several


class JsonStream(io.TextIOBase):
    """A text stream that makes a log record of each line, at every level.

    Args:
        target: where the records go.
    """

    def __init__(self, target: TextIO) -> None:
        self.target = target
        self._handler = logging.StreamHandler(target)
        self._handler.setFormatter(JsonLines())
        self._unfinished: dict[threading.Thread, str] = {}  # the line that a thread has begun
        self._of_thread = threading.local()  # whether the thread is writing a record

    name = "<stderr>"
    mode = "w"
    errors = "backslashreplace"

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a read-only attribute in typeshed
        """UTF-8, the encoding of JSON."""
        return "utf-8"

    @property
    def buffer(self) -> "_Bytes":
        """A binary stream for the same lines."""
        return _Bytes(self)

    def reconfigure(self, **_: object) -> None:
        """Change nothing: lines stay JSON in UTF-8, each written when it ends."""

    def close(self) -> None:
        """Stay open: what comes later, such as log lines, needs the stream."""

    def writable(self) -> bool:
        """Return True."""
        return True

    def isatty(self) -> bool:
        """Return False: the lines are for programs."""
        return False

    def fileno(self) -> int:
        """The file descriptor of the target."""
        return self.target.fileno()

    def write(self, text: str) -> int:
        """Log the lines that this text ends. The line that a thread leaves unfinished is logged after its end."""
        thread = threading.current_thread()
        rest = self._unfinished.pop(thread, "") + text
        *lines, rest = rest.split("\n")
        while len(rest) > _LONGEST_LINE:
            lines.append(rest[:_LONGEST_LINE])
            rest = rest[_LONGEST_LINE:]
        if rest:
            self._unfinished[thread] = rest
        for line in lines:
            self._log_line(line)
        self._finish_lines(of_ended=True)
        return len(text)

    def finish(self) -> None:
        """Log the unfinished lines of all threads."""
        self._finish_lines(of_ended=False)

    @property
    def n_unfinished(self) -> int:
        """How many unfinished lines are kept."""
        return len(self._unfinished)

    def _finish_lines(self, *, of_ended: bool) -> None:
        """Log unfinished lines: of the threads that have ended, or of all."""
        for thread in list(self._unfinished):
            if not (of_ended and thread.is_alive()):
                self._log_line(self._unfinished.pop(thread, ""))

    def _log_line(self, line: str) -> None:
        if line.strip():
            self.log(logging.INFO, line.rstrip("\r"))

    def log(
        self, level: int, message: str, error: BaseException | None = None, logger: str = _OUTPUT, **extra: object
    ) -> None:
        """Write a record with further fields, whatever LOG_LEVEL is."""
        if getattr(self._of_thread, "is_busy", False):  # the record cannot be written, and logging prints why
            return
        fields = {"name": logger, "levelno": level, "levelname": logging.getLevelName(level), "msg": message}
        exc_info = (type(error), error, error.__traceback__) if error is not None else None
        self._of_thread.is_busy = True
        try:
            self._handler.handle(logging.makeLogRecord({**fields, "exc_info": exc_info, **extra}))
        finally:
            self._of_thread.is_busy = False


class _Bytes(io.RawIOBase):
    def __init__(self, stream: JsonStream) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        text = bytes(cast("bytes", data))
        self._stream.write(text.decode(errors="backslashreplace"))
        return len(text)


@contextmanager
def only_json_lines() -> Iterator[None]:
    """Make standard error JSON lines inside the block; an exception that leaves the block ends the process."""
    before, first = sys.stderr, sys.__stderr__
    if before is None:
        yield
        return
    stream = JsonStream(before)
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    sys.stderr = cast("TextIO", stream)
    sys.__stderr__ = sys.stderr  # type: ignore[misc, assignment]  # code that replaces the first gives it back
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda args: _log(f"a thread failed: {args.thread and args.thread.name}", args.exc_value)
    sys.unraisablehook = lambda args: _log(f"{args.err_msg or 'exception ignored'}", args.exc_value)
    logging.captureWarnings(True)
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the interpreter would print it
        _log("kubesched failed", error)
        sys.exit(1)
    finally:
        stream.finish()
        logging.captureWarnings(False)
        sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
        sys.stderr, sys.__stderr__ = before, first  # type: ignore[misc]


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _log("an exception was not caught", error)


def _log(what: str, error: BaseException | None) -> None:
    stream: object = sys.stderr
    if isinstance(stream, JsonStream):
        stream.log(logging.ERROR, what, error)
