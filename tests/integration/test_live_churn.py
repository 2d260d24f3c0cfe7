"""Half a minute of the churn campaign: the cache equals the cluster, and memory does not run away."""

from pathlib import Path

import pytest

from campaigns.churn.campaign import run
from tests.integration.control_plane import ControlPlane

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(240),
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc"),
]


def test_half_a_minute_of_churn_leaves_the_cache_equal_to_the_cluster(cluster: ControlPlane, tmp_path: Path) -> None:
    account = run(tmp_path, cluster, minutes=0.6, per_second=50, seed=2, growth=0.25)
    assert account.harm == []
    assert account.minutes
    assert account.minutes[-1].pods_created > 300, "too few pods to see harm"
