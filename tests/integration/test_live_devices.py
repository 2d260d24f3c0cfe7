"""Pods with resource claims: `kubesched scheduler` decides, says and writes what kube-scheduler does."""

from pathlib import Path

import pytest

from campaigns.live.campaign import compare_devices, compare_scenes
from campaigns.live.device_scenes import SCENES
from campaigns.live.outcome import differences
from tests.integration.control_plane import ControlPlane

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

NAMED = {scene.name: scene for scene in SCENES}


def test_a_cluster_cannot_tell_who_placed_pods_with_claims(cluster: ControlPlane, tmp_path: Path) -> None:
    names = (
        "a template that is missing, and comes",
        "an unused claim that is allocated where its pod may not run",
        "an extended resource that one node has by plugin and another by slices",
        "a device that is attached in time",
    )
    for scene, ours, theirs in compare_scenes(cluster, tmp_path, [NAMED[name] for name in names]):
        assert differences(ours, theirs) == [], scene.name


def test_a_cluster_cannot_tell_who_met_another_scheduler_at_a_claim(cluster: ControlPlane, tmp_path: Path) -> None:
    scene = NAMED["a claim that another scheduler allocates before its devices are written"]
    assert differences(*compare_devices(cluster, tmp_path, lambda: scene)) == []
