import gc

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
