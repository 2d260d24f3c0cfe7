"""Half a minute of the storm campaign: each pod is bound once, or waits with the right reason."""

from pathlib import Path

import pytest

from campaigns.storm.account import Plan
from campaigns.storm.storm import play
from tests.integration.control_plane import ControlPlane

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc"),
]


def test_half_a_minute_of_storm_leaves_each_pod_as_it_must_be(cluster: ControlPlane, tmp_path: Path) -> None:
    account = play(Plan(minutes=0.4, nodes=20, waiting=400, rate=50, seed=2, silent=50), cluster, tmp_path)
    assert account.violations == []
    assert (account.bound, account.helped, sum(account.pending.values())) == (96, 18, 400)
    assert account.sent >= 96 + 18
    assert account.faults["slow"], "the API server was not slow"
    assert account.probes, "nobody probed"
