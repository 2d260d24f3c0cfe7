"""Explains one pod: of the cluster, or a new one from a file."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kubesched.cli.new_pod import new_pod
from kubesched.cli.queue_place import QueuePlace, queue_place
from kubesched.cli.reports import print_report
from kubesched.pages.formats import Format

if TYPE_CHECKING:
    from kubesched.admission import RefusedReplicas
    from kubesched.api import KubeObject, Pod
    from kubesched.explanation import Explanation
    from kubesched.pages.formats import Page
    from kubesched.release import DecidingVersion
    from kubesched.setup import Setup
    from kubesched.snapshot import ClusterObjects


class View(NamedTuple):
    """Which part of an explanation is shown: the options of these names."""

    by: str
    nodes: tuple[str, ...]
    all_nodes: bool
    queue: bool | None

    def closely(self, cluster: "ClusterObjects", pod: "Pod") -> list[str] | None:
        """The nodes that are looked at closely beside the nearest ones; None for all.

        Raises:
            InputError: there is no such node.
        """
        from kubesched.api import Node
        from kubesched.naming import full_names

        if pod.is_finished:  # no node is looked at
            return []
        if self.nodes:
            return full_names([node.name for node in cluster.of(Node)], self.nodes, "--node: ")
        return None if self.all_nodes else []


class ExplainQuestion(NamedTuple):
    """What the question is about, and how the answer is printed.

    Attributes:
        again: the command with the same cluster and setup.
    """

    cluster: "ClusterObjects"
    setup: "Setup"
    again: str
    output: str

    @property
    def version(self) -> "DecidingVersion":
        """The version of Kubernetes whose rules decide."""
        import msgspec

        from kubesched.snapshot import version_of

        return msgspec.structs.replace(version_of(self.cluster), release=self.setup.release)


def print_pod(
    question: ExplainQuestion, pod: "Pod", view: View, refused: "Sequence[RefusedReplicas]" = ()
) -> list[str]:
    """Print why a pod of the cluster goes to its node, or why none fits.

    Args:
        refused: its workload, if the API server refuses further pods of it.
    Returns: the pod, if a plugin failed for it.
    """
    import msgspec

    from kubesched.explanation import command_about
    from kubesched.pages.simulations import with_refused

    cluster = question.cluster
    wants_queue = bool(view.queue) and not pod.node_name
    simulated, explanation = _with_place(question, pod.key, view.closely(cluster, pod), wants_queue=wants_queue)
    gang = (simulated and simulated.gang) or explanation.gang
    explanation = msgspec.structs.replace(explanation, refused=_refusal(cluster, pod), gang=gang)
    queue = "" if simulated is None else simulated.sentence(explanation)
    page = _page(question, explanation, view, command_about(question.again, pod.key), queue)
    if simulated is not None:
        page = _with_queue(page, simulated.document(explanation))
    return _print(question, explanation, with_refused(page, refused))


def _with_place(
    question: ExplainQuestion, pod: str, nodes: list[str] | None, *, wants_queue: bool
) -> "tuple[QueuePlace | None, Explanation]":
    """The place of a pod in the queue, which is simulated without extenders; and why it goes to its node."""
    from kubesched.explanation import MAX_FIXES, Explainer
    from kubesched.planning import new_pods
    from kubesched.session import Session

    cluster, place = question.cluster, None
    new = new_pods(cluster) if wants_queue else frozenset()
    with Session(cluster, question.setup, new=new) as session:
        if wants_queue:
            with session.scheduler.extenders.left_out():
                place = queue_place(session, pod)
        session.start_bound()
        return place, next(Explainer(session).each(pod, max_fixes=MAX_FIXES, nodes=nodes))


def print_new_pod(question: ExplainQuestion, file: str, view: View) -> list[str]:
    """The same for a pod of a file, which is not in the cluster."""
    import msgspec

    from kubesched.explanation import explain

    pod, cluster, admitted = new_pod(file, question.cluster, question.setup.release)
    explanation = explain(cluster, pod, question.setup, nodes=view.closely(question.cluster, pod))
    explanation = msgspec.structs.replace(explanation, refused=_refusal(admitted, pod))
    again = f"{question.again} --pod {shlex.quote(file)}" if question.again else ""
    return _print(question, explanation, _page(question, explanation, view, again))


def _refusal(cluster: "Iterable[KubeObject]", pod: "Pod") -> str:
    """Why the API server does not create a pod of a manifest; empty if it does."""
    from kubesched.controllers import is_from_manifest

    if not is_from_manifest(pod):
        return ""
    from kubesched.planning import new_pods
    from kubesched.session import refused_pods

    objects = list(cluster)
    return refused_pods(objects, new_pods(objects)).get(pod.key, "")


def _with_queue(page: "Page", queue: Mapping[str, Any]) -> "Page":
    import msgspec

    document = {**page.document, "queue": queue}
    return msgspec.structs.replace(page, document=document, lines=(document,))


def _print(question: ExplainQuestion, explanation: "Explanation", page: "Page") -> list[str]:
    print_report(page, question.output)
    return [explanation.pod.key] if explanation.failure is not None else []


def _page(question: ExplainQuestion, explanation: "Explanation", view: View, again: str, queue: str = "") -> "Page":
    import msgspec

    from kubesched.naming import full_names
    from kubesched.pages.explanations import explanation_page, node_page

    if view.nodes and explanation.ended is None:
        names = explanation.nodes.names
        page = node_page(explanation, [names.index(name) for name in full_names(names, view.nodes, "--node: ")])
        return msgspec.structs.replace(page, next_command=again)
    return explanation_page(
        explanation,
        all_nodes=view.all_nodes,
        by_plugin=view.by == "plugin",
        every_verdict=question.output == Format.HTML,
        queue=queue,
        again=again,
    )
