"""Which changes are made to a program, and which are not."""

import ast
from pathlib import Path

import pytest

from campaigns.mutations import suite
from campaigns.mutations.mutants import Mutant, find_mutants


def mutants(source: str) -> list[Mutant]:
    return find_mutants(source.encode(), "src/kubesched/room/file.py")


def changes(source: str) -> list[str]:
    return [mutant.change for mutant in mutants(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", ["a < b → a <= b"]),
        ("x = a == b != c", ["a == b != c → a != b != c", "a == b != c → a == b == c"]),
        ("x = a in b", ["a in b → a not in b"]),
        ("x = a is not b", ["a is not b → a is b"]),
        ("x = a + b", ["a + b → a - b"]),
        ("x = a // b", ["a // b → a * b"]),
        ("x -= a", ["x -= a → x += a"]),
        ("x = -a", ["-a → a"]),
        ("x = a and b", ["a and b → a or b"]),
        ("x = not a", ["not a → a"]),
        ("x = True", ["True → False"]),
        ("x = 1", ["1 → 2"]),
        ("f(a)", ["f(a) → pass"]),
        ("async def f():\n    await g()", ["await g() → pass"]),
        ("def f():\n    return a", ["return a → return None"]),
        ("if a:\n    pass", ["a → not a"]),
        ("if a < b:\n    pass", ["a < b → a <= b", "a < b → not a < b"]),
        ("while a:\n    pass", ["a → not a"]),
        ("x = b if a else c", ["a → not a"]),
        ("x = [a for a in b if a]", ["a → not a"]),
    ],
)
def test_a_program_is_changed(source: str, expected: list[str]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A text."""',
        "def f(a: 'int' = b) -> Literal[1]:\n    pass",
        "x: Literal[1]",
        "if TYPE_CHECKING:\n    x = 1",
        "__all__ = ['a'] + b",
        "assert a < 1",
        "logger.warning('%s', a < 1)",
        "x = f'{a + 1}'",
        "x = 'a' + b",
        "@cache(maxsize=1)\nclass C(Struct, frozen=True):\n    pass",
        "x = zip(a, b, strict=True)",
        "def f():\n    return None",
    ],
)
def test_some_things_are_left_alone(source: str) -> None:
    assert changes(source) == []


def test_a_condition_is_not_flipped_where_that_is_another_change() -> None:
    assert changes("if not a:\n    pass") == ["not a → a"]
    assert changes("if a == b:\n    pass") == ["a == b → a != b"]
    assert changes("while True:\n    pass") == ["True → False"]


def test_only_what_is_changed_is_rewritten() -> None:
    source = "x = (a  # first\n     or 'ü' and not b)  # last\n"
    assert [mutant.applied_to(source.encode()).decode() for mutant in mutants(source)][1:] == [
        "x = (a  # first\n     or ('ü' or not b))  # last\n",
        "x = (a  # first\n     or 'ü' and (b))  # last\n",
    ]


def test_a_change_keeps_its_place_among_operators() -> None:
    (mutant,) = (m for m in mutants("x = not (a or b) and c") if m.new == "a or b")
    assert ast.unparse(ast.parse(mutant.applied_to(b"x = not (a or b) and c"))) == "x = (a or b) and c"


def test_a_test_has_to_execute_the_statement_up_to_the_change() -> None:
    source = "x = 1\n\ndef f(a=True):\n    if (a and\n            b):\n        return [\n            2]\n"
    found = {mutant.change: list(mutant.lines) for mutant in mutants(source)}
    assert found["1 → 2"] == found["True → False"] == []  # on import
    assert found["a and b → a or b"] == [4, 5]
    assert found["2 → 3"] == [6, 7]


def test_a_mutant_is_in_a_room() -> None:
    (mutant,) = find_mutants(b"x = 1", "src/kubesched/extender/file.py")
    assert mutant.room == "extender"
    assert str(mutant) == "src/kubesched/extender/file.py:1: 1 → 2"


def test_every_change_to_a_real_file_compiles_and_differs() -> None:
    source = Path(suite.__file__).read_bytes()
    found = find_mutants(source, "suite.py")
    trees = {ast.dump(ast.parse(mutant.applied_to(source))) for mutant in found}
    assert len(found) > 50
    assert len(trees) == len(found)
    assert ast.dump(ast.parse(source)) not in trees
