"""kubesched says what kube-scheduler v1.36.3 said about pods with resource claims: every case, every field.

Two outcomes may differ: kube-scheduler takes any of equal candidates for preemption, and any claim to give back.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaigns.oracle.compare import read_case, without_empty
from campaigns.oracle.product import answer

CASES = sorted((Path(__file__).parent / "devices").glob("*.json.gz"))
ANY_OF = ("preemption", "deallocated")


def is_right(field: str, recorded: object, mine: object) -> bool:
    if field in ANY_OF and isinstance(recorded, list) and isinstance(mine, list):
        return bool(recorded) == bool(mine) and all(one in recorded for one in mine)
    return recorded == mine


def differences(case: dict) -> Iterator[tuple[str, str, object, object]]:
    """Everything in which the answers differ from the recorded ones."""
    for mode, lines in zip(("eval", "place"), answer(case), strict=True):
        assert [line["pod"] for line in case[mode]] == [line["pod"] for line in lines]
        for wanted, got in zip(case[mode], lines, strict=True):
            for field in sorted({*wanted, *got}):
                recorded, mine = without_empty(wanted.get(field)), without_empty(got.get(field))
                if not is_right(field, recorded, mine):
                    yield f"{mode}.{field}", wanted["pod"], recorded, mine


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_devices_are_allocated_as_recorded(path: Path) -> None:
    assert list(differences(read_case(path))) == []
