"""replay: runs a trace on a cluster in memory, in virtual time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubesched.api import KubeObject, Node, Pod
from kubesched.controllers import is_bound_to_node
from kubesched.documents import count, listed
from kubesched.errors import InputError
from kubesched.replay.cluster_samples import ClusterSamples
from kubesched.replay.pod_runs import waits_of
from kubesched.replay.replay_result import Replay
from kubesched.replay.timeline import Timeline
from kubesched.scheduler import TieBreak
from kubesched.session import Progress, Session
from kubesched.setup import ArgsLike, ConfigurationLike, ExtenderCalls, PluginLike, Profiles, Setup
from kubesched.snapshot import ClusterObjects, as_read
from kubesched.traces import GPU_MODEL, Trace, models_asked

_NO_ARGS: Mapping[str, ArgsLike] = {}
_N_SAMPLES: Final = 400


def replay(
    trace: Trace,
    nodes: Iterable[KubeObject] = (),
    configuration: ConfigurationLike | Setup | Profiles = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    every: float | None = None,
    tie_break: TieBreak = TieBreak.FIRST,
    seed: int = 0,
    extender_calls: ExtenderCalls | None = None,
    progress: Progress | None = None,
) -> Replay:
    """Have the pods of a trace come and end on a cluster in virtual time, through queue, backoff and preemption.

    The duration of a pod counts from its binding. An evicted pod comes again, if the trace or its controller says so.

    Args:
        trace: as from `read_trace`.
        nodes: nodes, or a cluster, in the place of the nodes of the trace. Of its pods, only those that belong to their
            node stay, such as those of a DaemonSet.
        configuration, plugins, plugin_args: as for a Simulator.
        every: seconds between two samples; by default there are some 400 samples.
        tie_break, seed, extender_calls: as for a Simulator.
        progress: called with how much has happened, and how much there is.
    Raises:
        InputError: the trace has no pods, there are no nodes, or a setting is not valid.
        ConfigError, PluginError: as from a Simulator.

    Example:
        answer = replay(read_trace("pods.csv", "nodes.csv"))
        print(answer.series["pending"][-1], "pods are pending at the end")
    """
    cluster, notes = _cluster(trace, nodes)
    if every is not None and not 0 < every < float("inf"):
        raise InputError(f"every: found {every:g}; expected a number of seconds above 0")
    pods = [arrival.pod for arrival in trace.arrivals]
    every_node = [*cluster.of(Node), *(change.node for change in trace.changes)]
    found = (configuration, plugins, plugin_args)
    with Session(cluster, *found, tie_break=tie_break, seed=seed, extender_calls=extender_calls) as session:
        session.clock.advance_to(trace.begin)
        samples = ClusterSamples(session, pods, every_node)
        timeline = Timeline(trace, session, samples, every or _horizon(trace) / _N_SAMPLES)
        left = session.carry_out(timeline, progress)
        timeline.sample(session.clock.seconds)
        runs = (*timeline.runs, *timeline.left_over())
        return Replay(
            trace.begin,
            session.clock.seconds,
            samples.columns,
            samples.resources,
            waits_of(runs),
            runs,
            left,
            timeline.n_lost,
            samples.fragmentation.n_shapes,
            samples.fragmentation.covered,
            (*trace.notes, *notes, *_unknown_models(pods, every_node)),
            trace.name,
            session.version,
        )


def _cluster(trace: Trace, nodes: Iterable[KubeObject]) -> tuple[ClusterObjects, tuple[str, ...]]:
    """The cluster without the pods that the trace stands for, and notes on it."""
    if not trace.arrivals:
        raise InputError(f"{trace.name or 'the trace'} has no pods; expected a list of pods with their times")
    given = as_read(nodes)
    if not given.objects:
        given = ClusterObjects(trace.nodes)
    kept = tuple(one for one in given if not isinstance(one, Pod) or is_bound_to_node(one))
    cluster = msgspec.structs.replace(given, objects=kept)
    if not cluster.of(Node) and not trace.changes:
        raise InputError(f"{trace.name or 'the trace'} has no nodes; expected a list of nodes, or a snapshot with some")
    twice = {pod.key for pod in cluster.of(Pod)} & {arrival.pod.key for arrival in trace.arrivals}
    if twice:
        raise InputError(f"in the trace and in the cluster: {listed(sorted(twice))}; expected each pod once")
    n_out = len(given.objects) - len(kept)
    return cluster, (f"of the cluster, {count(n_out, 'pod is', 'pods are')} left out",) if n_out else ()


def _horizon(trace: Trace) -> float:
    """How long the trace takes, if no pod waits."""
    ends = (arrival.at + (arrival.duration or 0.0) for arrival in trace.arrivals)
    return max(trace.end, *ends) - trace.begin


def _unknown_models(pods: Sequence[Pod], nodes: Iterable[Node]) -> Iterator[str]:
    """That pods ask for models of GPUs that no node has: they stay pending."""
    known = {node.labels.get(GPU_MODEL) for node in nodes}
    unknown: dict[str, int] = {}
    for pod in pods:
        models = models_asked(pod)
        if models and known.isdisjoint(models):
            name = " or ".join(models)
            unknown[name] = unknown.get(name, 0) + 1
    if unknown:
        counted = listed([f"{name} ({count(n, 'pod')})" for name, n in sorted(unknown.items())])
        yield f"no node has the GPU model that pods ask for, which stay pending: {counted}"
