import io
from pathlib import Path

import pytest

from kubesched.config import read_text
from kubesched.documents import read_file, read_whole, whole_files
from kubesched.errors import InputError
from kubesched.snapshot import load_snapshot

ENDLESS = Path("/dev/zero")


@pytest.fixture(autouse=True)
def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files, "MAX_BYTES", 2**26)


@pytest.mark.parametrize("content", [b"", b"x" * 100])
def test_a_file_or_stream_is_read_to_its_end(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    assert read_file(tmp_path / "file") == read_whole(io.BytesIO(content)) == content
    assert read_whole(io.StringIO("text"), 2) == "text"


def test_a_system_file_without_a_size_is_read() -> None:
    assert read_file(Path("/proc/self/status")).startswith(b"Name:")


def test_an_endless_file_or_stream_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match=r"^/dev/zero: cannot be read: it has more than 0\.0625 GiB; expected less$"):
        load_snapshot(ENDLESS)
    with pytest.raises(InputError, match=r"^open /dev/zero: it has more than 0\.0625 GiB; expected less$"):
        read_text(ENDLESS)
    with ENDLESS.open("rb") as stream, pytest.raises(InputError, match="more than"):
        load_snapshot(stream)


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(2**27)
    with pytest.raises(OSError, match="more than"):
        read_file(tmp_path / "large.json")


def test_what_does_not_fit_into_the_memory_is_a_fault_of_the_file() -> None:
    class Huge(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise MemoryError

    with pytest.raises(InputError, match="cannot be read: it does not fit into the memory"):
        load_snapshot(Huge())
