"""Inputs broken at random, with fixed seeds: whatever comes of them, a command ends by itself, with a code it knows."""

import copy
import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "shop"
KEPT = {"Node": 5, "Pod": 24}
OTHERS_KEPT = 3
MAX_MESSAGE = 3000
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, -(2**63) - 1, 10**30, 1e308),
    *("", " ", "x", "0", "-1", "1e9", "1e99", "12Ei", "\x00", "\u2028", "é" * 300, "a/b/c", "2026-01-01T00:00:00Z"),
    *([], {}, [None], [[]], {"": ""}, {"a": None}, [{}], {"key": "a", "operator": "In", "values": ["b"]}),
)
PUNCTUATION = (
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\n",
    b"\t",
    b"\x00",
    b"\xff",
    b"&a ",
    b"*a",
    b"- ",
    b"!",
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


def with_odd_values(document: dict[str, Any], rng: Random) -> dict[str, Any]:
    """The document with one to three values replaced, removed, moved or repeated."""
    document = copy.deepcopy(document)
    for _ in range(rng.randint(1, 3)):
        holder, key = rng.choice(list(places(document)))
        change = rng.randrange(5)
        if change == 0:
            del holder[key]
        elif change == 1:
            other, other_key = rng.choice(list(places(document)))
            holder[key] = copy.deepcopy(other[other_key])
        elif change == 2 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD_VALUES))
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


def check_ends_by_itself(result: Result) -> None:
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in {0, 1, 2}
    assert "Traceback" not in result.output
    if result.exit_code == 2:
        *_, message = result.stderr.split("kubesched: error: ")
        assert message.strip()
        assert len(message) < MAX_MESSAGE


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="kubesched")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(20))
def test_a_snapshot_with_odd_values(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    file = tmp_path / "cluster.json"
    for _ in range(10):
        file.write_text(json.dumps(with_odd_values(snapshot(), rng)))
        check_ends_by_itself(run("simulate", str(file), "-o", "jsonl"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(5))
def test_a_snapshot_with_odd_values_is_explained(seed: int, tmp_path: Path) -> None:
    rng = Random(1000 + seed)
    file = tmp_path / "cluster.json"
    for _ in range(5):
        file.write_text(json.dumps(with_odd_values(snapshot(), rng)))
        check_ends_by_itself(run("explain", str(file), "--all", "-o", "jsonl", "--skip-bad-objects"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("suffix", [".json", ".yaml", ".json.gz"])
@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_snapshot(seed: int, suffix: str, tmp_path: Path) -> None:
    rng = Random(2000 + seed)
    few = {**snapshot(), "items": snapshot()["items"][:12]}
    whole = yaml.dump(few).encode() if suffix == ".yaml" else json.dumps(few).encode()
    file = tmp_path / f"cluster{suffix}"
    for _ in range(8):
        file.write_bytes(damaged(gzip.compress(whole) if suffix == ".json.gz" else whole, rng))
        check_ends_by_itself(run("simulate", str(file), "-o", "json"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(10))
def test_a_configuration_with_odd_values(seed: int, tmp_path: Path) -> None:
    rng = Random(3000 + seed)
    file = tmp_path / "scheduler.yaml"
    for _ in range(20):
        file.write_text(json.dumps(with_odd_values(configuration(), rng)))
        check_ends_by_itself(run("config", "check", str(file)))
        check_ends_by_itself(run("config", "show", str(file)))
        check_ends_by_itself(run("config", "show", "--diff", str(file)))
        check_ends_by_itself(run("config", "convert", str(file)))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_configuration(seed: int, tmp_path: Path) -> None:
    rng = Random(4000 + seed)
    whole = (EXAMPLES / "scheduler.yaml").read_bytes()
    file = tmp_path / "scheduler.yaml"
    for _ in range(20):
        file.write_bytes(damaged(whole, rng))
        check_ends_by_itself(run("config", "check", str(file)))
