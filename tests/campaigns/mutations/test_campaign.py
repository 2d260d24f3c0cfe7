"""A campaign over a tree of two functions, from the recording to the verdicts."""

from pathlib import Path

import pytest

from campaigns.mutations.campaign import ROOT, chosen, equivalents, mutants_by_room, outdated, table
from campaigns.mutations.mutants import Mutant, find_mutants
from campaigns.mutations.suite import Recording, judge, recorded

SOURCE = """\
def smaller(a, b):
    return a < b

def waits(n):
    while n != 0:
        n = n - 1
    return True

def unused(a):
    return a + 1
"""
TESTS = """\
from kubesched.room.file import smaller, waits

def test_smaller():
    assert smaller(1, 2) and not smaller(2, 1)

def test_waits():
    assert waits(0) and waits(1)
"""
FILES = {"src/kubesched/__init__.py": "", "src/kubesched/room/__init__.py": "", "src/kubesched/room/file.py": SOURCE}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    plugin = "campaigns/mutations/plugin.py"
    for name, text in {**FILES, "tests/room/test_file.py": TESTS, plugin: (ROOT / plugin).read_text()}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def recording(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return recorded(tree, tmp_path_factory.mktemp("out"), ["tests/room"], jobs=1)


def mutant(tree: Path, change: str) -> Mutant:
    (found,) = (mutant for mutant in mutants_by_room(tree)["room"] if mutant.change == change)
    return found


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ("return a < b → return None", ("caught", "tests/room/test_file.py::test_smaller")),
        ("a + 1 → a - 1", ("survived", "")),
    ],
)
def test_a_change_is_caught_by_a_test_that_executes_it(
    tree: Path, recording: Recording, change: str, verdict: tuple[str, str]
) -> None:
    before = (tree / "src/kubesched/room/file.py").stat().st_mtime_ns
    assert judge(tree, mutant(tree, change), 1, recording, 60) == verdict
    assert (tree / "src/kubesched/room/file.py").read_text() == SOURCE
    assert (tree / "src/kubesched/room/file.py").stat().st_mtime_ns == before


def test_only_tests_that_execute_the_line_are_run(tree: Path, recording: Recording) -> None:
    name = "tests/room/test_file.py"
    assert recording.seconds.keys() == {f"{name}::test_smaller", f"{name}::test_waits"}
    assert recording.stages(mutant(tree, "a < b → a <= b"), 60) == [[f"{name}::test_smaller"]]
    assert recording.stages(mutant(tree, "a + 1 → a - 1"), 60) == []
    assert recording.stages(mutant(tree, "a < b → a <= b"), 0) == []


def test_changes_are_chosen_from_every_room_and_are_the_same_for_a_seed() -> None:
    source = "".join(f"x = {n}\n" for n in range(20)).encode()
    rooms = ("engine", "queue", "setup")
    by_room = {room: list(find_mutants(source, f"src/kubesched/{room}/file.py")) for room in rooms}
    first = chosen(by_room, 20, seed=1)
    assert {found.room for found in first} == by_room.keys()
    assert abs(len(first) - 20) <= 2
    assert chosen(by_room, 20, seed=1) == first != chosen(by_room, 20, seed=2)


def test_what_makes_no_difference_is_counted_apart(tree: Path) -> None:
    found = mutants_by_room(tree)["room"]
    outcomes = ["caught", "timed out", "survived", "equivalent"]
    lines = list(table({mutant: (outcome, "") for mutant, outcome in zip(found, outcomes, strict=False)}))
    assert lines[0] == str(found[2])
    assert lines[-1].split() == ["all", "1", "1", "1", "1", "66.7%"]


def test_an_equivalent_that_is_no_possible_change_any_more_is_told(tree: Path) -> None:
    found = mutants_by_room(tree)
    possible = found["room"][0]
    entries = {(possible.path, possible.text, possible.change): "why", ("src/a.py", "a = 1", "1 → 2"): "why"}
    assert list(outdated(entries, found)) == ["equivalent.toml: not possible any more: src/a.py: a = 1: 1 → 2"]


def test_each_known_equivalent_has_its_reason() -> None:
    assert equivalents()
    assert all(equivalents().values())
