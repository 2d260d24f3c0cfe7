"""Records requests, answers and watch events in a file that can be replayed.

A recording is a folder with one file, a JSON object on each line, in the order in which things happened: changes of the
cluster from the watch, and calls with their answers. It holds pods and nodes whole, so only its owner may read
it.
"""

import base64
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from kubesched.api import EventType, WatchEvent, decode_object
from kubesched.documents import describe_json_fault
from kubesched.errors import InputError, KubeschedError
from kubesched.extender.answer import Answer
from kubesched.wire import Body

FILE_NAME: Final = "recording.jsonl"
_VERSION: Final = 1
_NOTHING: Final = msgspec.Raw(b"null")
_LOG: Final = logging.getLogger("kubesched.extender")


class RecordedWatch(msgspec.Struct, frozen=True):
    """What the extender watched.

    Attributes:
        kinds: none where requests had to show it everything.
    """

    kinds: tuple[str, ...]


class RecordedCall(msgspec.Struct, frozen=True):
    """One call.

    Attributes:
        path: such as `/filter`.
        request, answer: the bodies.
        status: of HTTP.
        is_late: whether the time was over, so that the answer depends little on the plugins.
    """

    path: str
    request: bytes
    status: int
    answer: bytes
    is_late: bool = False


class _Event(msgspec.Struct, frozen=True):
    type: EventType
    kind: str
    object: msgspec.Raw


class _Call(msgspec.Struct, frozen=True, omit_defaults=True):
    path: str
    status: int
    request: msgspec.Raw = _NOTHING
    answer: msgspec.Raw = _NOTHING
    request_base64: str | None = None
    answer_base64: str | None = None
    late: bool = False


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    version: int = 0
    watched: tuple[str, ...] = ()
    event: _Event | None = None
    call: _Call | None = None


_ENCODER: Final = msgspec.json.Encoder()
_LINE: Final = msgspec.json.Decoder(_Line)


class Recorder:
    """Writes a recording. Every line is on its way to disk before the next one, so that a crash loses none.

    A line that cannot be written ends the recording, which can be replayed up to there, and nothing else.

    Attributes:
        error: why nothing more is recorded; empty as long as something is.
    """

    def __init__(self, folder: Path, watched: tuple[str, ...] = ()) -> None:
        """Begin a recording.

        Args:
            watched: the kinds whose changes are going to be told.
        Raises:
            InputError: the folder cannot be made or written, or has a recording already.
        """
        self.error = ""
        self._n_lines = 0
        self._path = path = folder / FILE_NAME
        if folder.exists() and not folder.is_dir():
            raise InputError(f"--record {folder}: not a folder; name a folder, which does not have to exist yet")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        except FileExistsError:
            raise InputError(f"--record {folder}: {FILE_NAME} already exists; name another folder") from None
        except OSError as error:
            raise InputError(f"--record {folder}: {error.strerror or error}") from error
        self._write(_Line(version=_VERSION, watched=watched))
        if self.error:
            raise InputError(f"--record {folder}: {self.error}")

    def events(self, events: Iterable[WatchEvent]) -> None:
        """Record what the watch told."""
        for event in events:
            self._write(_Line(event=_Event(event.type, event.kind, msgspec.Raw(_one_line(event.object.raw)))))

    def call(self, path: str, request: Body, answer: Answer) -> None:
        """Record a call with its answer."""
        request_json, request_text = _json_or_base64(bytes(request))
        answer_json, answer_text = _json_or_base64(b"".join(answer.pieces))
        call = _Call(path, answer.status, request_json, answer_json, request_text, answer_text, answer.is_late)
        self._write(_Line(call=call))

    def close(self) -> None:
        """End the recording, and leave none behind where nothing happened: a start that failed is tried again."""
        self._file.close()
        if self._n_lines == 1:
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, line: _Line) -> None:
        if self.error or self._file.closed:
            return
        try:
            self._file.write(_ENCODER.encode(line) + b"\n")
            self._file.flush()
            self._n_lines += 1
        except OSError as error:
            self.error = (error.strerror or str(error)).lower()
            _LOG.error("%s: %s; the recording ends here", self._path, self.error)
            self._file.raw.close()  # so that the rest of the buffer is not written later


def read_recording(folder: Path) -> Iterator[WatchEvent | RecordedCall | RecordedWatch]:
    """Read a recording: first what was watched, then events and calls in their order.

    Raises:
        InputError: it does not exist, or a line of it is broken; the message names the line.
    """
    path = folder / FILE_NAME if folder.is_dir() else folder
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return  # cut short by a crash
                yield from _read_line(line, number, path)
    except OSError as error:
        raise InputError(
            f"{path}: {(error.strerror or str(error)).lower()}; a recording is made with --record"
        ) from error


def _read_line(line: bytes, number: int, path: Path) -> Iterator[WatchEvent | RecordedCall | RecordedWatch]:
    try:
        read = _LINE.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}:{number}: {describe_json_fault(error, line)}") from error
    try:
        if number == 1:
            if read.version != _VERSION:
                raise InputError(f"not a recording of version {_VERSION}")
            yield RecordedWatch(read.watched)
        if read.event is not None:
            kind = read.event.kind
            yield WatchEvent(read.event.type, kind, decode_object(kind, read.event.object))
        if read.call is not None:
            call = read.call
            yield RecordedCall(
                call.path,
                _bytes_of(call.request, call.request_base64),
                call.status,
                _bytes_of(call.answer, call.answer_base64),
                call.late,
            )
    except (KubeschedError, ValueError, RecursionError) as error:  # ValueError: not base64
        raise InputError(f"{path}:{number}: {error}") from error


def _one_line(json: bytes) -> bytes:
    """Valid JSON without line breaks: they are only between values."""
    return json.replace(b"\n", b" ").replace(b"\r", b" ")


def _json_or_base64(body: bytes) -> tuple[msgspec.Raw, str | None]:
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NOTHING, base64.b64encode(body).decode()
    return msgspec.Raw(_one_line(body)), None


def _bytes_of(raw: msgspec.Raw, text: str | None) -> bytes:
    return bytes(raw) if text is None else base64.b64decode(text)
