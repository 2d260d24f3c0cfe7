"""Names, uids, times and versions that look random and are a function of what they belong to.

Everything is derived from a digest of the object's own name, never from a running number: a workload that is added or
taken away leaves every other object as it was.
"""

import hashlib
import uuid
from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)
SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # what API server and controllers draw from


def digest(*parts: object) -> bytes:
    return hashlib.sha256("/".join(["shop", *map(str, parts)]).encode()).digest()


def number(below: int, *parts: object) -> int:
    """A number in 0..below-1 that belongs to `parts`."""
    return int.from_bytes(digest(*parts)[:8], "big") % below


def suffix(length: int, *parts: object) -> str:
    """The random end of a generated name."""
    return "".join(SUFFIX_LETTERS[b % len(SUFFIX_LETTERS)] for b in digest("suffix", *parts)[:length])


def uid(*parts: object) -> str:
    return str(uuid.UUID(bytes=digest("uid", *parts)[:16], version=4))


def hex_id(*parts: object) -> str:
    """64 hexadecimal digits, as container and image digests have."""
    return digest("hex", *parts).hex()


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(days: float, *parts: object) -> datetime:
    """Some second within the last `days` days."""
    return NOW - timedelta(seconds=60 + number(int(days * 86400), "time", *parts))


def metadata(kind: str, name: str, namespace: str = "", *, created: datetime | None = None, **more: object) -> dict:
    """Metadata as the API server fills it in."""
    created = created or moment(200, kind, namespace, name)
    meta = {
        "name": name,
        "uid": uid(kind, namespace, name),
        "resourceVersion": str(418_000_000 + number(9_000_000, "version", kind, namespace, name)),
        "creationTimestamp": stamp(created),
    }
    if namespace:
        meta["namespace"] = namespace
    return meta | {k: v for k, v in more.items() if v}
