"""The extenders of the configuration: which are asked about a pod, and what follows from their answers.

An answer takes time, so everything here is a coroutine that awaits `perform` and `perform_all`. Rule: kube-scheduler
v1.36 HTTPExtender, findNodesThatPassExtenders, prioritizeNodes, callExtenders, extendersBinding. Ignorable extenders
come after the others. Differences: null for the victims of a node, on which kube-scheduler ends, is an error; a
returned node that the cluster does not have is an error; and the objects of an answer count by their names, as v1.32
has it, but without pods and images (`ReturnedNodes`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Node, Pod
from kubesched.config import ExtenderConfig
from kubesched.engine import IntVector
from kubesched.errors import ExtenderError
from kubesched.framework import ActionDone, CallExtender, Code, Logger, PluginFault, Status, VictimsOf
from kubesched.scheduler.extender_scores import ExtenderScores, weighted_scores
from kubesched.scheduler.last_answers import LastAnswers
from kubesched.scheduler.suspension import perform, perform_all
from kubesched.state import Nodes, PodInfo, ReturnedNodes, Snapshot
from kubesched.wire import (
    BindingArgs,
    FilterAnswer,
    HostPriority,
    MetaPod,
    MetaVictims,
    as_kube_scheduler_sends,
    binding_error,
    binding_request,
    meta_preemption_request,
    name_of,
    names_request,
    nodes_request,
    parse_filter_answer,
    parse_preemption_answer,
    parse_priorities,
    preemption_request,
)

Plan = Mapping[str, VictimsOf]
EXTENDER: Final = "Extender"
"""The name under which extenders count among the plugins that rejected a pod."""

_NO_REASON: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


class ExtenderAnswer(msgspec.Struct):
    """What an extender said to filter or prioritize, for explanations.

    Attributes:
        extender: its urlPrefix.
        verb: filter or prioritize.
        offered: the names of the nodes that it was asked about.
        rejected: why it rejects nodes, by name; a status without reasons where it does not say.
        added: what it adds to the scores of these nodes; None where it gave no scores.
        error: why it gave no valid answer; empty where it did.
        seconds: until the answer; 0 where it was not measured.
    """

    extender: str
    verb: str
    offered: list[str]
    rejected: dict[str, Status] = {}
    added: IntVector | None = None
    error: str = ""
    seconds: float = 0.0

    @property
    def scores(self) -> dict[str, int]:
        """What it adds to the scores of nodes, by name."""
        return {} if self.added is None else dict(zip(self.offered, self.added.tolist(), strict=True))


class Extenders:
    """The extenders of a configuration, and the bodies of nodes that they were sent.

    Args:
        configured: in the order of the configuration.
        logger: gets a message for each error that an attempt survives.
    """

    def __init__(self, configured: Iterable[ExtenderConfig], logger: Logger) -> None:
        self._in_order = sorted(configured, key=lambda extender: extender.ignorable)
        self.logger = logger
        self._bodies: dict[str, tuple[Node, bytes]] = {}  # of nodes, by name
        self.last_answers = LastAnswers()
        self.may_filter = any(extender.filter_verb for extender in self._in_order)
        self.may_score = any(extender.prioritize_verb for extender in self._in_order)

    def __len__(self) -> int:
        return len(self._in_order)

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Ask none of them within the block."""
        in_order, self._in_order = self._in_order, []
        try:
            yield
        finally:
            self._in_order = in_order

    def of(self, pod: PodInfo) -> "PodExtenders":
        """Those that are interested in a pod: they manage no resources, or one that a container lists."""
        names = _listed_resources(pod.pod) if self._in_order else ()
        interested = [
            extender
            for extender in self._in_order
            if not extender.managed_resources or any(one.name in names for one in extender.managed_resources)
        ]
        return PodExtenders(self, interested, pod)

    async def preempt(self, pod: PodInfo, snapshot: Snapshot, victims: Plan) -> Plan:
        """See `PodExtenders.preempt`."""
        return await self.of(pod).preempt(snapshot, victims)

    async def bind(self, pod: PodInfo, node_name: str) -> Status | None:
        """See `PodExtenders.bind`."""
        return await self.of(pod).bind(node_name)

    def body_of(self, node: Node, n_nodes: int) -> bytes:
        """A node as kube-scheduler sends it; kept until the node changes, and for about as many as there are."""
        known = self._bodies.get(node.name)
        if known is not None and known[0] is node:
            return known[1]
        while len(self._bodies) > 2 * n_nodes:
            del self._bodies[next(iter(self._bodies))]
        body = as_kube_scheduler_sends(node.raw)
        self._bodies[node.name] = node, body
        return body


