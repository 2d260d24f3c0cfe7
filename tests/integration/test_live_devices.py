"""Pods with resource claims: `kubesched scheduler` decides, says and writes what kube-scheduler does."""

from pathlib import Path

import pytest

from campaigns.live.campaign import compare_scenes
from campaigns.live.device_scenes import SCENES
from campaigns.live.outcome import differences
from tests.integration.control_plane import ControlPlane

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

PLAYED = (
    "a template that is missing, and comes",
    "an unused claim that is allocated where its pod may not run",
    "an extended resource that one node has by plugin and another by slices",
    "capacity in steps, and the default of it",
)


def test_a_cluster_cannot_tell_who_placed_pods_with_claims(cluster: ControlPlane, tmp_path: Path) -> None:
    scenes = [scene for scene in SCENES if scene.name in PLAYED]
    assert len(scenes) == len(PLAYED)
    for scene, ours, theirs in compare_scenes(cluster, tmp_path, scenes):
        assert differences(ours, theirs) == [], scene.name
