"""What plugins remember during a cycle."""

import pytest

from kubesched.framework import CycleState
from kubesched.state import ClusterState
from kubesched.testing.builders import make_pod


class Mine:
    def __init__(self, value: int) -> None:
        self.value = value


class Other(Mine):
    pass


def new_state() -> CycleState:
    return CycleState(ClusterState().pod_info(make_pod("p")))


def test_data_is_read_back_by_its_class() -> None:
    state = new_state()
    state.write(Mine(1))
    state.write(Other(2))
    assert (state.read(Mine).value, state.read(Other).value) == (1, 2)
    state.write(Mine(3))
    assert state.read(Mine).value == 3


def test_data_that_nobody_wrote_is_not_found() -> None:
    assert new_state().find(Mine) is None
    with pytest.raises(KeyError):
        new_state().read(Mine)
    with pytest.raises(RuntimeError, match="PreFilter did not run"):
        new_state().read(Mine, "PreFilter did not run")


def test_what_is_written_to_a_clone_does_not_reach_the_original() -> None:
    state = new_state()
    state.write(Mine(1))
    state.skip_filter.add("A")
    twin = state.clone()
    twin.write(Mine(2))
    twin.skip_filter.add("B")
    assert (state.read(Mine).value, state.skip_filter) == (1, {"A"})
    assert (twin.read(Mine).value, twin.skip_filter, twin.pod) == (2, {"A", "B"}, state.pod)
