"""Every file of examples/configurations loads, converts and schedules."""

import json
from pathlib import Path

import pytest

from kubesched.config import effective
from kubesched.legacy.dialects.kube_scheduler import LEGACY
from kubesched.release import DEFAULT_RELEASE
from kubesched.review import check_configuration
from kubesched.session import Simulator
from kubesched.setup import Setup, convert_text, set_up
from kubesched.snapshot import load_snapshot

FOLDER = Path(__file__).parents[2] / "examples" / "configurations"
FILES = sorted(path for path in FOLDER.iterdir() if path.name != "README.md")
VERSIONS = ("policy", "v1", "v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3")

every_file = pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])


def _node(name: str) -> dict:
    labels = {"kubernetes.io/hostname": name, "region": "eu", "zone": "a", "rack": "1"}
    room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": room}}


def _pod(scheduler: str) -> dict:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    metadata = {"name": scheduler, "namespace": "default", "uid": scheduler}
    spec = {"schedulerName": scheduler, "containers": [container]}
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def _placed(setup: Setup, folder: Path) -> dict[str, str]:
    """The node of one pod for each profile."""
    objects = [_node("a"), _node("b"), *(_pod(profile.scheduler_name) for profile in setup.profiles)]
    snapshot = folder / "cluster.json"
    items = [{"apiVersion": "v1", **one} for one in objects]
    snapshot.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    report = Simulator(load_snapshot(str(snapshot)), setup).run()
    return {placement.pod: placement.node for placement in report.placements}


def test_there_are_files_of_every_version():
    assert len(FILES) >= 30
    assert {file.name.partition("-")[0] for file in FILES} == set(VERSIONS)


@every_file
def test_it_decides_the_same_before_and_after_the_conversion(file, tmp_path):
    before = set_up(file)
    text, is_lossy = convert_text(file, kube_scheduler=False)
    assert not is_lossy
    after = set_up(text.encode())
    assert effective(after.configuration, DEFAULT_RELEASE) == effective(before.configuration, DEFAULT_RELEASE)
    placed = _placed(before, tmp_path)
    assert all(placed.values())
    assert _placed(after, tmp_path) == placed


@every_file
@pytest.mark.parametrize("kube_scheduler", [False, True], ids=["kubesched", "kube-scheduler"])
def test_converting_it_twice_is_converting_it_once(file, kube_scheduler):
    once, _ = convert_text(file, kube_scheduler=kube_scheduler)
    assert convert_text(once.encode(), kube_scheduler=kube_scheduler) == (once, False)


@every_file
def test_for_kube_scheduler_nothing_is_left_that_it_does_not_have(file):
    text, _ = convert_text(file, kube_scheduler=True)
    built = {plugin.name for profile in set_up(text.encode()).profiles for plugin in profile.plugins}
    assert built.isdisjoint(LEGACY)


@every_file
def test_config_check_finds_no_error_and_little_else_in_the_conversion(file):
    text, _ = convert_text(file, kube_scheduler=True)
    checked = check_configuration(text)
    assert checked.error == ""
    severities = [finding.severity for finding in checked.findings]
    assert "error" not in severities
    assert len(severities) <= 5
