"""The plugins of a setup behind the protocol: what is refused at start, and which profile answers for which pod."""

import asyncio
from typing import Any

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.errors import InputError
from kubesched.extender import ClusterWrites, Extender
from kubesched.framework import Bind, Plugin, Status
from kubesched.plugins import NodeName, NodeResourcesFit
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.device_cluster import GPU, device_cluster
from tests.extender.asking import (
    encode,
    filter_result,
    host_priorities,
    in_time,
    node,
    pod,
    preemption_result,
    with_names,
    with_nodes,
)
from tests.extender.virtual_time import LoopClock, run

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
TWO_NODES = (node("n1"), node("n2"))


class NotN1(Plugin):
    def filter(self, state, pod, node):
        return Status.unresolvable("not here") if node.name == "n1" else Status.SUCCESS


class LikesN1(Plugin):
    def score(self, state, pod, node):
        return 100 if node.name == "n1" else 0


class Strikes(Plugin):
    def preempt(self, state, pod, victims_by_node):
        return {}


class Reserves(Plugin):
    def reserve(self, state, pod, node_name):
        state.binding.annotations["node"] = node_name
        return Status.SUCCESS


class Late(Plugin):
    def post_filter(self, state, pod, diagnosis):
        return None, Status.unschedulable()

    def pre_enqueue(self, pod):
        return Status.SUCCESS


class Writes(ClusterWrites):
    def __init__(self) -> None:
        self.bindings: list[Bind] = []

    async def create_binding(self, action: Bind) -> str:
        self.bindings.append(action)
        return ""


def extender(*plugins: type[Plugin], profiles: str | None = None, **options: Any) -> Extender:
    """An extender without a watch, and without a clock that moves."""
    setup = set_up(profiles and (HEADER + profiles).encode(), plugins, default_plugins=False)
    return Extender(setup, **({"clock": LoopClock(), "is_watched": False} | options))


def survivors(extender: Extender, scheduler_name: str = "default-scheduler", plugin: str = "") -> list[str]:
    verbs = extender.singles[plugin] if plugin else extender.verbs
    body = with_nodes(*TWO_NODES, pod=pod(schedulerName=scheduler_name))
    return filter_result(verbs.filter(body, in_time)).survivors


def scores(extender: Extender, scheduler_name: str = "default-scheduler", plugin: str = "") -> list[int]:
    verbs = extender.singles[plugin] if plugin else extender.verbs
    body = with_nodes(*TWO_NODES, pod=pod(schedulerName=scheduler_name))
    return list(host_priorities(verbs.prioritize(body, in_time)).values())


# --- what runs ---


def test_only_what_is_enabled_explicitly_runs():
    served = extender(NotN1, LikesN1)
    (profile,) = (framework.profile for framework in served.frameworks.values())
    assert [plugin.name for plugin in profile.plugins] == ["NotN1", "LikesN1"]
    assert {point for point, plugins in profile.points.items() if plugins} == {"filter", "score"}
    assert (served.offer.verbs, served.binder) == (["filter", "prioritize"], None)


def test_a_profile_is_that_of_the_pods_scheduler_name_else_the_first():
    served = extender(
        NotN1,
        LikesN1,
        profiles="""
- {schedulerName: picky, plugins: {multiPoint: {enabled: [{name: NotN1}]}}}
- {schedulerName: choosy, plugins: {score: {enabled: [{name: LikesN1, weight: 3}]}}}
""",
    )
    assert survivors(served, "picky") == survivors(served, "unheard-of") == ["n2"]
    assert survivors(served, "choosy") == ["n1", "n2"]
    assert scores(served, "choosy") == [10, 0]
    assert scores(served, "picky") == [0, 0]
    assert served.offer.weight == 3


def test_pods_of_a_profile_that_enables_nothing_are_left_alone():
    served = extender(
        NotN1,
        LikesN1,
        profiles="""
- schedulerName: default-scheduler
- {schedulerName: own, plugins: {multiPoint: {enabled: [{name: NotN1}, {name: LikesN1}]}}}
""",
    )
    assert survivors(served, "own") == survivors(served, "own", "NotN1") == ["n2"]
    assert survivors(served) == survivors(served, plugin="NotN1") == ["n1", "n2"]
    assert (scores(served, "own"), scores(served)) == ([10, 0], [0, 0])


def test_a_plugin_of_the_tree_that_the_user_brings_runs_where_it_is_enabled():
    served = extender(NodeName, profiles="- plugins: {filter: {enabled: [{name: NodeName}]}}\n")
    body = with_nodes(*TWO_NODES, pod=pod(nodeName="n2"))
    assert filter_result(served.verbs.filter(body, in_time)).survivors == ["n2"]


def test_what_a_profile_disables_of_the_defaults_changes_nothing():
    disabled = "- plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: NotN1}]}}\n"
    assert survivors(extender(NotN1, profiles=disabled)) == ["n2"]


def test_each_plugin_answers_at_a_url_of_its_own():
    served = extender(NotN1, LikesN1)
    assert sorted(served.singles) == ["LikesN1", "NotN1"]
    assert survivors(served, plugin="NotN1") == ["n2"]
    assert survivors(served, plugin="LikesN1") == ["n1", "n2"]
    assert scores(served, plugin="LikesN1") == [10, 0]
    for framework in served.frameworks.values():
        assert all(plugin.handle.what_if == framework.what_if for plugin in framework.profile.plugins)


