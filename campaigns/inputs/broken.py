"""Snapshots and configurations that are broken at random, and the commands that read them."""

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from campaigns.devices.generate import snapshot as device_snapshot
from campaigns.inputs.configurations import changed_configuration, faults_of_check

EXAMPLES = Path(__file__).parents[2] / "examples" / "shop"
KEPT = {"Node": 5, "Pod": 24}
OTHERS_KEPT = 3
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, -(2**63) - 1, 10**30, 1e308),
    *("", " ", "x", "0", "-1", "1e9", "1e99", "12Ei", "\x00", "\u2028", "é" * 300, "a/b/c", "2026-01-01T00:00:00Z"),
    *([], {}, [None], [[]], {"": ""}, {"a": None}, [{}], {"key": "a", "operator": "In", "values": ["b"]}),
)
ODD_IN_DEVICES: tuple[Any, ...] = (
    *ODD_VALUES,
    *("device.driver == 'x'", "device.", "1 + 1", "device.attributes['gpu.example.com'].model.size() / 0 == 1"),
    *("All", "NoExecute", "gpu-0", "gpu.example.com", "gpu.example.com/numa", "1.2.3", "40Gi", "node-0", "card", 33),
    *({"string": "x"}, {"int": 3}, {"bool": True}, {"version": "1.0.0-rc"}, {"value": "3"}, {"nodeName": "node-1"}),
)
OF_DEVICES = ("DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate")
PUNCTUATION = (
    *(b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\"),
    *(b"\n", b"\t", b"\x00", b"\xff", b"&a ", b"*a", b"- ", b"!"),
)


@cache
def snapshot() -> dict[str, Any]:
    """A small part of the example cluster: some of each kind, and of its pods those that wait."""
    items = json.loads(gzip.decompress((EXAMPLES / "cluster.json.gz").read_bytes()))["items"]
    kept: dict[str, list[Any]] = {}
    for item in sorted(items, key=lambda item: item["kind"] == "Pod" and "nodeName" in item["spec"]):
        same = kept.setdefault(item["kind"], [])
        if len(same) < KEPT.get(item["kind"], OTHERS_KEPT):
            same.append(item)
    return {"apiVersion": "v1", "kind": "List", "items": [item for same in kept.values() for item in same]}


@cache
def configuration() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((EXAMPLES / "scheduler.yaml").read_text())
    return document


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (list or map, index or key) in a document."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def with_odd_values(
    document: dict[str, Any], rng: Random, odd: tuple[Any, ...] = ODD_VALUES, within: Any = None
) -> dict[str, Any]:
    """The document with one to three values replaced, removed, moved or repeated.

    Args:
        within: gives the part of a copy that is changed; None for all of it.
    """
    document = copy.deepcopy(document)
    part = document if within is None else within(document)
    for _ in range(rng.randint(1, 3)):
        holder, key = rng.choice(list(places(part)))
        change = rng.randrange(5)
        if change == 0:
            del holder[key]
        elif change == 1:
            other, other_key = rng.choice(list(places(part)))
            holder[key] = copy.deepcopy(other[other_key])
        elif change == 2 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = copy.deepcopy(rng.choice(odd))
    return document


def damaged(data: bytes, rng: Random) -> bytes:
    """The bytes cut, or with a stretch removed, repeated or overwritten."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(data))
        end = min(len(data), start + rng.choice((1, 2, 10, 200)))
        change = rng.randrange(5)
        if change == 0:
            data = data[: start + 1]
        elif change == 1:
            data = (data[:start] + data[end:]) or b" "
        elif change == 2:
            data = data[:end] + data[start:]
        else:
            data = data[:start] + rng.choice(PUNCTUATION) + data[start + 1 :]
    return data


class Kind(NamedTuple):
    """A kind of input.

    Attributes:
        suffix: of the file.
        make: the bytes, from random choices.
        commands: each gets the file as its last argument.
        faults: what is wrong with what the package says of the text, which no command shows.
    """

    suffix: str
    make: Callable[[Random], bytes]
    commands: tuple[tuple[str, ...], ...]
    faults: Callable[[str], Iterator[str]] = lambda text: iter(())


def odd_snapshot(rng: Random) -> bytes:
    return json.dumps(with_odd_values(snapshot(), rng)).encode()


@cache
def devices(seed: int) -> dict[str, Any]:
    """A small cluster with devices, claims and pods that wait for them."""
    return device_snapshot(seed, 3, 3, 5)


def odd_devices(rng: Random) -> bytes:
    return json.dumps(with_odd_values(devices(rng.randrange(40)), rng, ODD_IN_DEVICES, _specs_of_devices)).encode()


def _specs_of_devices(document: dict[str, Any]) -> list[Any]:
    """What is said of devices and claims, and which claims pods have."""
    items = document["items"]
    pods = [(item["spec"].get("resourceClaims"), item.get("status")) for item in items if item["kind"] == "Pod"]
    return [item for item in items if item["kind"] in OF_DEVICES] + [list(one) for one in pods]


def odd_configuration(rng: Random) -> bytes:
    return json.dumps(with_odd_values(configuration(), rng)).encode()


@cache
def few_objects(suffix: str) -> bytes:
    few = {**snapshot(), "items": snapshot()["items"][:12]}
    text = yaml.dump(few) if suffix == ".yaml" else json.dumps(few)
    return gzip.compress(text.encode()) if suffix == ".json.gz" else text.encode()


def _damaged_snapshot(suffix: str) -> Kind:
    return Kind(suffix, lambda rng: damaged(few_objects(suffix), rng), (("simulate", "-o", "json"),))


CHECKS = (("config", "check"), ("config", "show"), ("config", "diff"), ("config", "convert"))
KINDS = {
    "a snapshot with odd values": Kind(".json", odd_snapshot, (("simulate", "-o", "jsonl"),)),
    "a snapshot with odd values, explained": Kind(
        ".json", odd_snapshot, (("explain", "--all", "-o", "jsonl", "--skip-bad-objects"),)
    ),
    "odd devices": Kind(
        ".json",
        odd_devices,
        (
            ("simulate", "-o", "jsonl", "--skip-bad-objects"),
            ("explain", "--all", "-o", "jsonl"),
            ("explain", "--all", "--skip-bad-objects"),
            ("devices", "--skip-bad-objects", "-o", "wide"),
            ("fit", "--resource", "example.com/gpu=1", "--max", "--skip-bad-objects"),
            ("drain", "--each", "--skip-bad-objects"),
            ("snapshot", "--anonymize", "--skip-bad-objects"),
        ),
    ),
    "damaged JSON": _damaged_snapshot(".json"),
    "damaged YAML": _damaged_snapshot(".yaml"),
    "damaged gzip": _damaged_snapshot(".json.gz"),
    "a configuration with odd values": Kind(".yaml", odd_configuration, CHECKS),
    "a damaged configuration": Kind(
        ".yaml", lambda rng: damaged((EXAMPLES / "scheduler.yaml").read_bytes(), rng), CHECKS[:1]
    ),
    "a changed configuration": Kind(".yaml", changed_configuration, CHECKS[:1], faults_of_check),
}
