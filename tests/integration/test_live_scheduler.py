"""`kubesched scheduler` decides, tells and writes what kube-scheduler does, on the same script of events."""

from pathlib import Path

import pytest

from campaigns.live.campaign import compare
from campaigns.live.outcome import differences
from tests.integration.control_plane import ControlPlane

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


# 2: a taint wakes a pod whose plugins register new nodes only; 33: claims and volumes
@pytest.mark.parametrize("seed", [2, 33])
def test_a_cluster_cannot_tell(cluster: ControlPlane, tmp_path: Path, seed: int) -> None:
    assert differences(*compare(cluster, tmp_path, seed)) == []


def test_a_large_cluster_whose_nodes_are_sampled_cannot_tell(cluster: ControlPlane, tmp_path: Path) -> None:
    assert differences(*compare(cluster, tmp_path, 10, is_sampling=True)) == []
