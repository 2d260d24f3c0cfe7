"""Decodes JSON of any depth. Python's decoders give up at about 1,000 levels; an API server takes 10,000.

Every user who can create a pod can send that many in metadata.managedFields. One such object must not end a watch.
"""

import re
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")
RawJson = bytes | memoryview | msgspec.Raw

_MAX_DEPTH: Final = 100  # of the objects that a scheduler reads, no known field is half as deep
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def decode_nested(decode: Callable[[RawJson], T], raw: RawJson) -> T:
    """Decode JSON, with null for what is more than 100 levels deep if the decoder cannot go so far.

    Raises: what the decoder raises, but no RecursionError.
    """
    try:
        return decode(raw)
    except RecursionError:
        return decode(without_depths(raw))


def without_depths(raw: RawJson) -> bytes:
    """The JSON with null in place of each array and object below level 100."""
    text, kept = bytes(raw), list[bytes]()
    depth, begin = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in b"[{":
            depth += 1
            if depth == _MAX_DEPTH + 1:
                kept += text[begin : token.start()], b"null"
        elif token[0] in b"]}":
            if depth == _MAX_DEPTH + 1:
                begin = token.end()
            depth -= 1
    kept.append(text[begin:])
    return b"".join(kept)
