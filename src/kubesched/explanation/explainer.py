"""Loads a cluster once and explains any of its pods, pending or placed."""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Final, Self

import msgspec

from kubesched.api import DeviceClass, KubeObject, Pod, completed, ignored_fields, on_node
from kubesched.controllers import why_it_hangs
from kubesched.errors import InputError
from kubesched.explanation.absent_drivers import absent_drivers
from kubesched.explanation.change import Edit
from kubesched.explanation.evaluate import evaluate
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.explanation import Explanation, explained
from kubesched.explanation.fix import Fix
from kubesched.explanation.fixes import MAX_FIXES, fixes
from kubesched.explanation.gang import gang_fits, may_be_of_gang
from kubesched.explanation.trial import applied
from kubesched.explanation.unscheduled import ended_of
from kubesched.explanation.upgrade_fix import upgrade_fixes
from kubesched.framework import Diagnosis, Framework, Services
from kubesched.naming import find_pod
from kubesched.plugins import RuleOfVersion, gate_is_off
from kubesched.release import Release
from kubesched.scheduler import Aside, no_profile
from kubesched.session import GangFit, Session
from kubesched.setup import ArgsLike, ConfigurationLike, ExtenderCalls, PluginLike, Profiles, Setup
from kubesched.snapshot import as_read

_EXTENDED: Final = "DRAExtendedResource"
_NO_ARGS: Mapping[str, ArgsLike] = {}


