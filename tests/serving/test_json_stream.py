"""Each line that is written to standard error is a record, and writing never fails or loops."""

import io
import json
import logging
import sys
import threading
from typing import Any

from kubesched.serving import JsonStream, only_json_lines, set_up_logging


def written(*texts: str) -> list[Any]:
    target = io.StringIO()
    stream = JsonStream(target)
    for text in texts:
        stream.write(text)
    return [json.loads(line)["message"] for line in target.getvalue().splitlines()]


def test_a_line_is_a_record_when_it_ends() -> None:
    assert written("one ", "line") == []
    assert written("one ", "line\n", "\n", "  \n", "next\r\n") == ["one line", "next"]
    assert written('{"a": 1}\n', "\x1b[2J\n", "caf\u00e9 \udcff\n") == ['{"a": 1}', "\x1b[2J", "caf\u00e9 \\udcff"]


def test_a_line_that_does_not_end_is_not_kept_for_ever() -> None:
    assert [len(line) for line in written(*["x" * 2**15] * 5)] == [2**16, 2**16]


def test_lines_of_threads_do_not_mix() -> None:
    target = io.StringIO()
    stream = JsonStream(target)
    stream.write("main ")
    other = threading.Thread(target=lambda: stream.write("other\n"))
    other.start()
    other.join()
    stream.write("goes on\n")
    assert [json.loads(line)["message"] for line in target.getvalue().splitlines()] == ["other", "main goes on"]


def begun_by_threads(stream: JsonStream, *texts: str) -> None:
    for text in texts:
        thread = threading.Thread(target=stream.write, args=(text,))
        thread.start()
        thread.join()


def test_the_last_line_of_a_thread_is_logged_after_its_end() -> None:
    target = io.StringIO()
    stream = JsonStream(target)
    begun_by_threads(stream, "first", "second")
    stream.write("main ")
    begun_by_threads(stream, "third")
    stream.finish()
    stream.finish()
    said = [json.loads(line)["message"] for line in target.getvalue().splitlines()]
    assert sorted(said) == ["first", "main ", "second", "third"]


def test_what_a_thread_left_is_not_kept() -> None:
    stream = JsonStream(io.StringIO())
    begun_by_threads(stream, *["x"] * 50)
    assert stream.n_unfinished <= 1
    stream.finish()
    assert stream.n_unfinished == 0


def test_a_stream_that_cannot_be_written_does_not_loop() -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("no space left")

    before = sys.stderr
    sys.stderr = JsonStream(Full())  # type: ignore[assignment]  # where logging reports that it cannot write
    try:
        sys.stderr.write("lost\n")
    finally:
        sys.stderr = before


def test_log_lines_pass_once(monkeypatch: Any) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    target = io.StringIO()
    monkeypatch.setattr(sys, "stderr", target)
    level = root.level
    with only_json_lines():
        set_up_logging({}, as_json=True)
        logging.getLogger("kubesched.test").warning("logged")
        sys.stderr.write("printed\n")
    root.setLevel(level)
    records = [json.loads(line) for line in target.getvalue().splitlines()]
    assert [(one["logger"], one["message"]) for one in records] == [
        ("kubesched.test", "logged"),
        ("kubesched.output", "printed"),
    ]


def test_what_code_does_to_standard_error_leaves_it_json_lines(monkeypatch: Any) -> None:
    target = io.StringIO()
    monkeypatch.setattr(sys, "stderr", target)
    with only_json_lines():
        sys.stderr.reconfigure(encoding="utf-8", line_buffering=True)  # type: ignore[union-attr]
        assert (sys.stderr.name, sys.stderr.mode, sys.stderr.errors) == ("<stderr>", "w", "backslashreplace")
        sys.stderr.close()
        sys.stderr.write("after close\n")
        sys.stderr.flush()
        assert not sys.stderr.closed
        sys.stderr = sys.__stderr__
        sys.stderr.write("given back\n")
        sys.__stderr__.write("past it\n")  # type: ignore[union-attr]
        logging.StreamHandler().handle(logging.makeLogRecord({"msg": "handled"}))
    messages = [json.loads(line)["message"] for line in target.getvalue().splitlines()]
    assert messages == ["after close", "given back", "past it", "handled"]


def test_the_first_standard_error_is_given_back(monkeypatch: Any) -> None:
    first = sys.__stderr__
    with only_json_lines():
        assert sys.__stderr__ is not first
    assert sys.__stderr__ is first
