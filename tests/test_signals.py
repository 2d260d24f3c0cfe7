import asyncio
import signal

import pytest

from kubesched.live.cache_comparer import on_sigusr2
from kubesched.signals import ending_on_signals, ignoring_sigusr2
from tests.cli.clusters import run


def ended_by(*numbers: int) -> bool:
    """Whether it counts as interrupted."""

    async def story() -> bool:
        with ending_on_signals() as ending:
            for number in numbers:
                signal.raise_signal(number)
            async with asyncio.timeout(10):
                await ending.stop.wait()
            return ending.is_interrupted

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("numbers", "is_interrupted"),
    [
        ([signal.SIGTERM], False),
        ([signal.SIGTERM, signal.SIGTERM], False),
        ([signal.SIGINT], True),
        ([signal.SIGTERM, signal.SIGINT], True),
    ],
)
def test_a_signal_asks_for_the_end(numbers: list[int], is_interrupted: bool):
    assert ended_by(*numbers) is is_interrupted


def test_a_second_ctrl_c_does_not_wait():
    with pytest.raises(KeyboardInterrupt):
        ended_by(signal.SIGINT, signal.SIGINT)


def test_handlers_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    ended_by(signal.SIGTERM)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


def test_sigusr2_is_served_while_somebody_can_and_logged_before_and_after(caplog: pytest.LogCaptureFixture):
    async def story() -> int:
        served = asyncio.Event()
        signal.raise_signal(signal.SIGUSR2)
        with on_sigusr2(served.set):
            signal.raise_signal(signal.SIGUSR2)
            async with asyncio.timeout(10):
                await served.wait()
            n_logged = len(caplog.messages)
        signal.raise_signal(signal.SIGUSR2)
        return n_logged

    before = signal.getsignal(signal.SIGUSR2)
    with ignoring_sigusr2():
        assert asyncio.run(story()) == 1
    assert [message.startswith("SIGUSR2 is ignored") for message in caplog.messages] == [True, True]
    assert signal.getsignal(signal.SIGUSR2) is before


def test_a_scheduler_that_is_starting_outlives_sigusr2(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def start(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGUSR2)

    monkeypatch.setattr("kubesched.programs.run_live", start)
    monkeypatch.setattr("kubesched.serving.set_up_logging", lambda *_, **__: None)
    assert run("scheduler").exit_code == 0
    assert any("SIGUSR2 is ignored" in message for message in caplog.messages)
