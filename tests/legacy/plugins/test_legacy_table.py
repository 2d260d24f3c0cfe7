import subprocess
import sys
from pathlib import Path

import pytest

from kubesched.config import DEFAULT_PLUGINS
from kubesched.legacy import LEGACY_PLUGINS, legacy_plugin
from kubesched.plugins import IN_TREE_PLUGINS
from kubesched.testing import check_plugin

ARGS = {
    "NodeLabel": {"presentLabels": ["disk"], "absentLabelsPreference": ["gpu"]},
    "RequestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]},
    "ServiceAffinity": {
        "affinityLabels": ["topology.kubernetes.io/zone"],
        "antiAffinityLabelsPreference": ["kubernetes.io/hostname"],
    },
}
BY_RULE = {("ServiceAffinity", "same_answer_in_any_node_order")}  # it follows the first pod in the order of the nodes
CHECKS = [
    pytest.param(check, id=f"{name}-{check}")
    for name in LEGACY_PLUGINS
    for check in check_plugin(legacy_plugin(name), args=ARGS.get(name))
    if (name, str(check)) not in BY_RULE
]


@pytest.mark.filterwarnings("ignore:.*its filter accepts every pod:UserWarning")
@pytest.mark.parametrize("check", CHECKS)
def test_legacy_plugins_keep_the_contract(check):
    check()


@pytest.mark.parametrize("name", LEGACY_PLUGINS)
def test_every_legacy_plugin_says_that_it_is_one_by_its_version(name: str):
    module = sys.modules[legacy_plugin(name).__module__]
    assert legacy_plugin(name).__name__ == name
    assert "Rule: kube-scheduler v1." in (module.__doc__ or "")


def test_no_legacy_plugin_is_in_the_default_profile():
    assert not LEGACY_PLUGINS.keys() & (IN_TREE_PLUGINS.keys() | DEFAULT_PLUGINS.enabled_names)


def test_a_default_setup_imports_none():
    code = (
        "import sys; from kubesched.setup import set_up; set_up(); "
        "print([m for m in sys.modules if m.startswith('kubesched.legacy.plugins.') and not m.endswith('.by_name')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout == "[]\n"


def test_the_reference_page_lists_each_plugin_with_its_extension_points():
    page = (Path(__file__).parents[3] / "docs/reference/legacy-plugins.md").read_text()
    listed = {}
    for line in page.partition("## Arguments")[0].splitlines():
        if line.startswith("| ") and not line.startswith("| plugin "):
            names, points = line.split(" | ")[:2]
            listed |= {name: set(points.split(", ")) for name in names.removeprefix("| ").split(", ")}
    assert listed == {name: legacy_plugin(name).extension_points() for name in LEGACY_PLUGINS}
