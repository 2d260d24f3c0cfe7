"""Numbers for values."""

import sys

from kubesched.engine import Interner


def test_equal_values_share_a_number_in_order_of_appearance() -> None:
    interner: Interner[str] = Interner(("known",))
    assert [interner.number(value) for value in ("known", "a", "b", "a")] == [0, 1, 2, 1]
    assert (interner.values, len(interner)) == (["known", "a", "b"], 3)


def test_finding_a_value_does_not_number_it() -> None:
    interner: Interner[str] = Interner()
    assert (interner.find("a"), len(interner)) == (None, 0)


def test_the_lowest_number_given_back_is_given_out_next() -> None:
    interner: Interner[str] = Interner()
    numbers = [interner.hold(value) for value in "abcd"]
    assert interner.release(numbers[2])
    assert interner.release(numbers[1])
    assert (interner.values, interner.find("b"), interner.n_values) == (["a", None, None, "d"], None, 2)
    assert [interner.hold(value) for value in ("x", "y", "z")] == [1, 2, 4]


def test_a_number_is_free_when_its_last_holder_lets_go() -> None:
    interner: Interner[str] = Interner(("fixed",))
    assert interner.hold("a") == interner.hold("a") == 1
    assert [interner.release(1), interner.release(1)] == [False, True]
    assert interner.hold("fixed") == 0
    assert not interner.release(0)
    assert interner.values == ["fixed"]


def test_free_numbers_at_the_end_are_cut_off_and_never_given_out_twice() -> None:
    interner: Interner[str] = Interner()
    for value in "abc":
        interner.hold(value)
    for number in (1, 2):
        interner.release(number)
    assert interner.values == ["a"]
    assert [interner.hold(value) for value in "xyz"] == [1, 2, 3]
    assert interner.values == ["a", "x", "y", "z"]


def test_numbers_that_were_cut_off_are_not_kept() -> None:
    interner: Interner[int] = Interner()
    for value in range(1000):
        interner.hold(value)
    for number in (0, *range(999, 1, -1)):
        interner.release(number)
    assert interner.values == [None, 1]
    assert sys.getsizeof(interner._free) < 200
    assert [interner.hold(value) for value in (5, 6, 7)] == [0, 2, 3]


def test_the_log_has_every_number_that_came_to_mean_something_else() -> None:
    interner: Interner[str] = Interner()
    interner.hold("a")
    generation = interner.log.generation
    interner.hold("a")
    assert interner.log.since(generation) == []
    interner.release(interner.hold("b"))
    interner.hold("c")
    assert interner.log.since(generation) == [1]