class Explainer:
    """Explains pods of one cluster, which is built once and does not change. Close it, or use it in a `with` statement.

    Args:
        snapshot: the objects of the cluster; pods without a node are pending and take no room. Or a session at rest.
        configuration, plugins, plugin_args: what decides, as for load_configuration; or a Setup or profiles that were
            built from them.
        extender_calls: calls the extenders of the configuration, and is closed with this; without it they are not
            asked.
        nominations: whether pending pods that are nominated to a node keep their room there, as in kube-scheduler.

    Attributes:
        pending: the pods that some profile of the setup serves, highest priority first, then in the snapshot's order.
        foreign: the pending pods that no profile serves.

    Raises:
        InputError: the configuration cannot be read or is not valid.
        PluginError: a plugin cannot be loaded or started.

    Example:
        with Explainer(load_snapshot("cluster.json")) as explainer:
            for explanation in explainer.each(["shop/web-7"]):
                print(explanation.best, explainer.fixes(explanation))
    """

    def __init__(
        self,
        snapshot: Iterable[KubeObject] | Session,
        configuration: ConfigurationLike | Setup | Profiles = None,
        plugins: Iterable[PluginLike] = (),
        plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
        *,
        nominations: bool = True,
        extender_calls: ExtenderCalls | None = None,
    ) -> None:
        self._last: tuple[Explanation, Evaluation] | None = None
        self._asked: Pod | None = None
        if isinstance(snapshot, Session):
            self.session = snapshot
        else:
            decides = configuration, plugins, plugin_args
            self.session = Session(snapshot, *decides, extender_calls=extender_calls, starts_bound=False)
        self.cluster_state, self.frameworks = self.session.cluster_state, self.session.frameworks
        waiting = self.session.waiting()
        self._finished = self.session.finished()
        names = self.frameworks.keys()
        self.pending = sorted((pod for pod in waiting if pod.scheduler_name in names), key=lambda pod: -pod.priority)
        self.foreign = [pod for pod in waiting if pod.scheduler_name not in names]
        self.session.scheduler.aside = Aside(self._nominated if nominations else tuple, Services().activate)

    def _nominated(self) -> list[Pod]:
        """The pending pods; the cluster state knows one only while a fix is tried that changes it."""
        known = [self.cluster_state.objects.get("Pod", pod.key) or pod for pod in self.pending]
        return [pod for pod in known if isinstance(pod, Pod)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the plugins. Explain nothing afterwards: plugins may have given up what their hooks need."""
        self.session.close()

    def explain(
        self, pod: str | Pod, *, preempt: bool = True, max_fixes: int = 0, nodes: Collection[str] | None = ()
    ) -> Explanation:
        """Explain a pod that is not on a node.

        Args:
            pod: `namespace/name` of a pending pod of the cluster, or any pod.
            preempt: whether to ask what PostFilter plugins would do when no node fits.
            max_fixes: how many fixes to look for at most, as `fixes` does.
            nodes: the nodes that are looked at closely beside those that are nearest to fitting; None for all nodes.
        Raises:
            InputError: there is no such pod, it runs, or no profile serves it.
        """
        return self._explained(self.evaluate(pod, preempt=preempt), max_fixes, nodes)

    def _explained(self, evaluation: Evaluation, max_fixes: int = 0, nodes: Collection[str] | None = ()) -> Explanation:
        if max_fixes:
            self.fixes(evaluation, max_fixes=max_fixes)
        pod = evaluation.pod
        if not evaluation.runs_on and may_be_of_gang(pod):
            evaluation.gang = self._gang(pod)
        if not evaluation.runs_on and pod.claim_names:
            evaluation.absent_drivers = absent_drivers(pod, evaluation.feasible, self.session.get)
        explanation = explained(evaluation, nodes, self.session.version)
        self._last = explanation, evaluation
        return explanation

    def _gang(self, pod: Pod) -> GangFit | None:
        """The gang of a pod that waits, which need not be in the cluster."""
        known = self.session.get("Pod", pod.key)
        others = (one for one in self.session.objects_now() if one is not known)
        return next(iter(gang_fits([*others, pod], [pod])), None)

    def evaluate(self, pod: str | Pod, *, preempt: bool = True) -> Evaluation:
        """Evaluate a pod that is not on a node: the plugins behind it give details until the next pod is evaluated.

        Args:
            pod, preempt: as for `explain`.
        Raises:
            InputError: there is no such pod, it runs, or no profile serves it.
        """
        self._last = None
        if isinstance(pod, str):
            pod = self._found(pod)
            if is_running(pod):
                raise InputError(f'pod {pod.key} runs on {pod.node_name}; each(["{pod.key}"]) explains pods that run')
        self._asked = pod
        framework = self.frameworks.get(pod.scheduler_name)
        if framework is None:
            missing = no_profile(pod.scheduler_name, self.frameworks)
            raise InputError(f"pod {pod.key}: {missing}; add a profile with this schedulerName to the configuration")
        if pod.is_finished:
            return self._ended(framework, pod)
        info = self.cluster_state.pod_info(pod)
        asked = evaluate(framework, info, preempt=preempt, take_node=True, extenders=self.session.extenders)
        evaluation = self.session.ask(asked)
        evaluation.version_rules += (*_unread(pod, self.session.version.release), *self._unserved(evaluation))
        return evaluation

    def _unserved(self, evaluation: Evaluation) -> Iterator[RuleOfVersion]:
        """That device classes would serve resources of a pod that fits nowhere, if the gate were on."""
        release, wanted = self.session.version.release, evaluation.info.requests.value.wanted
        for one in () if evaluation.fits or release.has(_EXTENDED) else self.cluster_state.objects.list("DeviceClass"):
            written = self.session.get("DeviceClass", one.key)
            name = written.spec.extended_resource_name if isinstance(written, DeviceClass) else ""
            if name and wanted.get(name, 0) > 0:
                yield gate_is_off(release, _EXTENDED, f"does not let DeviceClass {one.name} serve {name}")

    def _ended(self, framework: Framework, pod: Pod) -> Evaluation:
        """Explain a pod that nothing schedules again."""
        info, snapshot = self.cluster_state.pod_info(pod), framework.handle.snapshot()
        placed = (one for one in self.cluster_state.objects.list("Pod") if isinstance(one, Pod))
        ended = ended_of(pod, (*self.pending, *self.foreign, *placed))
        profile, diagnosis = framework.profile.scheduler_name, Diagnosis(snapshot.n_nodes)
        return Evaluation(info=info, profile=profile, snapshot=snapshot, diagnosis=diagnosis, ended=ended)

    def each(
        self,
        pods: str | Pod | Iterable[str | Pod],
        *,
        preempt: bool = True,
        max_fixes: int = 0,
        nodes: Collection[str] | None = (),
    ) -> Iterator[Explanation]:
        """Explain pods one after another. A pod that is on a node is explained as if it were still pending.

        Args:
            pods: `namespace/name` of pods of the cluster, or pods; or one of either.
            preempt, max_fixes, nodes: as for `explain`.
        Raises:
            InputError: there is no such pod, or no profile serves it.
        """
        return (self._explained(one, max_fixes, nodes) for one in self.evaluations(pods, preempt=preempt))

    def evaluations(
        self, pods: str | Pod | Iterable[str | Pod], *, preempt: bool = True
    ) -> Generator[Evaluation, None, None]:
        """Evaluate pods one after another, as for `each`; each evaluation is valid until the next one is asked for."""
        chosen = [pods] if isinstance(pods, str | Pod) else pods
        for pod in (self._found(pod) if isinstance(pod, str) else completed(pod) for pod in chosen):
            if not is_running(pod):
                yield self.evaluate(pod, preempt=preempt)
                continue
            with applied(self.cluster_state, (Edit("Pod", pod.key, lambda pod: None),)):
                evaluation = self.evaluate(unplaced(pod), preempt=preempt)
                evaluation.runs_on = pod.node_name
                evaluation.hangs = why_it_hangs(pod, self.cluster_state)
                yield evaluation
            self._last = None  # the evaluation is valid only without the pod

    def _found(self, name: str) -> Pod:
        on_a_node = self.cluster_state.objects.get("Pod", name)
        if isinstance(on_a_node, Pod):
            return on_a_node
        others = (*self.pending, *self.foreign, *self._finished)
        called_so = next((pod for pod in others if pod.key == name), None)
        return called_so or find_pod((*others, *self.cluster_state.objects.list("Pod")), name)

    def _written(self, evaluation: Evaluation) -> Pod:
        """The pod with the fields that the version does not read."""
        key = evaluation.pod.key
        known = self.session.get("Pod", key) if evaluation.runs_on else self._asked
        return unplaced(known) if isinstance(known, Pod) and known.key == key else evaluation.pod

    def fixes(self, explanation: Explanation | Evaluation, *, max_fixes: int = MAX_FIXES) -> tuple[Fix, ...]:
        """Find what makes an explained pod fit, best first; see `fixes`."""
        if isinstance(explanation, Evaluation):
            given = {key for kind, key in self.session.assumed if kind == "Node"}
            framework, asked = self.frameworks[explanation.profile], explanation.pod
            waiting = [one for one in self.pending if one.key != asked.key]
            found = fixes(framework, explanation, max_fixes=max_fixes, given=given, waiting=waiting)
            if max_fixes > 1 or not found:  # an upgrade is the last one, and goes before the last of many others
                upgrade = tuple(upgrade_fixes(explanation, self._written(explanation), self.session, Explainer))
                found = explanation.fixes = (*found[: max_fixes - len(upgrade)], *upgrade)
            return found
        if self._last is not None and self._last[0] is explanation:
            return self.fixes(self._last[1], max_fixes=max_fixes)
        pod = explanation.pod.key if explanation.runs_on else explanation.pod
        with closing(self.evaluations([pod])) as again:
            return self.fixes(next(again), max_fixes=max_fixes)


def _unread(pod: Pod, release: Release) -> Iterator[RuleOfVersion]:
    """The fields of a pod that a version does not read."""
    for field in ignored_fields(release, [pod]):
        yield RuleOfVersion(f"{release.version} does not read {field.spelled} (feature gate {field.gate})")


def explain(
    snapshot: Iterable[KubeObject],
    pod: str | Pod,
    configuration: ConfigurationLike | Setup | Profiles = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    extender_calls: ExtenderCalls | None = None,
    nodes: Collection[str] | None = (),
) -> Explanation:
    """Explain where a pod can go, and why not elsewhere.

    The cluster is built for each call. An `Explainer` builds it once for many pods.

    Args:
        snapshot: the objects of the cluster, as load_snapshot gives them.
        pod: `namespace/name` of a pod in the snapshot, or any pod. If it is on a node, it is explained as if it were
            not there yet; if it has ended, only that is reported. If the snapshot has a pod of that name, that one is
            left out.
        configuration, plugins, plugin_args: what decides, as for load_configuration.
        extender_calls: calls the extenders of the configuration; without it they are not asked.
        nodes: as for `Explainer.explain`.
    Raises:
        InputError: there is no such pod, no profile serves it, or the configuration cannot be read.
        PluginError: a plugin cannot be loaded or started.

    Example:
        explanation = explain(load_snapshot("cluster.json"), "shop/web-7")
        print(explanation.message or explanation.best[0])
    """
    read = as_read(snapshot)
    asked = pod if isinstance(pod, Pod) else find_pod(read.objects, pod)
    objects = (asked if isinstance(obj, Pod) and obj.key == asked.key else obj for obj in read)
    with_asked = msgspec.structs.replace(read, objects=tuple(objects))
    with Explainer(with_asked, configuration, plugins, plugin_args, extender_calls=extender_calls) as explainer:
        return next(explainer.each(asked, max_fixes=MAX_FIXES, nodes=nodes))


def is_running(pod: Pod) -> bool:
    """Whether the pod takes room on a node."""
    return bool(pod.node_name) and not pod.is_finished


def unplaced(pod: Pod) -> Pod:
    """The pod before it was placed.

    Example:
        assert not unplaced(make_pod("web", node="n1")).node_name
    """
    return on_node(pod, "") if pod.node_name else pod
