import gzip
import io

import pytest

from kubesched.errors import InputError
from kubesched.snapshot.packing import packed_writer, unpack


def packed(suffix: str, *contents: bytes) -> bytes:
    file = io.BytesIO()
    for content in contents:
        with packed_writer(file, suffix) as append:
            append(content)
    return file.getvalue()


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".json"])
def test_what_was_packed_unpacks(suffix):
    content = b"many words " * 100_000
    assert unpack(packed(suffix, content), "f") == content


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_pieces_put_one_after_another_unpack_as_one(suffix):
    assert unpack(packed(suffix, b"one ", b"two"), "f") == b"one two"


@pytest.mark.parametrize(("suffix", "name"), [(".gz", "gzip"), (".zst", "zstd")])
def test_cut_data_is_refused(suffix, name):
    data = packed(suffix, bytes(range(256)) * 100)
    with pytest.raises(InputError, match=f"f: the {name} data ends in the middle; the file is cut"):
        unpack(data[:-10], "f")


@pytest.mark.parametrize(("suffix", "name"), [(".gz", "gzip"), (".zst", "zstd")])
def test_damaged_data_is_refused(suffix, name):
    data = bytearray(packed(suffix, b"content"))
    data[4:] = b"\xff" * (len(data) - 4)
    with pytest.raises(InputError, match=f"f: the {name} data"):
        unpack(bytes(data), "f")


@pytest.mark.parametrize(
    ("magic", "name"),
    [(b"BZh9", "bzip2"), (b"\xfd7zXZ\x00", "xz"), (b"PK\x03\x04", "zip"), (b"\x04\x22\x4d\x18", "lz4")],
)
def test_another_compression_is_refused_by_name(magic, name):
    words = rf"f: compressed with {name}; expected gzip \(\.gz\) or zstd \(\.zst\); `.* FILE \| kubesched COMMAND -`"
    with pytest.raises(InputError, match=words):
        unpack(magic + b"rest", "f")


def test_gzip_says_nothing_of_time_and_name():
    assert packed(".gz", b"x")[4:8] == gzip.compress(b"x", mtime=0)[4:8] == bytes(4)


@pytest.mark.parametrize(("suffix", "name"), [(".gz", "gzip"), (".zst", "zstd")])
def test_what_is_compressed_twice_is_refused_with_a_command_that_reads_it(suffix, name):
    words = f"f: compressed twice; expected once; `{name} -dc FILE"
    with pytest.raises(InputError, match=words):
        unpack(packed(suffix, packed(".gz", b"content")), "f")


@pytest.mark.parametrize(("suffix", "name"), [(".gz", "gzip"), (".zst", "zstd")])
def test_other_data_after_the_compressed_data_is_refused(suffix, name):
    with pytest.raises(InputError, match=f"f: after the {name} data comes other data; the file is damaged"):
        unpack(packed(suffix, b"content") + b"junk", "f")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("padding", [b"\0" * 9, b""])
def test_padding_after_the_compressed_data_is_skipped(suffix, padding):
    assert unpack(packed(suffix, b"content") + padding, "f") == b"content"


def test_a_newline_after_zstd_data_is_skipped():
    assert unpack(packed(".zst", b"content") + b"\n", "f") == b"content"


def test_many_frames_take_time_for_each_alone():
    """To keep the rest of the data for each frame would take hours for a file of some MB."""
    frames = packed(".zst", b"ab")
    assert unpack(frames * 20_000, "f") == b"ab" * 20_000
