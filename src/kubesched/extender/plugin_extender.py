"""Serves the plugins of a setup by the extender protocol, without HTTP and without a connection to the cluster.

Requests come in as bodies and leave as answers; changes from a watch come in as events. The server, the replay of
recorded requests, and tests all drive this one class.
"""

from collections.abc import Iterable, Sequence
from random import Random

from msgspec.structs import replace

from kubesched.api import EventType, KubeObject, Pod, WatchEvent
from kubesched.errors import InputError
from kubesched.extender.binder import Binder
from kubesched.extender.offer import BINDING_POINTS, Offer, find_offer
from kubesched.extender.pods_in_flight import PodsInFlight
from kubesched.extender.requested_nodes import NodeSource
from kubesched.extender.requested_pods import RequestedPods
from kubesched.extender.verbs import Verbs
from kubesched.extender.watched_kinds import check_needs_no_watch, counting_filters, watched_kinds
from kubesched.framework import Bind, Clock, Framework, Profile, Services, WaitingPod
from kubesched.plugins import DefaultBinder
from kubesched.scheduler import build_frameworks, load_cluster, perform, wait
from kubesched.setup import Setup
from kubesched.state import ClusterState


class ClusterWrites:
    """What an extender asks of the API server; this one has none."""

    async def find_pod(self, namespace: str, name: str) -> Pod | None:
        """The pod as it is now; None when there is none."""
        raise NotImplementedError

    async def create_binding(self, action: Bind) -> str:
        """Write a Binding, idempotently. Returns: what went wrong, empty for success."""
        raise NotImplementedError


class Extender:
    """All verbs over one cluster state.

    Attributes:
        cluster_state: the cluster as requests or the watch have shown it.
        frameworks: by scheduler name.
        offer: the verbs that the plugins take part in.
        kinds: what a watch is to bring.
        verbs: filter, prioritize and preempt with all plugins of a profile.
        singles: the same with one plugin each, by its name.
        pods_in_flight: pods that filter let pass and whose node is not known yet; None where no filter reads pods.
        binder: bind; None without a cluster to write to.
    """

    def __init__(
        self,
        setup: Setup,
        *,
        clock: Clock,
        is_watched: bool,
        writes: ClusterWrites | None = None,
        offers_bind: bool = False,
        preemption_helps: bool = False,
        allow_on_timeout: bool = False,
        rng: Random | None = None,
        services: Services | None = None,
    ) -> None:
        """Put the plugins of a setup to work.

        Args:
            setup: made without the default plugins, since kube-scheduler runs those itself.
            is_watched: whether the cluster comes in as events; else requests have to show whole nodes.
            writes: the way to the API server.
            offers_bind, preemption_helps, allow_on_timeout: as the options of the command.
            services: what else plugins get than the clock and what binding needs.
        Raises:
            InputError: no plugin is enabled, or one needs a watch or writes that are not there.
        """
        profiles = served_profiles(setup, offers_bind=offers_bind)
        self.offer: Offer = find_offer(profiles, bind=offers_bind)
        self.kinds = watched_kinds(profiles, bind=self.offer.bind)
        if not is_watched:
            check_needs_no_watch(profiles)
        if self.offer.bind and writes is None:
            raise InputError(
                "binding needs the API server: start the extender with --kubeconfig, or --in-cluster "
                f"({_why_bind(profiles, offers_bind)})"
            )
        self.cluster_state = ClusterState(setup.release)
        complete = [_with_binder(profile) for profile in profiles] if self.offer.bind else profiles
        waiting_pods: dict[str, WaitingPod] = {}
        services = replace(services or Services(), clock=clock, rng=rng or Random(0), waiting_pods=lambda: waiting_pods)
        if self.offer.bind:
            services = replace(services, perform=perform, wait=wait)
        self.frameworks = build_frameworks(complete, self.cluster_state, services)
        self.nodes = NodeSource(self.cluster_state, is_watched=is_watched, monotonic=clock.monotonic)
        self.pods = RequestedPods(self.cluster_state, is_watched=is_watched)

        def serve(frameworks: dict[str, Framework]) -> Verbs:
            return Verbs(
                frameworks,
                self.nodes,
                self.pods,
                preemption_helps=preemption_helps,
                allow_on_timeout=allow_on_timeout,
            )

        self.verbs = serve(self.frameworks)
        self.singles = {name: serve(frameworks) for name, frameworks in self._by_plugin(profiles).items()}
        self.pods_in_flight = PodsInFlight() if is_watched and counting_filters(profiles) else None
        self.binder = None
        if self.offer.bind and writes is not None:
            self.binder = Binder(
                self.frameworks,
                self.verbs.framework_of,
                self.cluster_state,
                waiting_pods,
                find_pod=writes.find_pod,
                create_binding=writes.create_binding,
                on_assumed=None if self.pods_in_flight is None else self.pods_in_flight.decided,
            )

    def load(self, objects: Iterable[KubeObject]) -> list[Pod]:
        """Take in the cluster that the watch begins with. Returns: the pods that wait, which are left out."""
        pending = load_cluster(self.cluster_state, objects)
        self.nodes.rows_changed()
        return pending

    def apply(self, events: Iterable[WatchEvent]) -> None:
        """Take in what the watch says."""
        row_of = self.cluster_state.columns.row_of
        for event in events:
            stays = event.kind != "Node" or (event.type is EventType.MODIFIED and event.object.name in row_of)
            self.cluster_state.apply(event)
            if self.pods_in_flight is not None:
                self.pods_in_flight.observe(event)
            if self.binder is not None:
                self.binder.observe(event)
            if not stays:
                self.nodes.rows_changed()

    def _by_plugin(self, profiles: Iterable[Profile]) -> dict[str, dict[str, Framework]]:
        """For each plugin, the profiles with nothing but it in them; nothing at all in those that do not have it."""
        names = dict.fromkeys(plugin.name for profile in profiles for plugin in profile.plugins)
        return {name: {key: framework.only(name) for key, framework in self.frameworks.items()} for name in names}


def served_profiles(setup: Setup, *, offers_bind: bool = False) -> Sequence[Profile]:
    """The profiles of a setup: with all plugins, some, or none, so that the pods of that one are not judged.

    Raises:
        InputError: no plugin is enabled, or none where kube-scheduler asks an extender.
    """
    profiles = setup.profiles
    names = dict.fromkeys(plugin.name for profile in profiles for plugin in profile.plugins)
    if not names:
        raise InputError(
            "no plugin to serve: name one with --plugin FILE.py:Class, or enable some in the profile of --config; "
            "the default plugins, also those that --config names, run in kube-scheduler"
        )
    if not find_offer(profiles, bind=offers_bind).verbs:
        points = {point for profile in profiles for point, called in profile.points.items() if called}
        raise InputError(
            f"{' and '.join(names)} would never be called: kube-scheduler calls an extender for filter, score, preempt "
            f"and bind; found only {' and '.join(sorted(points))}"
        )
    return profiles


def _with_binder(profile: Profile) -> Profile:
    """A profile that binds pods: by its own plugins, else as kube-scheduler does by default."""
    if profile.points["bind"]:
        return profile
    binder = DefaultBinder()
    return replace(profile, points={**profile.points, "bind": (binder,)}, plugins=(*profile.plugins, binder))


def _why_bind(profiles: Iterable[Profile], offers_bind: bool) -> str:
    for profile in profiles:
        for point in BINDING_POINTS:
            if profile.points[point]:
                return f"plugin {profile.points[point][0].name} takes part in {point}"
    return "--bind is given" if offers_bind else ""
