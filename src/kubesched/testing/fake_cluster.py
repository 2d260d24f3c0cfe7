"""An in-memory cluster with the framework of some plugins, to call plugins without a scheduler.

`FakeCluster` keeps both, so that a test can change the cluster and ask again; `filter_all` and `score_all` ask one
plugin about one pod.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from kubesched.api import EventType, KubeObject, Pod, WatchEvent, kind_of
from kubesched.errors import PluginError
from kubesched.framework import (
    HOOKS,
    CycleState,
    Handle,
    Plugin,
    PluginEvents,
    Profile,
    RecordEvent,
    Services,
    Status,
    VirtualClock,
    find_feasible,
)
from kubesched.metrics import MetricsOfPlugins
from kubesched.plugins import DefaultBinder, PrioritySort
from kubesched.scheduler import build_frameworks, start_plugins, stop_plugins, straight
from kubesched.session import attempt
from kubesched.setup import EventLoop
from kubesched.state import ClusterState, Nodes


def minimal_profile(*plugins: Plugin, weights: Mapping[str, int] | None = None) -> Profile:
    """A profile of these plugins alone, in this order; PrioritySort and DefaultBinder where none sorts or binds.

    Args:
        weights: of score plugins; 1 for those that are not named.

    Example:
        assert minimal_profile(TeamZone(args)).weights == {"TeamZone": 1}
    """
    points = {point: [one for one in plugins if point in one.extension_points()] for point in HOOKS}
    helpers: list[Plugin] = []
    for point, helper in (("queueSort", PrioritySort), ("bind", DefaultBinder)):
        if not points[point]:
            helpers.append(helper())
            points[point].append(helpers[-1])
    return Profile(
        "default-scheduler",
        0,
        {point: tuple(called) for point, called in points.items()},
        {one.name: 1 for one in plugins} | dict(weights or {}),
        (*plugins, *helpers),
    )


class FakeCluster:
    """Plugins in a separate profile, over a cluster that the test fills and changes.

    The plugins are started, and stopped at the end of `with` or by `stop`.

    Args:
        plugins: in the order in which they are called.
        nodes, pods: the cluster; pods without a node wait and take no room.
        objects: of any other kind.

    Attributes:
        cluster_state: the cluster.
        framework: runs the plugins.

    Raises:
        PluginError: a plugin cannot be started.

    Example:
        with FakeCluster(TeamZone(args), nodes=[make_node("n1", zone="a")]) as cluster:
            assert cluster.score(make_pod("web", labels={"team": "shop"})) == {"n1": 100}
    """

    def __init__(
        self,
        *plugins: Plugin,
        nodes: Iterable[KubeObject] = (),
        pods: Iterable[Pod] = (),
        objects: Iterable[KubeObject] = (),
    ) -> None:
        self.cluster_state = ClusterState()
        self.cluster_state.load([(kind_of(known), known) for known in (*nodes, *pods, *objects)])
        self._loop = EventLoop()
        self._metrics, self._events = MetricsOfPlugins(), PluginEvents()
        services = Services(clock=VirtualClock(), metrics_of=self._metrics.of, record_event=self._events.record)
        (self.framework,) = build_frameworks([minimal_profile(*plugins)], self.cluster_state, services).values()
        try:
            self._loop.run(start_plugins([self.framework]))
        except PluginError as error:
            # the error alone, without the stack traces of its causes; it has the place in the plugin's file
            raise PluginError(str(error), plugin=error.plugin, extension_point=error.extension_point) from None

    @property
    def handle(self) -> Handle:
        """What the plugins got from `start` on; each has its own, with its name."""
        return self.framework.handle

    @property
    def metrics(self) -> dict[str, float]:
        """What the plugins have counted, by the lines of /metrics.

        Example:
            assert cluster.metrics['kubesched_plugin_TeamZone_lookups_total{result="hit"}'] == 1
        """
        return self._metrics.samples()

    @property
    def events(self) -> tuple[RecordEvent, ...]:
        """The events that plugins have recorded with `handle.event`, each once.

        Example:
            assert [event.reason for event in cluster.events] == ["NoLicense"]
        """
        return self._events.events

    @property
    def nodes(self) -> Nodes:
        """The table of all nodes."""
        return self.cluster_state.snapshot().nodes

    def put(self, *objects: KubeObject) -> None:
        """Add objects, or change them to what they are here."""
        for known in objects:
            self.cluster_state.apply(WatchEvent(EventType.MODIFIED, kind_of(known), known))

    def remove(self, *objects: KubeObject) -> None:
        """Take objects away."""
        for known in objects:
            self.cluster_state.apply(WatchEvent(EventType.DELETED, kind_of(known), known))

    def stop(self) -> None:
        """Stop the plugins."""
        self._loop.close(stop_plugins([self.framework]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def filter(self, pod: Pod) -> dict[str, Status]:
        """Ask PreFilter and Filter. Returns: a status for every node, SUCCESS where the pod fits."""
        nodes = self.nodes
        diagnosis = find_feasible(self.framework, CycleState(self.cluster_state.pod_info(pod)), nodes)
        return {name: diagnosis.status_of(name) for name in nodes.names}

    def score(self, pod: Pod) -> dict[str, int]:
        """Ask PreScore and Score as well. Returns: the total of every node that fits; empty when every plugin skips.

        Raises:
            PluginError: a plugin failed, or a score is not between 0 and 100 after normalising.
        """
        tried = straight(attempt(self.framework, self.cluster_state.pod_info(pod)))
        if tried.score_failure is not None:
            fault = tried.score_failure
            raise PluginError(fault.located, plugin=fault.plugin, extension_point="score") from None
        scores = tried.scores
        if scores is None or not scores.by_plugin:
            return {}
        return dict(zip(scores.nodes.names, scores.total.tolist(), strict=True))


def filter_all(
    plugin: Plugin, pod: Pod, nodes: Sequence[KubeObject], pods: Iterable[Pod] = (), objects: Iterable[KubeObject] = ()
) -> dict[str, Status]:
    """Ask one plugin's PreFilter and Filter about every node.

    Returns: a status for every node, SUCCESS where the pod fits.
    Raises:
        PluginError: the plugin cannot be started.

    Example:
        verdicts = filter_all(TeamNodes(args), make_pod("web", labels={"team": "shop"}), [make_node("n1")])
        assert verdicts == {"n1": Status.SUCCESS}
    """
    with FakeCluster(plugin, nodes=nodes, pods=pods, objects=objects) as cluster:
        return cluster.filter(pod)


def score_all(
    plugin: Plugin, pod: Pod, nodes: Sequence[KubeObject], pods: Iterable[Pod] = (), objects: Iterable[KubeObject] = ()
) -> dict[str, int]:
    """One plugin's normalised scores of the nodes that pass its own filter, 0 to 100; empty when it skips the pod.

    Raises:
        PluginError: the plugin cannot be started, failed, or gave a score that is not between 0 and 100 after
            normalising.

    Example:
        scores = score_all(TeamZone(args), make_pod("web", labels={"team": "shop"}), [make_node("n1", zone="a")])
        assert scores == {"n1": 100}
    """
    with FakeCluster(plugin, nodes=nodes, pods=pods, objects=objects) as cluster:
        return cluster.score(pod)