class PodExtenders:
    """The extenders that are interested in one pod, during one attempt.

    Attributes:
        answers: what they said to filter and prioritize, in order.
    """

    def __init__(self, extenders: Extenders, interested: Sequence[ExtenderConfig], info: PodInfo) -> None:
        self._extenders = extenders
        self._interested = interested
        self._info = info
        self.answers: list[ExtenderAnswer] = []
        self._body = b""
        self._named: tuple[list[str], bytes] = ([], b"")  # the last request with names
        self._returned: dict[str, bytes] = {}  # nodes as an extender returned them, by name

    def __bool__(self) -> bool:
        return bool(self._interested)

    # --- filter ---

    async def filter(self, nodes: Nodes, rejected: dict[str, Status]) -> Nodes:
        """Ask one extender after the other which of some nodes stay.

        Args:
            nodes: a table of the cluster, in the order in which an extender is to see it.
            rejected: takes the reasons of those that do not, by name. Some have none.
        Returns: the survivors, in the order of the last answer.
        Raises:
            ExtenderError: an extender that is not ignorable failed, or answered nonsense.
        """
        columns, self._returned = nodes.columns, {}
        for extender in self._interested:
            if not extender.filter_verb or not len(nodes):
                continue
            said = self._begin(extender, "filter", nodes.names)
            try:
                names = await self._filter_by(extender, nodes, said)
            except ExtenderError as error:
                said.error = str(error)
                if not extender.ignorable:
                    raise
                self.note(f"extender {extender.shown_url}", error)
                continue
            rejected.update({name: status for name, status in said.rejected.items() if status.reasons})
            if names != said.offered:
                nodes = Nodes(columns, np.array([columns.row_of[name] for name in names], dtype=np.intp))
        return ReturnedNodes(nodes) if self._returned and len(nodes) else nodes

    async def _filter_by(self, extender: ExtenderConfig, nodes: Nodes, said: ExtenderAnswer) -> list[str]:
        """The survivors by name, all of them nodes of the cluster."""
        body = self._nodes_body(extender, nodes, said.offered)
        answered = await self._ask(extender, "filter", body, said)
        answer = self._extenders.last_answers.read(extender, "filter", answered, said.offered, parse_filter_answer)
        if answer.error:
            raise ExtenderError(answer.error)
        survivors = self._survivors(extender, said.offered, answer)
        if survivors == said.offered and not answer.failed and not answer.unresolvable:
            return said.offered
        if not nodes.columns.row_of.keys() >= set(survivors):
            name = next(name for name in survivors if name not in nodes.columns.row_of)
            where = f'extender "{extender.shown_url}"'
            raise ExtenderError(f'{where} returned the node "{name}", which the cluster does not have')
        said.rejected = dict.fromkeys(set(said.offered).difference(survivors), _NO_REASON)
        said.rejected |= _statuses(Status.unschedulable, answer.failed)
        said.rejected |= _statuses(Status.unresolvable, answer.unresolvable)
        return survivors

    def _begin(self, extender: ExtenderConfig, verb: str, names: list[str]) -> ExtenderAnswer:
        said = ExtenderAnswer(extender.shown_url, verb, names)
        self.answers.append(said)
        return said

    def _survivors(self, extender: ExtenderConfig, offered: list[str], answer: FilterAnswer) -> list[str]:
        if extender.node_cache_capable and answer.names is not None:
            if answer.names != offered and (unknown := set(answer.names).difference(offered)):
                raise ExtenderError(
                    f'extender "{extender.shown_url}" claims a filtered node '
                    f'"{next(name for name in answer.names if name in unknown)}" '
                    "which is not found in the input node list"
                )
            return answer.names
        if answer.nodes is None:
            return []
        self._returned = {name_of(raw): bytes(raw) for raw in answer.nodes}
        return [name_of(raw) for raw in answer.nodes]

    # --- prioritize ---

    async def prioritize(self, nodes: Nodes) -> list[ExtenderScores]:
        """Ask all at once how good some nodes are. One that fails gives no scores, ignorable or not."""
        names = nodes.names
        calls = [
            CallExtender(extender, "prioritize", self._info.pod, self._nodes_body(extender, nodes, names))
            for extender in self._interested
            if extender.prioritize_verb
        ]
        done = iter(await perform_all(calls) if calls else ())
        given = []
        for extender in self._interested:
            if not extender.prioritize_verb:
                given.append(weighted_scores(extender, [HostPriority(name, 0) for name in names], names))
                continue
            said = self._begin(extender, "prioritize", names)
            try:
                scores = self._scores(extender, _answer(next(done), said), names)
            except ExtenderError as error:
                said.error = str(error)
                self.note(f"extender {extender.shown_url}", error)
                continue
            given.append(scores)
            said.added = scores.scores
        return given

    def _scores(self, extender: ExtenderConfig, answer: bytes, names: list[str]) -> ExtenderScores:
        return self._extenders.last_answers.read(
            extender,
            "prioritize",
            answer,
            names,
            lambda body: weighted_scores(extender, parse_priorities(body), names),
        )

    # --- preempt ---

    async def preempt(self, snapshot: Snapshot, victims: Plan) -> Plan:
        """Ask one extender after the other which nodes stay candidates for preemption, and with which victims.

        Args:
            victims: by node name.
        Returns: the same, from the last answer.
        Raises:
            PluginFault: an extender that is not ignorable failed, or answered nonsense.
        """
        for extender in self._interested:
            if not extender.preempt_verb or not victims:
                continue
            try:
                answer = parse_preemption_answer(
                    await self._ask(extender, "preempt", self._victims_body(extender, victims))
                )
                chosen = {name: _victims_in(extender, snapshot, name, meta) for name, meta in answer.items()}
            except ExtenderError as error:
                if not extender.ignorable:
                    raise PluginFault(Status.error(str(error))) from error
                self.note(f"extender {extender.shown_url}", error)
                continue
            if not extender.ignorable and (empty := [name for name, of in chosen.items() if not of.pods]):
                raise PluginFault(Status.error(f'expected at least one victim pod on node "{empty[0]}"'))
            victims = {name: of for name, of in chosen.items() if of.pods}
        return victims

    # --- bind ---

    async def bind(self, node_name: str) -> Status | None:
        """Have the first extender that binds bind the pod.

        Returns: what came of it; None where no extender binds it, or all that would are ignorable and failed.
        """
        pod = self._info.pod
        body = binding_request(BindingArgs(pod.name, pod.namespace, pod.uid, node_name))
        for extender in self._interested:
            if not extender.bind_verb:
                continue
            try:
                error = binding_error(await self._ask(extender, "bind", body))
                if error:
                    raise ExtenderError(error)
            except ExtenderError as error:
                if not extender.ignorable:
                    return Status.error(str(error))
                self.note(f"extender {extender.shown_url}", error)
                continue
            return Status.SUCCESS
        return None

    # --- what is sent ---

    def note(self, what: str, error: ExtenderError) -> None:
        """Log an error that the attempt survives."""
        self._extenders.logger.info("pod %s: %s: %s; the attempt goes on", self._info.pod.key, what, error)

    async def _ask(self, extender: ExtenderConfig, verb: str, body: bytes, said: ExtenderAnswer | None = None) -> bytes:
        return _answer(await perform(CallExtender(extender, verb, self._info.pod, body)), said)

    def _pod_body(self) -> bytes:
        if not self._body:
            self._body = as_kube_scheduler_sends(self._info.pod.raw, is_pod=True)
        return self._body

    def _nodes_body(self, extender: ExtenderConfig, nodes: Nodes, names: list[str]) -> bytes:
        if extender.node_cache_capable:
            if self._named[0] != names:
                self._named = names, names_request(self._pod_body(), names)
            return self._named[1]
        n_nodes = nodes.columns.n_nodes
        bodies = (
            self._returned.get(name) or self._extenders.body_of(nodes.node(position), n_nodes)
            for position, name in enumerate(names)
        )
        return nodes_request(self._pod_body(), bodies)

    def _victims_body(self, extender: ExtenderConfig, victims: Plan) -> bytes:
        if extender.node_cache_capable:
            meta = {
                name: MetaVictims(tuple(MetaPod(info.pod.uid) for info in of.pods), of.n_pdb_violations)
                for name, of in victims.items()
            }
            return meta_preemption_request(self._pod_body(), meta)
        whole = {
            name: ([_victim_body(info.pod) for info in of.pods], of.n_pdb_violations) for name, of in victims.items()
        }
        return preemption_request(self._pod_body(), whole)


