"""Numbers for values."""

from kubesched.engine import Interner


def test_equal_values_share_a_number_in_order_of_appearance() -> None:
    interner: Interner[str] = Interner(("known",))
    assert [interner.number(value) for value in ("known", "a", "b", "a")] == [0, 1, 2, 1]
    assert (interner.values, len(interner)) == (["known", "a", "b"], 3)


def test_finding_a_value_does_not_number_it() -> None:
    interner: Interner[str] = Interner()
    assert (interner.find("a"), len(interner)) == (None, 0)
