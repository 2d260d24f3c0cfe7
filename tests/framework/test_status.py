"""Statuses: codes, reasons, and whose they are."""

import pytest

from kubesched.framework import Code, Status


@pytest.mark.parametrize(
    ("status", "code", "is_rejected"),
    [
        (Status.SUCCESS, Code.SUCCESS, False),
        (Status.SKIP, Code.SKIP, False),
        (Status.unschedulable("a"), Code.UNSCHEDULABLE, True),
        (Status.unresolvable("a"), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, True),
        (Status.pending("a"), Code.PENDING, True),
        (Status.error("a"), Code.ERROR, False),
    ],
)
def test_a_rejection_is_no_fault_and_no_success(status: Status, code: Code, is_rejected: bool) -> None:
    assert (status.code, status.is_rejected) == (code, is_rejected)
    assert status.is_success is (code is Code.SUCCESS)
    assert status.is_skip is (code is Code.SKIP)


def test_reasons_read_as_one_line() -> None:
    assert Status.unschedulable("Insufficient cpu", "Too many pods").message == "Insufficient cpu, Too many pods"


def test_a_status_keeps_the_plugin_that_it_has() -> None:
    status = Status.unschedulable("no").by("A")
    assert (status.plugin, status.by("B").plugin) == ("A", "A")
    assert status == Status(Code.UNSCHEDULABLE, ("no",), "A")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((Code.UNSCHEDULABLE, None), "must be a tuple of strings; found None"),
        ((Code.UNSCHEDULABLE, "why"), "must be a tuple of strings; found 'why'"),
        (("Unschedulable", ("why",)), "must be a Code, such as Code.UNSCHEDULABLE; found 'Unschedulable'"),
    ],
)
def test_what_is_no_status_cannot_be_made(given: tuple, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        Status(*given)
