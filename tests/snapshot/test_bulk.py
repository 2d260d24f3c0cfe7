"""What the cyclic garbage collector does around reading in bulk."""

import gc
from collections.abc import Iterator

import pytest

from kubesched.snapshot import paused_gc


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


def is_young(known: object) -> bool:
    return any(other is known for generation in (0, 1) for other in gc.get_objects(generation))


def test_what_is_made_in_the_block_is_not_scanned_as_new_afterwards() -> None:
    with paused_gc():
        assert not gc.isenabled()
        made: list[object] = [[]]
    assert gc.isenabled()
    assert not is_young(made)
    assert any(other is made for other in gc.get_objects(2))


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with paused_gc():
        pass
    assert not gc.isenabled()


def test_objects_that_somebody_has_frozen_stay_frozen() -> None:
    gc.freeze()
    with paused_gc():
        pass
    assert gc.get_freeze_count()
