"""The stack trace of a plugin's fault names the plugin, the pod and the node."""

import logging
from typing import Any

import pytest

from kubesched import Plugin
from kubesched.session import Simulator
from kubesched.testing import make_node, make_pod


class Fails(Plugin):
    def filter(self, state, pod, node):
        return self.weight(node)

    def weight(self, node):
        raise KeyError("gpu")


class FailsForAll(Plugin):
    def pre_filter(self, state, pod, nodes):
        raise KeyError("gpu")


class FailsToReserve(Plugin):
    def reserve(self, state, incoming, node_name):
        raise KeyError("gpu")


@pytest.mark.parametrize(
    ("plugin", "hook", "about"),
    [
        (Fails, "filter", {"pod": "default/web", "node": "n1"}),
        (FailsForAll, "pre_filter", {"pod": "default/web"}),
        (FailsToReserve, "reserve", {"pod": "default/web", "node": "n1"}),
    ],
)
def test_it_names_plugin_hook_pod_and_node(
    plugin: type[Plugin], hook: str, about: dict[str, Any], caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.DEBUG, logger="kubesched.plugin"):
        Simulator([make_node("n1"), make_pod("web")], None, [plugin]).run()
    record = caplog.records[0]
    assert record.exc_info is not None
    said = {name: record.__dict__[name] for name in ("plugin", "hook", "pod", "node") if name in record.__dict__}
    assert said == {"plugin": plugin.__name__, "hook": hook, **about}
