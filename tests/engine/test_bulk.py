import gc
import weakref
from collections.abc import Iterator

import pytest

from kubesched.engine import collect_young, paused_gc


@pytest.fixture(scope="module", autouse=True)
def _thawed() -> Iterator[None]:
    """The heap of a program that has frozen nothing."""
    gc.unfreeze()
    with paused_gc(is_kept=True):  # more than it takes to look again whether something is frozen
        made = [[number] for number in range(110_000)]
    del made
    yield
    gc.freeze()


@pytest.fixture(autouse=True)
def collector() -> None:
    """Here `gc.freeze` is the real one."""


def test_the_collector_rests_inside_the_block_and_works_after_it() -> None:
    with paused_gc():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_works_again_after_a_fault() -> None:
    with pytest.raises(ZeroDivisionError), paused_gc():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with paused_gc():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def is_in(known: object, *generations: int) -> bool:
    return any(other is known for generation in generations for other in gc.get_objects(generation))


def a_cluster() -> list[object]:
    """As many new objects as a cluster of some size decodes to."""
    return [[number] for number in range(30_000)]


def test_what_is_kept_is_not_scanned_as_new_afterwards() -> None:
    with paused_gc(is_kept=True):
        made = a_cluster()
    assert is_in(made, 2)


def test_what_a_block_in_a_block_keeps_is_old_at_its_end() -> None:
    with paused_gc():
        with paused_gc(is_kept=True):
            made = a_cluster()
        assert is_in(made, 2)
        assert not gc.isenabled()


def test_no_full_collection_happens_while_the_collector_is_off() -> None:
    before = gc.get_stats()[2]["collections"]
    with paused_gc():
        for _ in range(8):
            with paused_gc(is_kept=True):
                a_cluster()
        assert gc.get_stats()[2]["collections"] == before


def test_a_small_load_does_not_look_at_what_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[None] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: asked.append(None) or 0)
    with paused_gc(is_kept=True):
        made: list[object] = [[number] for number in range(100)]
    assert not asked
    with paused_gc(is_kept=True):
        made += a_cluster()
    assert asked


def test_small_loads_do_not_cost_a_look_at_all_objects_each_time() -> None:
    before = gc.get_stats()[2]["collections"]
    for _ in range(40):
        with paused_gc(is_kept=True):
            [[number] for number in range(100)]
    assert gc.get_stats()[2]["collections"] - before <= 1


def test_what_need_not_be_kept_stays_young() -> None:
    frozen = gc.get_freeze_count()
    with paused_gc():
        made: list[object] = [[]]
        assert is_in(made, 0)
    assert gc.get_freeze_count() == frozen


def test_objects_that_somebody_has_frozen_stay_frozen() -> None:
    gc.freeze()
    try:
        clusters = []
        for _ in range(5):
            with paused_gc(is_kept=True):
                clusters.append(a_cluster())
            assert gc.get_freeze_count()
            assert is_in(clusters[-1], 0, 1)
    finally:
        gc.unfreeze()


def test_what_is_frozen_is_counted_once_for_many_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[None] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: asked.append(None) or 10**6)
    clusters = []
    for _ in range(20):
        with paused_gc(is_kept=True):
            clusters.append(a_cluster())
    assert 1 <= len(asked) <= 6


def test_what_was_frozen_and_is_no_longer_is_noticed() -> None:
    gc.freeze()
    clusters = []
    with paused_gc(is_kept=True):
        clusters.append(a_cluster())
    gc.unfreeze()
    for _ in range(5):
        with paused_gc(is_kept=True):
            clusters.append(a_cluster())
    assert is_in(clusters[-1], 2)


def test_garbage_does_not_pile_up_over_many_pauses() -> None:
    class Node:
        """Refers to itself, so that only the collector frees it."""

        def __init__(self) -> None:
            self.me = self

    living: weakref.WeakSet[Node] = weakref.WeakSet()
    kept: list[object] = []
    for _ in range(16):
        kept.clear()
        with paused_gc(is_kept=True):
            living.add(Node())
            kept += a_cluster()
    assert len(living) < 8


@pytest.mark.parametrize("is_outer_kept", [False, True])
def test_garbage_does_not_pile_up_over_long_blocks(is_outer_kept: bool) -> None:
    class Node:
        def __init__(self) -> None:
            self.me = self

    living: weakref.WeakSet[Node] = weakref.WeakSet()
    kept: list[object] = []
    for _ in range(16):
        kept.clear()
        with paused_gc(is_kept=is_outer_kept):
            with paused_gc(is_kept=True):
                living.add(Node())
                kept += a_cluster()
            collect_young()
            kept += a_cluster()
            collect_young()
    assert len(living) < 8
