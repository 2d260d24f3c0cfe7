import io
import json
import logging
import re

import pytest

from kubesched.errors import InputError
from kubesched.serving import set_up_logging

LOG = logging.getLogger("kubesched.test")
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"


@pytest.fixture(autouse=True)
def root_as_before():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(write, level=None, **options):
    stream = io.StringIO()
    set_up_logging({"LOG_LEVEL": level} if level else {}, stream=stream, **options)
    write()
    return stream.getvalue().splitlines()


def log_fault():
    try:
        raise ValueError("first\n2026-01-01T00:00:00Z ERROR forged")
    except ValueError:
        LOG.exception("it broke")


def test_a_line_says_when_how_grave_who_and_what():
    (line,) = lines(lambda: LOG.warning("%d pods wait", 3, extra={"node": "n1"}))
    assert re.fullmatch(TIME + " WARNING kubesched.test: 3 pods wait node=n1", line)


def test_json_has_the_same_and_the_extra_fields():
    (line,) = lines(lambda: LOG.warning("%d pods wait", 3, extra={"node": "n1", "ports": {80}}), as_json=True)
    record = json.loads(line)
    assert re.fullmatch(TIME, record.pop("time"))
    assert record == {
        "level": "warning",
        "logger": "kubesched.test",
        "message": "3 pods wait",
        "node": "n1",
        "ports": [80],
    }


def test_half_a_surrogate_pair_in_an_extra_field_is_an_escape_in_json():
    (line,) = lines(lambda: LOG.warning("no", extra={"err": "\udcff", "reasons": ["\udcff"]}), as_json=True)
    assert json.loads(line)["err"] == r"\udcff"
    assert json.loads(line)["reasons"] == r"['\udcff']"


def test_a_message_cannot_forge_a_second_line_or_steer_a_terminal():
    (line,) = lines(lambda: LOG.info("pod %s", "a\nb\r\x1b[31m\u2028c"))
    assert line.endswith(r"pod a\nb\r\x1b[31m\u2028c")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_line_has_no_character_that_acts_on_a_terminal_or_hides(as_json):
    text = "a\x1b[31m\x9b2J\x7f\x85\u061c\u202e\u2066\ufeff\xad\U000e0041b\tc"
    (line,) = lines(lambda: LOG.info("pod %s", text, extra={"node": text, "err": text}), as_json=as_json)
    assert line.isprintable()
    if as_json:
        said = json.loads(line)
        assert [said["message"], said["node"], said["err"]] == [f"pod {text}", text, text]
    else:
        assert line.count(r"a\x1b[31m\x9b2J\x7f\x85\u061c\u202e\u2066\ufeff\xad\U000e0041b\tc") == 3


def test_a_stack_trace_follows_indented():
    first, *trace = lines(log_fault)
    assert first.endswith("it broke")
    assert trace
    assert all(line.startswith("    ") for line in trace)


def test_a_stack_trace_in_json_stays_on_the_line():
    (line,) = lines(log_fault, as_json=True)
    assert "ValueError: first\n2026" in json.loads(line)["exception"]


@pytest.mark.parametrize(
    ("level", "shown"),
    [(None, "iwe"), ("debug", "diwe"), ("INFO", "iwe"), ("warning", "we"), ("error", "e")],
)
def test_the_environment_chooses_the_level(level, shown):
    def write():
        for mark, method in zip("diwe", (LOG.debug, LOG.info, LOG.warning, LOG.error), strict=True):
            method(mark)

    assert "".join(line[-1] for line in lines(write, level)) == shown


def test_an_unknown_level_is_explained():
    words = 'LOG_LEVEL: no level named "loud"; expected one of debug, info, warning, error'
    with pytest.raises(InputError, match=re.escape(words)):
        set_up_logging({"LOG_LEVEL": "loud"})


def test_standard_error_is_where_lines_go(capsys):
    set_up_logging({})
    LOG.error("here")
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[-1][-4:]) == ("", "here")
