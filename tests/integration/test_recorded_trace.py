"""What happens in a live cluster while `kubesched replay --record` watches it becomes a trace that can be replayed."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from kubesched.replay import replay
from kubesched.testing import make_node, make_pod
from kubesched.traces import read_trace
from tests.docs.pages import ROOT
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import Process

pytestmark = pytest.mark.integration


def test_pods_that_come_and_go_are_in_the_trace(cluster: ControlPlane, tmp_path: Path) -> None:
    api, target = cluster.client, tmp_path / "day.jsonl.gz"
    api.create(make_node("n1", allocatable={"cpu": "4", "memory": "8Gi", "pods": 10}))
    api.create(make_pod("old", requests={"cpu": "1"}))
    api.bind("old", "n1")
    kubeconfig = cluster.kubeconfig(tmp_path / "kubeconfig")
    command = [sys.executable, "-m", "kubesched", "replay", "--record", target, "--kubeconfig", kubeconfig]
    with_sources = {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))}
    recording = Process("record", command, tmp_path / "record.log", env=with_sources)
    try:
        recording.wait_until(lambda: any("recording" in line for line in recording.logs()), "records")
        api.create(make_pod("job", requests={"cpu": "2"}))
        api.bind("job", "n1")
        api.create(make_node("n2", allocatable={"cpu": "8", "memory": "8Gi", "pods": 10}))
        api.delete("Pod", "job")
        api.create(make_pod("huge", requests={"cpu": "64"}))
        time.sleep(3)  # events arrive within milliseconds, and nothing tells which one was read last
        recording.send(signal.SIGINT)
        assert recording.exit_code() == 0
    finally:
        recording.stop()
    trace = read_trace(target)
    assert {(one.pod.name, one.duration is None) for one in trace.arrivals} >= {("old", True), ("job", False)}
    assert [change.node.name for change in trace.changes] == ["n2"]
    pods = {one.pod: one.node for one in replay(trace).pods}
    assert pods["default/old"] == "n1"
    assert pods["default/job"] in {"n1", "n2"}  # the second node came at the same moment
