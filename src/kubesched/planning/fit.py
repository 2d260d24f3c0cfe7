"""Would these pods fit into a cluster, and how many of them: answered by simulating the cluster with them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import msgspec

from kubesched.api import KubeObject
from kubesched.errors import InputError
from kubesched.planning.asked import Asked, PodsLike, asked_of
from kubesched.planning.most import most_that_fit
from kubesched.planning.runs import Runs, has_place, placements_of
from kubesched.reports import Shown
from kubesched.scheduler import TieBreak
from kubesched.setup import ArgsLike, ConfigurationLike, PluginLike
from kubesched.simulator import Placement, Progress, Report

__all__ = ["Fit", "fit", "fit_asked"]

_NO_ARGS: Mapping[str, ArgsLike] = {}
_MAX_PODS: Final = 500_000


class Fit(Shown, msgspec.Struct, frozen=True, eq=False):
    """Which of the new pods would fit.

    Attributes:
        placements: one for each new pod, in their order.
        report: of the whole simulation: also pods that were pending before, victims, and the fill of nodes.
        is_maximum: whether the largest number of pods was asked for; then all have a node.
        next_left: of the largest number: the pod that does not fit any more.
        workloads: whom the new pods belong to, such as `Deployment shop/web`.
        added_nodes: names of nodes that were added for the question.
        notes: what a user should know about the manifests.
        taken_at: when the snapshot was taken, if that is known.

    Example:
        answer = fit(load_snapshot("cluster.json"), {"cpu": "2", "memory": "4Gi"}, replicas=16)
        print(answer.n_fit, "of", answer.n_asked)
    """

    placements: tuple[Placement, ...]
    report: Report
    is_maximum: bool = False
    next_left: Placement | None = None
    workloads: tuple[str, ...] = ()
    added_nodes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    taken_at: datetime | None = None

    @property
    def n_asked(self) -> int:
        """How many pods were tried."""
        return len(self.placements)

    @property
    def n_fit(self) -> int:
        """How many of the new pods have a node in the end."""
        return sum(map(has_place, self.placements))

    @property
    def first_left(self) -> Placement | None:
        """The first new pod without a node; of the largest number the next one."""
        return self.next_left or next((one for one in self.placements if not has_place(one)), None)

    @property
    def all_fit(self) -> bool:
        """Whether every new pod has a node."""
        return self.n_fit == self.n_asked


def fit(
    snapshot: Iterable[KubeObject],
    pods: PodsLike,
    configuration: ConfigurationLike = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    replicas: int | None = None,
    maximum: bool = False,
    tie_break: TieBreak = TieBreak.FIRST,
    seed: int = 0,
    progress: Progress | None = None,
) -> Fit:
    """Simulate a cluster with new pods.

    Pods that are pending already are tried first, as far as they have the same priority or a higher one.

    Args:
        snapshot: the cluster, as load_snapshot gives it.
        pods: a manifest or several (files, `-`, open streams), the requests of one pod, or objects with new pods.
        configuration, plugins, plugin_args, tie_break, seed: as for Simulator.
        replicas: how many pods instead of the number in the manifest, which has one workload then.
        maximum: ask for the largest number that fits. That many fit, and one more does not.
        progress: called with how many pods have been tried and how many there are.
    Raises:
        InputError: a manifest, the configuration or an argument is not valid.

    Example:
        answer = fit(load_snapshot("cluster.json"), "pod.yaml", maximum=True)
        print(answer.n_fit, answer.first_left.message)
    """
    asked = asked_of(pods, list(snapshot))
    runs = Runs(configuration, plugins, plugin_args, tie_break=tie_break, seed=seed)
    return fit_asked(snapshot, asked, runs, replicas=replicas, maximum=maximum, progress=progress)


def fit_asked(
    snapshot: Iterable[KubeObject],
    asked: Asked,
    runs: Runs,
    *,
    replicas: int | None = None,
    maximum: bool = False,
    progress: Progress | None = None,
) -> Fit:
    """The answer for pods that are admitted already; arguments as for `fit`."""
    if replicas is not None and maximum:
        raise InputError("replicas and maximum are mutually exclusive: one gives the number, the other asks for it")
    if replicas is not None and not 1 <= replicas <= _MAX_PODS:
        raise InputError(f"replicas: found {replicas}; expected 1 to {_MAX_PODS}")
    cluster = list(snapshot)
    who = tuple(map(str, asked.workloads))
    taken_at: datetime | None = getattr(snapshot, "taken_at", None)
    if maximum:
        most = most_that_fit(cluster, asked, runs, progress)
        placements = placements_of(most.new, most.report)
        return Fit(placements, most.report, True, most.next_left, who, notes=asked.notes, taken_at=taken_at)
    new = asked.objects(replicas)
    report = runs.run([*cluster, *new], progress).report
    return Fit(placements_of(new, report), report, workloads=who, notes=asked.notes, taken_at=taken_at)
