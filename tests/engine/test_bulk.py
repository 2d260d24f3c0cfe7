import gc
import weakref

import pytest

from kubesched.engine import paused_gc


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
        with paused_gc(is_kept=True):
            made = a_cluster()
        assert gc.get_freeze_count()
        assert is_in(made, 0, 1)
    finally:
        gc.unfreeze()


def test_garbage_does_not_pile_up_over_many_pauses() -> None:
    class Node:
        """Refers to itself, so that only the collector frees it."""

        def __init__(self) -> None:
            self.me = self

    living: weakref.WeakSet[Node] = weakref.WeakSet()
    kept: list[object] = []
    for _ in range(40):
        kept.clear()
        with paused_gc(is_kept=True):
            living.add(Node())
            kept += a_cluster()
    assert len(living) < 8
