"""A stock kube-scheduler whose urlPrefix has a path, and what it shows of a plugin that crashes."""

from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.integration.conftest import StartExtender, StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

PLUGIN = """
from kubesched import Plugin, Status


class Disks(Plugin):
    def filter(self, state, pod, node):
        disks = pod.annotations["disks"]
        return Status.SUCCESS if disks else Status.unschedulable("no disks")
"""


def test_calls_below_a_prefix_are_answered_and_a_crash_is_shown_with_its_line(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender, tmp_path: Path
) -> None:
    (tmp_path / "disks.py").write_text(PLUGIN)
    extender = start_extender("names", [f"{tmp_path / 'disks.py'}:Disks"])
    prefixed = {**extender.stanza, "urlPrefix": f"{extender.stanza['urlPrefix']}/api/scheduler/"}
    start_scheduler({"extenders": [prefixed]})
    client = cluster.client
    client.create_all([make_node("n1"), make_pod("good", annotations={"disks": "1"}), make_pod("bad")])
    wait_until(lambda: client.get("Pod", "good")["spec"].get("nodeName"), "the pod on a node")

    def notes() -> list[str]:
        return [event["note"] for event in client.read_all("Event") if event["regarding"]["name"] == "bad"]

    place = "KeyError: 'disks' (disks.py:7 in filter)"
    wait_until(lambda: any(place in note for note in notes()), "the event with the line of the plugin")
    assert any(place in line for line in extender.process.logs())


def test_a_path_that_asks_for_no_verb_is_a_warning(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender, tmp_path: Path
) -> None:
    (tmp_path / "disks.py").write_text(PLUGIN)
    extender = start_extender("names", [f"{tmp_path / 'disks.py'}:Disks"], "--path-prefix=/api")
    start_scheduler({"extenders": [{**extender.stanza, "filterVerb": "fliter"}]})
    cluster.client.create_all([make_node("n1"), make_pod("web")])
    text = 'no such path: "/api/fliter"; expected one of /api/bind, /api/filter, '
    extender.process.wait_until(lambda: any(text in line for line in extender.process.logs()), "the warning")
