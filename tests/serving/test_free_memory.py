"""Memory that is freed returns to the system."""

import ctypes
import subprocess
import sys

import pytest

WATCH = """
import ctypes
from kubesched.serving import give_free_memory_back, map_large_blocks

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Info

def is_mapped():
    before = mallinfo().hblkhd
    block = bytes(16 << 20)
    return mallinfo().hblkhd - before >= len(block)

is_mapped()  # when this block is freed, glibc decides to take the next one of its size from the heap
print(is_mapped())
map_large_blocks()
give_free_memory_back()
print(is_mapped())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="glibc alone tells what it has mapped",
)
def test_large_blocks_are_mapped_by_themselves() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", WATCH], env={}, capture_output=True, text=True, timeout=60, check=True
    )
    assert printed.stdout.split() == ["False", "True"], printed.stderr
