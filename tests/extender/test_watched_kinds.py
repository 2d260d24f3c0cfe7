"""What plugins read: the kinds to watch for them, and a refusal where requests alone cannot give it."""

import functools

import pytest

from kubesched.errors import InputError
from kubesched.extender.watched_kinds import check_needs_no_watch, counting_filters, watched_kinds
from kubesched.framework import DependsOn, Plugin, Reservations, Status
from kubesched.plugins import IN_TREE_PLUGINS
from kubesched.setup import set_up
from kubesched.testing import minimal_profile


def n_free(node) -> int:
    return node.allocatable["pods"] - node.n_pods


def logged(hook):
    @functools.wraps(hook)
    def wrapper(*given):
        return hook(*given)

    return wrapper


class Labels(Plugin):
    """Reads labels, and says words that mean pods elsewhere."""

    def filter(self, state, pod, node):
        """Nothing about pods."""
        return Status.SUCCESS if node.labels.get("pods") else Status.unschedulable("Pod")


class Directly(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS if not node.pods else Status.unschedulable("in use")


class InComprehension(Plugin):
    def score_nodes(self, state, pod, nodes):
        return [sum(one) for one in (row.requested for row in nodes)]


class ByMethod(Plugin):
    def filter(self, state, pod, node):
        return self._judged(node)

    def _judged(self, node):
        return self._judged(node) if self.free else Status.SUCCESS

    @property
    def free(self):
        return self.handle.snapshot().nodes.n_pods


class ByFunction(Plugin):
    def score(self, state, pod, node):
        return n_free(node)


class Decorated(Plugin):
    @logged
    def score(self, state, pod, node):
        return node.n_pods


class Inherited(Directly):
    pass


class ByHandle(Plugin):
    def pre_filter(self, state, pod, nodes):
        return Status.SUCCESS if any(self.handle.list("Pod")) else Status.SKIP


class Declared(Labels):
    reads = ("Node", "PersistentVolumeClaim", "StorageClass")


class Columns(Plugin):
    depends_on = DependsOn.CLUSTER

    def filter_nodes(self, state, pod, nodes):
        return [0]


@pytest.mark.parametrize(
    ("plugin_class", "what"),
    [
        (Directly, r"the pods on nodes \(filter uses pods\)"),
        (InComprehension, r"the pods on nodes \(score_nodes uses requested\)"),
        (ByMethod, r"the pods on nodes \(filter uses n_pods\)"),
        (ByFunction, r"the pods on nodes \(score uses n_pods\)"),
        (Decorated, r"the pods on nodes \(score uses n_pods\)"),
        (Inherited, r"the pods on nodes \(filter uses pods\)"),
        (ByHandle, r"pods \(pre_filter reads them from its handle\)"),
        (Declared, "PersistentVolumeClaim and StorageClass"),
        (Columns, r"the pods on nodes \(depends_on is DependsOn.CLUSTER\)"),
    ],
)
def test_a_plugin_that_reads_more_than_nodes_is_refused_without_a_watch(plugin_class: type[Plugin], what: str):
    with pytest.raises(InputError, match=rf"^plugin {plugin_class.__name__} reads {what}, which .* --kubeconfig"):
        check_needs_no_watch([minimal_profile(Labels(), plugin_class())])


def test_plugins_that_read_nodes_alone_need_no_watch():
    check_needs_no_watch([minimal_profile(Labels())])


def test_what_plugins_say_that_they_read_is_watched():
    assert watched_kinds([minimal_profile(Labels())]) == ("Node", "Pod")
    profiles = [minimal_profile(Labels()), minimal_profile(Declared()), minimal_profile(Declared())]
    assert watched_kinds(profiles) == ("Node", "Pod", "PersistentVolumeClaim", "StorageClass")


class Held(Plugin):
    devices = Reservations("device", str)

    def filter(self, state, pod, node):
        return Status.unschedulable("taken") if self.devices.held_on(node) else Status.SUCCESS


class ScoresByPods(Labels):
    """Its filter reads labels alone."""

    def score(self, state, pod, node):
        return len(node.pods)


class OfNodesAlone(Plugin):
    """What it says of a node depends on that node."""

    depends_on = DependsOn.NODE

    def filter_nodes(self, state, pod, nodes):
        return (nodes.codes("zone") == 0).astype("int8")

    def filter_part(self, state, pod):
        return None


class Vetoes(OfNodesAlone):
    def preempt(self, state, pod, victims_by_node):
        return victims_by_node


class ReadsAfterAll(OfNodesAlone):
    """Says so, and looks at pods before."""

    def pre_filter(self, state, pod, nodes):
        return Status.SUCCESS if any(self.handle.list("Pod")) else Status.SKIP


class SaysSo(OfNodesAlone):
    reads = ("Pod",)


def test_pods_are_not_watched_where_all_plugins_depend_on_nodes_alone():
    (alone,) = set_up(None, [OfNodesAlone], default_plugins=False).profiles
    assert watched_kinds([alone, alone]) == ("Node",)
    assert watched_kinds([alone], bind=True) == ("Node", "Pod")
    for other in (Labels, Vetoes, ReadsAfterAll, SaysSo, Columns):
        assert watched_kinds([alone, *set_up(None, [other], default_plugins=False).profiles]) == ("Node", "Pod")


def test_every_plugin_in_the_tree_can_be_watched_for():
    kinds = watched_kinds([minimal_profile(*(plugin_class() for plugin_class in IN_TREE_PLUGINS.values()))])
    assert {"CSINode", "PodDisruptionBudget", "StorageClass"} < set(kinds)


@pytest.mark.parametrize("plugin_class", [Directly, ByMethod, Inherited, ByHandle, Columns, Held, SaysSo])
def test_a_filter_that_reads_pods_counts_them(plugin_class: type[Plugin]):
    assert counting_filters([minimal_profile(Labels()), minimal_profile(plugin_class())]) == [plugin_class.__name__]


def test_a_filter_that_reads_no_pods_counts_none_whatever_the_score_reads():
    plugins = [Labels(), ScoresByPods(), ByFunction(), Declared(), OfNodesAlone()]
    assert counting_filters([minimal_profile(plugin) for plugin in plugins]) == []
