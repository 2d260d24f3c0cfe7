import pytest

from kubesched.api import ActionType
from kubesched.errors import ConfigError
from kubesched.framework import QueueingHint, Status
from kubesched.legacy.plugins.legacy_args import NodeLabelArgs
from kubesched.legacy.plugins.node_label import NodeLabel
from kubesched.setup import set_up
from tests.plugins.hinting import NODE_ADD, hint, node_event
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

REJECTED = Status.unresolvable("node(s) didn't have the requested labels")
NODES = [node("ssd", labels={"disk": "ssd"}), node("old", labels={"disk": "", "retired": "2019"}), node("bare")]


def asked(**args: tuple[str, ...]) -> Asked:
    return Asked(NodeLabel(NodeLabelArgs(**args)), NODES, pod())


def test_present_labels_must_exist_with_any_value_and_absent_ones_must_not():
    assert asked(present_labels=("disk",)).filter() == {"bare": REJECTED}
    assert asked(absent_labels=("retired",)).filter() == {"old": REJECTED}
    assert asked(present_labels=("disk",), absent_labels=("retired",)).filter() == {"old": REJECTED, "bare": REJECTED}


def test_the_score_is_the_share_of_satisfied_preferences_rounded_down():
    preferring = asked(present_labels_preference=("disk", "fast"), absent_labels_preference=("retired",))
    assert preferring.score() == {"ssd": 66, "old": 33, "bare": 33}


def test_without_preferences_every_node_scores_0():
    assert set(asked(present_labels=("disk",)).score().values()) == {0}


def test_a_rejection_names_each_label():
    given = asked(present_labels=("disk", "fast"), absent_labels=("retired",))
    said = {
        name: [
            *given.plugin.explain_rejection(given.state, given.pod, given.cluster.snapshot().node_info(name), status)
        ]
        for name, status in given.filter().items()
    }
    assert said["old"] == ["label fast is absent", "label retired must be absent"]


def test_a_node_helps_when_it_comes_to_have_the_labels():
    plugin = NodeLabel(NodeLabelArgs(present_labels=("disk",)))
    waiting, labelled, bare = read_pod(pod()), read(node("n", labels={"disk": "ssd"})), read(node("n"))
    relabelled = node_event(ActionType.UPDATE_NODE_LABEL)
    assert hint(plugin, NODE_ADD, waiting, None, labelled) is QueueingHint.QUEUE
    assert hint(plugin, NODE_ADD, waiting, None, bare) is QueueingHint.SKIP
    assert hint(plugin, relabelled, waiting, bare, labelled) is QueueingHint.QUEUE
    assert hint(plugin, relabelled, waiting, labelled, labelled) is QueueingHint.SKIP


CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {filter: {enabled: [{name: NodeLabel}]}}
  pluginConfig:
  - name: NodeLabel
    args: {presentLabels: [disk, zone], absentLabels: [zone]}
"""


def test_a_label_that_is_wanted_both_present_and_absent_is_refused():
    with pytest.raises(ConfigError) as refused:
        set_up(CONFIGURATION.encode())
    assert str(refused.value) == (
        "initializing profiles: creating profile for scheduler name default-scheduler: "
        'initializing plugin "NodeLabel": presentLabels: Invalid value: "zone": detecting at least one label '
        '(e.g., "zone") that exist in both the '
        "present([disk zone]) and absent([zone]) label list\n  presentLabels: remove zone from one of the two lists"
    )