def _victim_body(pod: Pod) -> bytes:
    """With its node, which the JSON of an assumed pod lacks."""
    return as_kube_scheduler_sends(pod.raw, is_pod=True, node_name=pod.node_name)


def _statuses(make: Callable[[str], Status], texts: Mapping[str, str]) -> dict[str, Status]:
    """The statuses of nodes, one object for each text: an answer may have a million names, and few texts."""
    made = {text: make(text) for text in set(texts.values())}
    return {name: made[text] for name, text in texts.items()}


def _answer(done: ActionDone, said: ExtenderAnswer | None = None) -> bytes:
    if said is not None:
        said.seconds = done.seconds
    if done.error:
        raise ExtenderError(done.error)
    assert isinstance(done.answer, bytes)
    return done.answer


def _listed_resources(pod: Pod) -> set[str]:
    """The resources that a container or init container requests or limits, whatever the amount."""
    names: set[str] = set()
    for container in (*(pod.spec.containers or ()), *(pod.spec.init_containers or ())):
        resources = container.resources
        if resources is not None:
            names.update(resources.requests or (), resources.limits or ())
    return names


def _victims_in(extender: ExtenderConfig, snapshot: Snapshot, name: str, meta: MetaVictims) -> VictimsOf:
    """The pods of an answer, which has their uids.

    Raises:
        ExtenderError: the node or a pod on it is not known.
    """
    position = snapshot.nodes.position_of(name)
    if position is None:
        raise ExtenderError(f'nodeinfo not found for node name "{name}"')
    there = {info.pod.uid: info for info in snapshot.nodes.pods(position)}
    pods = []
    for pod in meta.pods:
        info = there.get(pod.uid)
        if info is None:
            raise ExtenderError(
                f"extender: {extender.shown_url} claims to preempt pod (UID: &{{{pod.uid}}}) on node: {name}, "
                "but the pod is not found on that node"
            )
        pods.append(info)
    return VictimsOf(tuple(pods), meta.n_pdb_violations)
