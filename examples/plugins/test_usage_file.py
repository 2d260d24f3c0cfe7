import asyncio
import json
from pathlib import Path

import pytest
from usage_file import FileUsage, FileUsageByColumn

from kubesched import PluginError
from kubesched.testing import FakeCluster, check_plugin, make_node, make_pod, score_all, varied_scenario

BOTH = pytest.mark.parametrize("plugin_class", [FileUsage, FileUsageByColumn])
POD = make_pod("web")
NODES = [
    make_node("idle", allocatable={"cpu": "4", "memory": "8Gi"}),
    make_node("busy", allocatable={"cpu": "4", "memory": "8Gi"}),
    make_node("full", allocatable={"cpu": "4", "memory": "8Gi"}),
    make_node("unknown"),
]


def write_metrics(path: Path, usage: dict[str, tuple[str, str]]) -> Path:
    items = [
        {"metadata": {"name": name}, "timestamp": "2026-01-01T00:00:00Z", "usage": {"cpu": cpu, "memory": memory}}
        for name, (cpu, memory) in usage.items()
    ]
    document = {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetricsList", "items": items}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    usage = {"idle": ("400m", "1Gi"), "busy": ("123456789n", "6Gi"), "full": ("5", "8Gi"), "gone": ("1", "1Gi")}
    return write_metrics(tmp_path / "usage.json", usage)


def plugin(plugin_class: type[FileUsage], path: Path, **args: float) -> FileUsage:
    return plugin_class(plugin_class.Args(path=str(path), **args))


@BOTH
def test_the_scarcer_resource_decides(plugin_class, metrics):
    assert score_all(plugin(plugin_class, metrics), POD, NODES) == {"idle": 87, "busy": 25, "full": 0, "unknown": 0}


def test_both_forms_give_the_same_scores(metrics):
    nodes = [
        make_node(node.name, allocatable={"cpu": f"{i}700m", "memory": f"{i}Gi"}) for i, node in enumerate(NODES, 1)
    ]
    scalar = score_all(plugin(FileUsage, metrics), POD, nodes)
    assert scalar == score_all(plugin(FileUsageByColumn, metrics), POD, nodes)


@BOTH
def test_a_missing_file_is_told_before_anything_is_scheduled(plugin_class, tmp_path):
    with pytest.raises(PluginError, match=r'starting plugin "FileUsage.*usage.json'):
        score_all(plugin(plugin_class, tmp_path / "usage.json"), POD, NODES)


@BOTH
def test_offline_the_file_is_read_once(plugin_class, metrics):
    with FakeCluster(plugin(plugin_class, metrics), nodes=NODES) as cluster:
        write_metrics(metrics, {"idle": ("4", "8Gi")})
        assert cluster.score(POD)["idle"] == 87


async def read_again(usage: FileUsage) -> dict[str, int]:
    """Start the plugin where an event loop runs, read the file once more, ask, stop."""
    with FakeCluster(usage, nodes=NODES) as cluster:
        assert usage.refreshing is not None
        assert cluster.score(POD)["idle"] == 87
        write_metrics(Path(usage.args.path), {"idle": ("2", "1Gi")})
        await usage.read_again()
        return cluster.score(POD)


@BOTH
def test_where_an_event_loop_runs_new_figures_count(plugin_class, metrics):
    assert asyncio.run(read_again(plugin(plugin_class, metrics)))["idle"] == 50


@BOTH
def test_figures_that_cannot_be_read_leave_the_last_ones(plugin_class, metrics, caplog):
    usage = plugin(plugin_class, metrics)
    with FakeCluster(usage, nodes=NODES) as cluster:
        metrics.write_text("{", encoding="utf-8")
        asyncio.run(usage.read_again())
        assert cluster.score(POD)["idle"] == 87
    assert caplog.messages == [f"{usage.name}: {metrics}: Input data was truncated"]


@BOTH
@pytest.mark.parametrize("name", [str(check) for check in check_plugin(FileUsageByColumn, args={"path": "-"})])
def test_contract(plugin_class, name, tmp_path):
    usage = {node.name: ("1500m", "3Gi") for node in varied_scenario().nodes[:4]}
    path = write_metrics(tmp_path / "usage.json", usage)
    for check in check_plugin(plugin_class, args={"path": str(path)}):
        if check.name == name:
            check()
