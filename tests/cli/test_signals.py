import asyncio
import signal

import pytest

from kubesched.cli.signals import ending_on_signals


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
