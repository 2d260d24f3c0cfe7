"""What the log has of each attempt."""

import logging

import pytest

from kubesched.api import Pod
from kubesched.framework import Bind, CycleState, Plugin
from kubesched.live import ATTEMPT_LOG, AttemptLog
from kubesched.metrics import Observers, SchedulerMetrics
from kubesched.state import NodeInfo
from kubesched.testing import make_node, make_pod
from tests.extender.virtual_time import settle
from tests.live.fake_cluster import FakeCluster, Story, lived


def logged(
    story: Story, caplog: pytest.LogCaptureFixture, level: int = logging.DEBUG, plugins: tuple[type[Plugin], ...] = ()
) -> list[logging.LogRecord]:
    metrics = SchedulerMetrics()
    with caplog.at_level(level, ATTEMPT_LOG.name):
        lived(story, metrics, *plugins, observer=Observers(metrics, AttemptLog()))
    return [record for record in caplog.records if record.name == ATTEMPT_LOG.name]


async def one_of_each(cluster: FakeCluster) -> None:
    node = make_node("n1", allocatable={"cpu": "1", "pods": "9"})
    cluster.add(node, make_pod("web"), make_pod("large", requests={"cpu": "2"}))
    await settle()


def test_each_attempt_is_a_line_with_its_fields(caplog: pytest.LogCaptureFixture) -> None:
    by_pod = {record.pod: record for record in logged(one_of_each, caplog)}
    bound, rejected = by_pod["default/web"], by_pod["default/large"]
    assert (bound.message, bound.node, bound.attempt) == ("Successfully bound pod to node", "n1", 1)
    assert (bound.profile, bound.evaluatedNodes, bound.feasibleNodes) == ("default-scheduler", 1, 1)
    assert (rejected.message, rejected.node) == ("Unable to schedule pod; no fit; waiting", "")
    assert rejected.plugins == "NodeResourcesFit"
    assert "Insufficient cpu" in rejected.err


def test_at_the_usual_level_only_faults_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def story(cluster: FakeCluster) -> None:
        await one_of_each(cluster)
        cluster.refusals[Bind] = "the API server says no"
        cluster.add(make_pod("refused"))
        await settle()

    records = logged(story, caplog, logging.INFO)
    assert {record.pod for record in records} == {"default/refused"}
    assert all(record.levelname == "WARNING" and "says no" in record.err for record in records)


class Crashes(Plugin):
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return int(pod.annotations["weight"])


def test_a_crash_is_logged_with_plugin_file_and_line(caplog: pytest.LogCaptureFixture) -> None:
    async def story(cluster: FakeCluster) -> None:
        cluster.add(make_node("n1"), make_node("n2"), make_pod("web"))
        await settle()

    record = logged(story, caplog, logging.INFO, (Crashes,))[0]
    line = Crashes.score.__code__.co_firstlineno + 1
    assert (record.levelname, record.plugin, record.pod) == ("WARNING", "Crashes", "default/web")
    assert record.place == f"test_attempt_log.py:{line} in score"
    assert record.err.endswith(f"KeyError: 'weight' ({record.place})")
