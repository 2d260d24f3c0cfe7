"""Finalizers of an object in protobuf; the rest stays byte for byte."""

import pytest

from kubesched.cluster import with_finalizers


def field(number: int, payload: bytes) -> bytes:
    assert len(payload) < 128
    return bytes([number << 3 | 2, len(payload)]) + payload


NUMBERS = b"\x38\x96\x01" + b"\x11" + bytes(8) + b"\x1d" + bytes(4)  # one of each wire type
NAME, VERSION = field(1, b"claim"), field(6, b"7")
OLD = field(14, b"a/b")
SPEC, STATUS = field(2, b'{"a":   1}'), field(3, b"")


def written(metadata: bytes) -> bytes:
    return b"k8s\x00" + field(1, b"type") + field(2, field(1, metadata) + SPEC + STATUS) + field(3, b"")


def test_finalizers_and_the_version_are_replaced_and_nothing_else():
    changed = with_finalizers(written(NAME + VERSION + NUMBERS + OLD), "12", ["a/b", "c/d"])
    assert changed == written(NAME + NUMBERS + field(6, b"12") + OLD + field(14, b"c/d"))
    assert with_finalizers(changed, "13", []) == written(NAME + NUMBERS + field(6, b"13"))


def test_long_payloads_have_long_lengths():
    changed = with_finalizers(written(NAME), "1", ["f" * 300])
    assert b"\x72\xac\x02" + b"f" * 300 in changed
    assert with_finalizers(changed, "1", []) == written(NAME + field(6, b"1"))


@pytest.mark.parametrize("body", [b"{}", b"k8s\x00", written(NAME)[:-20]], ids=["JSON", "no object", "half of one"])
def test_what_is_not_an_object_is_an_error(body):
    with pytest.raises(ValueError, match=r"expected|the message ends"):
        with_finalizers(body, "1", [])
