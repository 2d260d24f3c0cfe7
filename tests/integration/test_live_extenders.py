"""kube-scheduler and `kubesched scheduler` ask the same extenders the same, and make the same of the answers."""

from pathlib import Path

import pytest

from campaigns.extenders.campaign import judge
from tests.integration.control_plane import ControlPlane

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

N_STEPS = 9


# 2: one extender binds, another manages a resource; 15: names and whole nodes; 25: failures and preemption
@pytest.mark.parametrize("seed", [2, 15, 25])
def test_extenders_cannot_tell(cluster: ControlPlane, tmp_path: Path, seed: int) -> None:
    verdict = judge(cluster, tmp_path, seed, tries=3, n_steps=N_STEPS)
    assert verdict.lines == []
    assert verdict.n_calls > 0
