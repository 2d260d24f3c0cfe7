"""What plugins remember during a cycle."""

from typing import Any

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


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (lambda state: state.write("count", 1), "state.write: .*; found 2 arguments"),
        (lambda state: state.read("count"), "state.read: .*; found 'count'"),
        (lambda state: state.read(Mine(1), "missing"), "state.read: .*; found <"),
        (lambda state: state.find("count"), "state.find: .*; found 'count'"),
    ],
)
def test_a_key_as_in_go_is_refused_with_what_to_write(call: Any, found: str) -> None:
    said = found.replace(".*", "the key is the class of the data, so define one: .*state.read\\(Count\\)")
    with pytest.raises(TypeError, match=said):
        call(new_state())


def test_what_is_written_to_a_clone_does_not_reach_the_original() -> None:
    state = new_state()
    state.write(Mine(1))
    state.skip_filter.add("A")
    twin = state.clone()
    twin.write(Mine(2))
    twin.skip_filter.add("B")
    assert (state.read(Mine).value, state.skip_filter) == (1, {"A"})
    assert (twin.read(Mine).value, twin.skip_filter, twin.pod) == (2, {"A", "B"}, state.pod)
