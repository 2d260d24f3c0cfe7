"""Pods that Permit holds back: allowed by all, or rejected by the first."""

import math

import pytest

from kubesched.framework import Status, WaitingPod
from kubesched.testing.builders import make_pod


@pytest.fixture
def waiting() -> WaitingPod:
    return WaitingPod(make_pod("p"), {"A": 5.0, "B": 9.5}, now=100.0)


def test_every_plugin_has_to_allow_it(waiting: WaitingPod) -> None:
    assert (waiting.pending_plugins, waiting.deadline) == (["A", "B"], 105.0)
    waiting.allow("A")
    waiting.allow("unknown")
    assert (waiting.status, waiting.pending_plugins, waiting.deadline) == (None, ["B"], 109.5)
    waiting.allow("B")
    assert waiting.status is Status.SUCCESS
    assert waiting.deadline == math.inf


def test_the_first_rejection_counts(waiting: WaitingPod) -> None:
    waiting.reject("B", "no")
    waiting.reject("A", "never")
    waiting.allow("A")
    waiting.allow("B")
    assert waiting.status == Status.unschedulable("no").by("B")


def test_a_plugin_that_takes_too_long_rejects_it(waiting: WaitingPod) -> None:
    waiting.advance(104.9)
    assert waiting.status is None
    waiting.allow("A")
    waiting.advance(120.0)
    text = "rejected due to timeout after waiting 9.5s at plugin B"
    assert waiting.status == Status.unschedulable(text).by("B")


def test_it_tells_once_when_it_is_decided(waiting: WaitingPod) -> None:
    told: list[Status] = []
    waiting.on_decided(told.append)
    waiting.allow("A")
    assert told == []
    waiting.reject("B", "no")
    waiting.reject("B", "never")
    waiting.allow("B")
    waiting.on_decided(told.append)
    assert [status.message for status in told] == ["no", "no"]
