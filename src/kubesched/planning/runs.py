"""Simulates changed clusters one after another, each with the same configuration, plugins and ties."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from kubesched.api import KubeObject, Pod, completed, decode_object, kind_of
from kubesched.explanation import Explainer
from kubesched.framework import Decision
from kubesched.scheduler import TieBreak
from kubesched.session import Placement, PodState, Progress, Report, Session, Simulator
from kubesched.setup import ArgsLike, ConfigurationLike, ExtenderCalls, PluginLike, Setup, load_configuration, set_up

MakeExtenderCalls = Callable[[Setup], ExtenderCalls | None]
"""Makes what calls the extenders in one run; it is closed when the run ends."""

_NO_ARGS: Mapping[str, ArgsLike] = {}


class Ran:
    """The result of a run.

    Attributes:
        report: of the Simulator.
    """

    def __init__(self, report: Report, simulator: Simulator, before: Sequence[KubeObject]) -> None:
        self.report = report
        self._simulator = simulator
        self._before = before

    def objects(self) -> list[KubeObject]:
        """The cluster afterwards: placed pods have their nodes, victims are gone, volumes are bound.

        The objects are in the order of the cluster before, and volumes that the run provisioned follow.
        """
        return list(_afterwards(self._simulator, self._before))


class Runs:
    """Runs the Simulator as often as a question needs it. The configuration is read once.

    Args:
        configuration, plugins, plugin_args, tie_break, seed: as for Simulator, but no Setup: it serves one run.
        make_extender_calls: called for each run; without it extenders are not called.
    Raises:
        InputError, PluginDefinitionError: as from load_configuration.
    """

    def __init__(
        self,
        configuration: ConfigurationLike = None,
        plugins: Iterable[PluginLike] = (),
        plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
        *,
        tie_break: TieBreak = TieBreak.FIRST,
        seed: int = 0,
        make_extender_calls: MakeExtenderCalls | None = None,
    ) -> None:
        self._plugins = tuple(plugins)
        self._plugin_args = dict(plugin_args)
        self._configuration = load_configuration(configuration, self._plugins, self._plugin_args)
        self._tie_break = tie_break
        self._seed = seed
        self._make_extender_calls = make_extender_calls

    def run(
        self,
        objects: Iterable[KubeObject],
        progress: Progress | None = None,
        *,
        until: Callable[[Decision], bool] | None = None,
    ) -> Ran:
        """Simulate a cluster.

        Args:
            until: called with each decision; true ends the run.
        """
        known = [completed(one) for one in objects]
        setup = set_up(self._configuration, self._plugins, self._plugin_args)
        calls = self._make_extender_calls(setup) if self._make_extender_calls is not None else None
        simulator = Simulator(known, setup, tie_break=self._tie_break, seed=self._seed, extender_calls=calls)
        report = simulator.run(progress, until)
        return Ran(report, simulator, known)

    def explainer(self, objects: Iterable[KubeObject]) -> Explainer:
        """Explains pods of a cluster with the same configuration. Extenders are not called. Close it at the end."""
        return Explainer(map(completed, objects), set_up(self._configuration, self._plugins, self._plugin_args))

    def session(self, objects: Iterable[KubeObject]) -> Session:
        """A cluster for several steps, with the same configuration. Extenders are not called. Close it at the end."""
        setup = set_up(self._configuration, self._plugins, self._plugin_args)
        return Session(objects, setup, tie_break=self._tie_break, seed=self._seed)


def has_place(placement: Placement) -> bool:
    """Whether a pod has a node at the end of a run."""
    return placement.state is PodState.SCHEDULED and not placement.evicted_by


def placements_of(new: Iterable[KubeObject], report: Report) -> tuple[Placement, ...]:
    """The placements of the pods among new objects, in their order."""
    by_pod = {placement.pod: placement for placement in report.placements}
    return tuple(by_pod[one.key] for one in new if isinstance(one, Pod) and one.key in by_pod)


def _afterwards(simulator: Simulator, before: Sequence[KubeObject]) -> Iterator[KubeObject]:
    now = simulator.cluster_state.objects
    seen = set()
    for one in before:
        seen.add((kind_of(one), one.key))
        current = now.get(kind_of(one), one.key)
        placed = simulator.cluster_state.placed(one.uid) if isinstance(one, Pod) and not one.node_name else None
        if isinstance(one, Pod) and placed is not None:
            yield _bound(one, placed.pod.node_name)
        elif isinstance(one, Pod) and one.is_finished:
            yield one
        elif current is not None:
            yield current
    for kind in ("PersistentVolume", "PersistentVolumeClaim"):
        yield from (one for one in now.list(kind) if (kind, one.key) not in seen)


def _bound(pod: Pod, node: str) -> KubeObject:
    """The pod as it runs on a node, with all its fields."""
    document = pod.document
    document["spec"]["nodeName"] = node
    document["status"] = {"phase": "Running"}
    return decode_object("Pod", msgspec.json.encode(document))
