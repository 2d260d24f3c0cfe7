"""Five seconds of the campaign, with every kind of bad weather in them."""

from pathlib import Path

import pytest

from campaigns.weather.campaign import report
from campaigns.weather.kinds import KINDS
from campaigns.weather.run import Plan, run


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc")
@pytest.mark.timeout(180)
def test_bad_weather_does_no_harm(tmp_path: Path) -> None:
    account = run(Plan(tmp_path, seconds=5, calm=2, good=2, bad=8))
    assert not account.harm, "\n".join(report(account))
    assert sum(map(len, account.seconds.values())) > 10, "too few good calls to see harm"
    assert len(account.outcomes) > len(KINDS) / 4
