"""The steps of a drain as commands, for a ticket: what to save, to drain and to wait for, and how to undo it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import msgspec

from kubesched.documents import count, joined, listed, plural
from kubesched.explanation import command_about, command_lines, comments
from kubesched.pages.formats import Level, Paragraph, Part, grouped
from kubesched.pages.plans.drain_parts import NO_WAIT, by_interruption, workload_of
from kubesched.pages.plans.held_back import reasons_of
from kubesched.planning import BudgetUse, Drain, DrainedPod, Fate
from kubesched.session import workload_text

_MAX_SAVED: Final = 10
_N_NAMED: Final = 5
_ROLLED_OUT: Final = ("Deployment", "StatefulSet")
_WAITING: Final = "kubectl get pods -A --field-selector spec.nodeName=,status.phase=Pending -o name"
"""The pods that have no node yet; those that have one are Pending, too, until their containers start."""


def runbook(result: Drain, cluster: str) -> tuple[Part, ...]:
    """The steps and the way back; nothing without nodes, or if a name is not valid in a shell.

    Args:
        cluster: where the nodes are; empty where that is not known.
    """
    steps, undo = list(_steps(result)), list(_undo(result))
    if not result.nodes or not all(steps):
        return ()
    where = f"Cluster: {cluster}. " if cluster else ""
    return (
        Paragraph("Steps", Level.HEADING),
        Paragraph(f"{where}Nodes: {', '.join(result.nodes)}."),
        *map(Paragraph, _interrupted(result)),
        Paragraph("\n".join(steps), is_code=True, language="shell"),
        Paragraph("How to undo", Level.HEADING),
        *([Paragraph("\n".join(undo), is_code=True, language="shell")] if undo else []),
        Paragraph("Pods that run elsewhere then do not come back by themselves."),
    )


def _interrupted(result: Drain) -> Iterator[str]:
    """Who is interrupted, a sentence for each way."""
    for what, workloads in by_interruption(result).items():
        yield f"{what[0].upper()}{what[1:]}: {listed(workloads, first=_MAX_SAVED)}."
    if result.pushed_out:
        victims = dict.fromkeys(workload_text(victim.pod, victim.owner) for victim in result.pushed_out)
        yield f"Evicts pods of other nodes: {listed(victims, first=_MAX_SAVED)}."
    elsewhere = (pod for pod in result.pods if pod.node not in result.nodes)
    for sentence in _harmed(elsewhere, result):
        yield f"Elsewhere, {sentence}."


def _steps(result: Drain) -> Iterator[str]:
    """The lines, among them an empty one for a command with a name that is not valid."""
    lost = bare_pods(result)
    commands = save_commands(lost)
    if commands:
        yield "# the manifests of the pods that no controller has; noclobber keeps what an earlier drain saved"
        yield "set -o noclobber"
        yield "saved="
        yield " && ".join([*commands.values(), "saved=yes"])
    elif lost:
        yield f"# save the manifests of {count(len(lost), 'pod')} that no controller has"
    n = result.n_waiting
    yield f"# waits while more pods have no node than the {n:,} that are expected; Ctrl-C ends it"
    is_done = f'pods=$({_WAITING}) && [ "$(echo "$pods" | grep -c .)" -le {n} ]'
    yield f"wait_for_pods() {{ until {is_done}; do sleep 5; done; }}"
    yield "# all nodes first, so that no pod moves from one of them to another"
    yield command_about("kubectl cordon", *result.nodes)
    of_node = grouped(result.pods, lambda pod: pod.node)
    for node in result.nodes:
        pods = of_node.get(node, ())
        yield from chain.from_iterable(map(comments, _expected(node, pods, result)))
        command = drain_command([node], pods, is_silent=node in result.never_ends_on)
        is_saved_first = commands and any(pod.node == node for pod in lost)
        yield f'test "$saved" && {command}' if command and is_saved_first else command
        if any(pod.step for pod in pods):
            yield "wait_for_pods"
        yield from _rollouts(pods, result)


def _rollouts(pods: Sequence[DrainedPod], result: Drain) -> Iterator[str]:
    """The commands that wait for the workloads of which no pod runs in the meantime."""
    out = {workload_of(pod): pod for pod in pods if pod.step and workload_of(pod) in result.out_meanwhile}
    for pod in out.values():
        kind, _, name = pod.owner.partition("/")
        namespace = pod.pod.partition("/")[0]
        if kind in _ROLLED_OUT:
            words = ("kubectl", "rollout", "status", "-n", namespace, f"{kind.lower()}/{name}", "--timeout=10m")
            yield from command_lines(*words, names=(namespace, name))


def _expected(node: str, pods: Sequence[DrainedPod], result: Drain) -> Iterator[str]:
    """What to expect of the drain of a node, and what it deletes for good."""
    leaving = [pod for pod in pods if pod.fate not in (Fate.STAYS, Fate.GONE)]
    yield f"{node}: {count(len(leaving), 'pod has', 'pods have') if leaving else 'no pod has'} to leave"
    if bare := [pod.pod for pod in leaving if not pod.owner]:
        yield f"--force deletes for good, as no controller re-creates them: {listed(bare, _N_NAMED)}"
    if with_data := [pod.pod for pod in leaving if pod.has_local_data]:
        yield f"--delete-emptydir-data deletes the data in emptyDir volumes of {listed(with_data, _N_NAMED)}"
    yield from _stopped(leaving, result.budgets)
    yield from _harmed(leaving, result)


def _harmed(pods: Iterable[DrainedPod], result: Drain) -> Iterator[str]:
    """What becomes of pods that a drain can evict, and that do not run elsewhere then; --force names those it loses."""
    is_said = (Fate.BLOCKED, Fate.HANGS)
    harmed = tuple(pod for pod in pods if pod.fate not in is_said and (pod.owner or pod.fate is not Fate.LOST))
    alone = msgspec.structs.replace(result, pods=harmed, pushed_out=(), unreachable=(), faults=())
    for (why, fix), reasons in grouped(reasons_of(alone), lambda reason: (reason.why, reason.fix)).items():
        workloads = dict.fromkeys(reason.workload for reason in reasons)
        yield f"pods of {listed(workloads, _N_NAMED)} {why}"
        if fix:
            yield f"  before: {fix}"


def _stopped(leaving: Sequence[DrainedPod], budgets: Sequence[BudgetUse]) -> Iterator[str]:
    """Why the drain of a node does not end, and what has to be done before it."""
    held = {key for pod in leaving if pod.fate is Fate.BLOCKED for key in pod.budgets}
    blocking = (one for one in budgets if one.budget in held)
    for (why, fix), same in grouped(blocking, lambda one: (one.why, one.fix)).items():
        names = joined(one.budget for one in same)
        yield f"does not end: {plural(len(same), 'budget')} {names}: {why or 'it allows no eviction'}"
        if fix:
            yield f"  before: {fix}"
    for message, hanging in grouped(
        (one for one in leaving if one.fate is Fate.HANGS), lambda one: one.message
    ).items():
        yield f"{listed([one.pod for one in hanging], _N_NAMED)} would stay Terminating: {message}"
        yield f"  before: {hanging[0].fix}"


def _undo(result: Drain) -> Iterator[str]:
    if was_open := [node for node in result.nodes if node not in result.cordoned_before]:
        yield command_about("kubectl uncordon", *was_open)
    for namespace in save_commands(bare_pods(result)):
        yield "# without spec.nodeName, kube-scheduler chooses the node"
        yield f"kubectl apply -f {_file(namespace)}"


def bare_pods(result: Drain) -> list[DrainedPod]:
    """The pods that no controller would create again."""
    return [pod for pod in result.of(Fate.LOST) if not pod.owner]


def save_commands(pods: Sequence[DrainedPod]) -> dict[str, str]:
    """Namespace -> the command that saves some pods; none where there are too many, or a name is not valid.

    Args:
        pods: without a controller.
    """
    names: dict[str, list[str]] = {}
    for pod in pods:
        namespace, _, name = pod.pod.partition("/")
        names.setdefault(namespace, []).append(name)
    commands = {space: command_about("kubectl get pod -n", space, *of) for space, of in names.items()}
    if len(pods) > _MAX_SAVED or not all(commands.values()):
        return {}
    return {space: f"{command} -o yaml > {_file(space)}" for space, command in commands.items()}


def _file(namespace: str) -> str:
    return f"lost-{namespace}.yaml"


def drain_command(nodes: Sequence[str], pods: Sequence[DrainedPod], *, is_silent: bool) -> str:
    """The command that drains some nodes, with the flags that the pods on them need; empty if a name is not valid.

    Args:
        is_silent: whether no kubelet would confirm the end of a pod.
    """
    flags = {
        "--ignore-daemonsets": any(pod.message == "DaemonSet" for pod in pods),
        "--delete-emptydir-data": any(pod.has_local_data for pod in pods),
        "--force": any(pod.fate not in (Fate.STAYS, Fate.GONE) and not pod.owner for pod in pods),
        NO_WAIT: is_silent,
    }
    command = command_about("kubectl drain", *nodes)
    return " ".join([command, *(flag for flag, is_needed in flags.items() if is_needed)]) if command else ""
