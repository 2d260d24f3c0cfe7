"""An event as the API server stores it (events.k8s.io/v1)."""

import hashlib
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from kubesched.api import KubeObject, type_of
from kubesched.framework import RecordEvent

_NAME_LIMIT: Final = 253  # of an object; that of a pod is as long
_INSTANCE_LIMIT: Final = 128  # of reportingInstance


def event_document(event: RecordEvent, name: str, namespace: str, hostname: str, seconds: float) -> bytes:
    """The JSON of a new event, which happened so many seconds after 1970."""
    controller = event.reporting_controller
    return msgspec.json.encode(
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": micro_time(seconds),
            "reportingController": controller,
            "reportingInstance": f"{controller}-{hostname}"[:_INSTANCE_LIMIT],
            "action": event.action,
            "reason": event.reason,
            "regarding": _reference(event.regarding),
            "note": event.note,
            "type": event.type,
        }
    )


def event_name(regarding: KubeObject, seconds: float, number: int) -> str:
    """The object's name, cut where it is too long, and a number that no other event has: the time and a count."""
    unique = (int(seconds * 1e9) & ~0xFFF) | (number & 0xFFF)
    suffix = f".{unique:x}"
    return regarding.name[: _NAME_LIMIT - len(suffix)].rstrip(".-") + suffix  # parts end with a letter or a digit


def event_key(event: RecordEvent) -> bytes:
    """The key of its series in few bytes: a busy cluster has tens of thousands of events in six minutes."""
    return hashlib.blake2b(msgspec.json.encode(event.series_key), digest_size=16).digest()


def micro_time(seconds: float) -> str:
    """A MicroTime of Kubernetes, from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _reference(regarding: KubeObject) -> dict[str, Any]:
    api_version, kind = type_of(regarding)
    reference = {"apiVersion": api_version, "kind": kind}
    if regarding.namespace:
        reference["namespace"] = regarding.namespace
    metadata = regarding.metadata
    reference.update(name=metadata.name, uid=metadata.uid, resourceVersion=metadata.resource_version)
    return reference
