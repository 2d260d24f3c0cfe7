"""Changes the metadata of an object in the protobuf form of Kubernetes, and leaves the rest byte for byte.

JSON changes some objects: of the parameters for a driver in a ResourceClaim, blanks are lost when an API server writes
JSON. It compares their bytes, and so takes neither an update nor a patch of such a claim as JSON.

Rule: Kubernetes v1.36: `k8s` and a zero byte, then runtime.Unknown with the object in field 2; in that, field 1 is the
ObjectMeta with resourceVersion in field 6 and finalizers in field 14.
"""

from collections.abc import Iterable, Iterator
from typing import Final

PROTOBUF: Final = "application/vnd.kubernetes.protobuf"

_MAGIC: Final = b"k8s\x00"
_OBJECT: Final = 2
_METADATA: Final = 1
_VERSION: Final = 6
_FINALIZERS: Final = 14
_WITH_LENGTH: Final = 2  # a wire type; the others are numbers
_SIZES: Final = {1: 8, 5: 4}


def with_finalizers(body: bytes, resource_version: str, finalizers: Iterable[str]) -> bytes:
    """An object with other finalizers, for an update of the version that is named.

    Raises:
        ValueError: it is not such an object.
    """
    if not body.startswith(_MAGIC):
        raise ValueError("expected the protobuf form of Kubernetes")
    unknown = body[len(_MAGIC) :]
    written = _payload(unknown, _OBJECT)
    kept = [field for number, field in _fields(_payload(written, _METADATA)) if number not in (_VERSION, _FINALIZERS)]
    texts = [(_VERSION, resource_version), *((_FINALIZERS, one) for one in finalizers)]
    metadata = b"".join((*kept, *(_field(number, text.encode()) for number, text in texts)))
    return _MAGIC + _replaced(unknown, _OBJECT, _replaced(written, _METADATA, metadata))


def _replaced(message: bytes, number: int, payload: bytes) -> bytes:
    """A message with another payload of one field."""
    return b"".join(_field(one, payload) if one == number else field for one, field in _fields(message))


def _payload(message: bytes, number: int) -> bytes:
    """What is in a field that has a length."""
    field = next((field for one, field in _fields(message) if one == number), None)
    if field is None:
        raise ValueError(f"expected field {number}")
    _, start = _varint(field, 0)
    _, start = _varint(field, start)
    return field[start:]


def _field(number: int, payload: bytes) -> bytes:
    return _as_varint(number << 3 | _WITH_LENGTH) + _as_varint(len(payload)) + payload


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message: the number, and all bytes of it."""
    start = 0
    while start < len(message):
        key, end = _varint(message, start)
        wire_type = key & 7
        if wire_type == _WITH_LENGTH:
            length, end = _varint(message, end)
            end += length
        elif wire_type in _SIZES:
            end += _SIZES[wire_type]
        else:
            _, end = _varint(message, end)
        if end > len(message):
            raise ValueError("the message ends within a field")
        yield key >> 3, message[start:end]
        start = end


def _varint(message: bytes, start: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value = shift = 0
    for place in range(start, len(message)):
        value |= (message[place] & 0x7F) << shift
        if message[place] < 0x80:
            return value, place + 1
        shift += 7
    raise ValueError("the message ends within a number")


def _as_varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
