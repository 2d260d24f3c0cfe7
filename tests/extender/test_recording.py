"""What is recorded comes back as it was, a crash costs one line at most, and a full disk costs the recording only."""

import logging
import stat
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import EventType, Node, Pod, WatchEvent
from kubesched.errors import InputError
from kubesched.extender import Answer, Recorder, read_recording
from kubesched.extender.recording import FILE_NAME, RecordedCall, RecordedWatch
from kubesched.testing import make_node, make_pod

SOME = ("/filter", b"{}", Answer([b"{}"]))


def recorded(folder: Path, *calls: tuple[str, bytes, Answer], events: tuple[WatchEvent, ...] = ()) -> Path:
    with Recorder(folder, ("Node", "Pod") if events else ()) as recorder:
        recorder.events(events)
        for call in calls:
            recorder.call(*call)
    return folder


def test_calls_come_back_in_their_order_with_what_was_watched(tmp_path: Path):
    late = Answer([b'{"Error":', b'"late"}'], is_late=True)
    failed = Answer([b"boom\n"], status=500)
    folder = recorded(tmp_path / "rec", ("/filter", b'{"a": 1}', late), ("/prioritize", b"nonsense", failed))
    assert list(read_recording(folder)) == [
        RecordedWatch(()),
        RecordedCall("/filter", b'{"a": 1}', 200, b'{"Error":"late"}', True),
        RecordedCall("/prioritize", b"nonsense", 500, b"boom\n"),
    ]
    assert list(read_recording(folder / FILE_NAME)) == list(read_recording(folder))


DOCUMENTS = st.recursive(
    st.none() | st.integers(-(2**63), 2**63) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)
BODIES = st.binary() | DOCUMENTS.map(lambda value: msgspec.json.format(msgspec.json.encode(value)))


@given(request=BODIES, answer=st.lists(st.binary(), max_size=3))
def test_any_bodies_come_back_but_for_line_breaks_between_values(
    tmp_path_factory: pytest.TempPathFactory, request: bytes, answer: list[bytes]
):
    folder = recorded(tmp_path_factory.mktemp("rec"), ("/filter", request, Answer(answer)))
    _, call = read_recording(folder)
    for before, after in ((request, call.request), (b"".join(answer), call.answer)):
        in_one_line = before.replace(b"\n", b" ").replace(b"\r", b" ")
        assert after.strip(b" \t") in (before.strip(b" \t"), in_one_line.strip(b" \t"))


def test_what_the_watch_told_comes_back_as_objects(tmp_path: Path):
    events = (
        WatchEvent(EventType.ADDED, "Node", make_node("n1", labels={"a": "b"})),
        WatchEvent(EventType.MODIFIED, "Pod", make_pod("p", node="n1")),
        WatchEvent(EventType.DELETED, "Node", make_node("n1")),
    )
    watch, *found = read_recording(recorded(tmp_path, events=events))
    assert watch == RecordedWatch(("Node", "Pod"))
    assert [(one.type, one.kind, one.object.key) for one in found] == [
        (EventType.ADDED, "Node", "n1"),
        (EventType.MODIFIED, "Pod", "default/p"),
        (EventType.DELETED, "Node", "n1"),
    ]
    node, pod, _ = (one.object for one in found)
    assert isinstance(node, Node)
    assert node.labels["a"] == "b"
    assert isinstance(pod, Pod)
    assert pod.node_name == "n1"


def test_only_the_owner_may_read_it(tmp_path: Path):
    folder = recorded(tmp_path / "deep" / "rec", SOME)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / FILE_NAME).stat().st_mode) == 0o600


def test_every_line_is_there_before_the_recording_ends(tmp_path: Path):
    with Recorder(tmp_path) as recorder:
        recorder.call("/filter", b"{}", Answer([b"{}"]))
        assert len(list(read_recording(tmp_path))) == 2


@pytest.mark.parametrize("n_lost", [1, 5, 60])
def test_a_line_that_a_crash_cut_is_left_out(tmp_path: Path, n_lost: int):
    path = recorded(tmp_path, *[("/filter", b"{}", Answer([b'{"NodeNames":["a-long-name"]}']))] * 2) / FILE_NAME
    path.write_bytes(path.read_bytes()[:-n_lost])
    assert len(list(read_recording(tmp_path))) == 2


def test_a_recording_is_never_overwritten(tmp_path: Path):
    recorded(tmp_path, SOME)
    with pytest.raises(InputError, match=rf"--record {tmp_path}: recording.jsonl already exists; name another"):
        Recorder(tmp_path)


def test_where_nothing_happened_the_next_start_may_record(tmp_path: Path):
    assert not any(recorded(tmp_path).iterdir())
    Recorder(tmp_path).close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with Recorder(tmp_path) as recorder:
        recorder.call(*SOME)
        recorder._file.close()
        recorder._file = Path("/dev/full").open("wb")  # noqa: SIM115 - the recorder closes it
        recorder.call(*SOME)
        recorder.call(*SOME)
    (record,) = caplog.records
    assert (record.levelno, record.name) == (logging.ERROR, "kubesched.extender")
    assert record.getMessage() == f"{tmp_path / FILE_NAME}: no space left on device; the recording ends here"
    assert len(list(read_recording(tmp_path))) == 2


def test_a_line_nested_too_deep_is_named(tmp_path: Path):
    path = recorded(tmp_path, SOME) / FILE_NAME
    deep = b'{"call":{"path":"/filter","status":200,"request":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}}\n"
    path.write_bytes(path.read_bytes() + deep)
    with pytest.raises(InputError, match=rf"^{path}:3: "):
        list(read_recording(tmp_path))
