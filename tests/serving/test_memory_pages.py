import pytest

from kubesched.serving.memory_pages import MemoryPages

MIB = 2**20


def test_pages_hold_at_least_what_is_asked_for():
    assert len(MemoryPages(MIB).take(MIB + 1)) == 2 * MIB


def test_the_next_body_of_about_the_size_gets_the_same_pages():
    pages = MemoryPages(64 * MIB)
    first = pages.take(3 * MIB - 5)
    pages.give(first)
    assert pages.take(3 * MIB) is first
    assert pages.spare == []


def test_a_small_body_does_not_get_the_pages_of_a_large_one():
    pages = MemoryPages(64 * MIB)
    large = pages.take(9 * MIB)
    pages.give(large)
    assert len(pages.take(2 * MIB)) == 2 * MIB
    assert pages.take(8 * MIB) is large


def test_no_more_than_the_limit_is_kept_and_the_oldest_goes_first():
    pages = MemoryPages(10 * MIB)
    taken = [pages.take(4 * MIB) for _ in range(4)]
    for each in taken:
        pages.give(each)
    assert pages.spare == taken[2:]
    assert all(each.closed for each in taken[:2])


def test_the_largest_are_not_kept():
    pages = MemoryPages(256 * MIB)
    pages.give(pages.take(33 * MIB))
    assert pages.spare == []


def test_what_nobody_has_needed_between_two_looks_goes_back():
    pages = MemoryPages(64 * MIB)
    pages.give(pages.take(MIB))
    pages.release_unused()
    assert len(pages.spare) == 1
    kept = pages.spare[0]
    pages.release_unused()
    assert pages.spare == []
    with pytest.raises(ValueError, match="closed"):
        kept[0]
