"""`kubesched scheduler` decides, tells and writes what kube-scheduler does, on the same script of events."""

from pathlib import Path

import pytest

from tests.integration.control_plane import ControlPlane
from tests.live.campaign import compare

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.mark.parametrize("seed", [2, 4])  # 2: a taint wakes a pod whose plugins register new nodes only
def test_a_cluster_cannot_tell(cluster: ControlPlane, tmp_path: Path, seed: int) -> None:
    assert compare(cluster, tmp_path, seed) == []