def test_a_plugin_that_only_has_a_say_in_preemption_is_served():
    served = extender(Strikes, LikesN1)
    assert served.offer.verbs == ["prioritize", "preempt"]
    body = encode({"Pod": pod(), "NodeNameToVictims": {"n1": {"Pods": [pod("v")], "NumPDBViolations": 0}}})
    assert preemption_result(served.verbs.preempt(body, in_time)) == {}
    assert preemption_result(served.singles["LikesN1"].preempt(body, in_time)).keys() == {"n1"}


# --- what is refused ---


def test_no_plugin_at_all_is_refused():
    for profiles in (None, "- schedulerName: a\n- schedulerName: b\n"):
        with pytest.raises(InputError, match=r"^no plugin to serve: name one with --plugin FILE.py:Class, or enable"):
            extender(profiles=profiles)


def test_plugins_that_nobody_would_ask_are_refused():
    with pytest.raises(InputError, match=r"^Late would never be called: .* found only postFilter and preEnqueue$"):
        extender(Late)


@pytest.mark.parametrize(
    ("plugins", "offers_bind", "why"),
    [([Reserves], False, "plugin Reserves takes part in reserve"), ([NotN1], True, "--bind is given")],
)
def test_binding_without_an_api_server_is_refused(plugins: list[type[Plugin]], offers_bind: bool, why: str):
    with pytest.raises(InputError, match=rf"^binding needs the API server: .*--kubeconfig.* \({why}\)$"):
        extender(*plugins, offers_bind=offers_bind)


def test_a_plugin_that_reads_pods_is_refused_without_a_watch_and_served_with_one():
    class Crowded(Plugin):
        def score(self, state, pod, node):
            return len(node.pods)

    with pytest.raises(InputError, match=r"^plugin Crowded reads the pods on nodes"):
        extender(Crowded)
    served = extender(Crowded, is_watched=True)
    shown = (make_node("n1"), make_node("n2"), *(make_pod(f"p{i}", node="n2") for i in range(20)))
    served.apply(WatchEvent(EventType.ADDED, type(one).__name__, one) for one in shown)
    assert host_priorities(served.verbs.prioritize(with_names("n1", "n2"), in_time)) == {"n1": 0, "n2": 2}


# --- binding ---


@pytest.mark.parametrize(("plugins", "offers_bind"), [([Reserves], False), ([NotN1], True)])
def test_pods_are_bound_as_kube_scheduler_would_where_no_plugin_binds(plugins: list, offers_bind: bool):
    async def story() -> tuple[list[str], Extender]:
        writes = Writes()
        served = extender(*plugins, is_watched=True, writes=writes, offers_bind=offers_bind)
        shown = (make_node("n1"), make_pod("p"))
        served.apply(WatchEvent(EventType.ADDED, type(one).__name__, one) for one in shown)
        body = encode({"PodName": "p", "PodNamespace": "default", "PodUID": make_pod("p").uid, "Node": "n1"})
        assert (await served.binder.bind(body, 4)).error == ""
        return [action.node_name for action in writes.bindings], served

    bound, served = run(story())
    assert bound == ["n1"]
    assert list(served.singles) == [plugin.__name__ for plugin in plugins]


def test_a_bind_plugin_of_the_users_binds_alone():
    class Own(Plugin):
        def bind(self, state, pod, node_name):
            return Status.SUCCESS

    served = extender(Own, is_watched=True, writes=Writes())
    (profile,) = (framework.profile for framework in served.frameworks.values())
    assert [plugin.name for plugin in profile.points["bind"]] == ["Own"]


def test_writes_that_nobody_carries_out_are_a_mistake_of_ours():
    with pytest.raises(NotImplementedError):
        asyncio.run(ClusterWrites().find_pod("d", "p"))


# --- the watch ---


def test_nodes_that_come_and_go_are_known_to_the_next_call():
    served = extender(NotN1, is_watched=True)

    def told(type_: EventType, name: str) -> list[str]:
        served.apply([WatchEvent(type_, "Node", make_node(name))])
        return filter_result(served.verbs.filter(with_names("n2", "n3"), in_time)).survivors

    assert told(EventType.ADDED, "n2") == ["n2"]
    assert told(EventType.ADDED, "n3") == ["n2", "n3"]
    assert told(EventType.MODIFIED, "n3") == ["n2", "n3"]
    assert told(EventType.DELETED, "n2") == ["n3"]


def test_a_pod_with_claims_is_left_to_the_plugins_of_the_user_and_to_kube_scheduler():
    enabled = "- plugins: {multiPoint: {enabled: [{name: DynamicResources}, {name: NotN1}]}}\n"
    served = extender(NotN1, profiles=enabled)
    body = with_nodes(*TWO_NODES, pod=pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]))
    assert filter_result(served.verbs.filter(body, in_time)).survivors == ["n2"]
    with pytest.raises(InputError, match=r"^no plugin to serve"):
        extender(profiles="- plugins: {filter: {enabled: [{name: DynamicResources}]}}\n")


def test_fit_leaves_a_served_resource_to_kube_scheduler_on_nodes_that_offer_none():
    served = extender(NodeResourcesFit, is_watched=True)
    assert set(served.kinds) == {"Node", "Pod", "DeviceClass"}
    served.load([*device_cluster()])
    asked = make_pod("p", requests={GPU: 1}).document
    answer = filter_result(served.verbs.filter(with_names("plugin-1", "dra-1", pod=asked), in_time))
    assert answer.survivors == ["dra-1"]
