"""Log lines on standard error, as text or JSON: one record is one line, whatever it quotes."""

import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TextIO

import msgspec

from kubesched.documents import escape_controls, escape_in_json
from kubesched.errors import InputError

_LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_OWN_FIELDS: Final = {*logging.makeLogRecord({}).__dict__, "message", "asctime", "taskName"}
_LINES: Final = {9: "\\t", 10: "\\n"}


def set_up_logging(environ: Mapping[str, str], *, as_json: bool = False, stream: TextIO | None = None) -> None:
    """Send all log records to standard error, from the level that LOG_LEVEL names; replaces what was set up before.

    Args:
        environ: the environment; LOG_LEVEL is debug, info (the default), warning or error.
        as_json: JSON lines with time, level, logger, message, extra fields, and `exception` where there is one.
        stream: written to instead of standard error.

    Raises:
        InputError: LOG_LEVEL is none of these.
    """
    name = environ.get("LOG_LEVEL") or "info"
    if name.lower() not in _LEVELS:
        raise InputError(f'LOG_LEVEL: no level named "{name}"; expected one of {", ".join(_LEVELS)}')
    stream = stream or sys.stderr
    handler = logging.StreamHandler(getattr(stream, "target", stream))  # of a JsonStream
    handler.setFormatter(JsonLines() if as_json else _Lines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(_LEVELS[name.lower()])


class _Lines(logging.Formatter):
    """`TIME LEVEL logger: message key=value`; a stack trace follows, indented, so that it cannot look like a record."""

    def format(self, record: logging.LogRecord) -> str:
        extra = "".join(f" {key}={value}" for key, value in _extra(record).items())
        line = f"{_time(record)} {record.levelname} {record.name}: {record.getMessage()}{extra}"
        trace = [f"    {_in_one_line(part)}" for part in _trace(self, record).splitlines()]
        return "\n".join([_in_one_line(line), *trace])


class JsonLines(logging.Formatter):
    """A JSON object in one line: time, level, logger, message, extra fields, and `exception` where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        fields = {key: value for key, value in _extra(record).items() if key not in {"time", "level", "logger"}}
        line = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _utf8(record.getMessage()),
            **fields,
        }
        if trace := _trace(self, record):
            line["exception"] = _utf8(trace)
        try:
            return escape_in_json(msgspec.json.encode(line, enc_hook=str).decode())
        except UnicodeEncodeError:
            return escape_in_json(msgspec.json.encode({key: _utf8(str(value)) for key, value in line.items()}).decode())


def _in_one_line(text: str) -> str:
    return escape_controls(text).translate(_LINES)


def _utf8(text: str) -> str:
    """Return a text as JSON can carry it: half surrogate pairs become escapes."""
    return text.encode(errors="backslashreplace").decode()


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in record.__dict__.items() if key not in _OWN_FIELDS}


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return formatter.formatException(record.exc_info) if record.exc_info else ""
