"""The steps of a drain as commands, for a ticket: what to save, to drain and to wait for, and how to undo it."""

from collections.abc import Iterator, Sequence

from kubesched.api import is_object_key
from kubesched.documents import count
from kubesched.pages.formats import Level, Paragraph, Part, command_about, grouped
from kubesched.pages.plans.drain_parts import NO_WAIT, namespace_and_name
from kubesched.planning import Drain, DrainedPod, Fate

_MAX_SAVED = 10


def runbook(result: Drain, cluster: str) -> tuple[Part, ...]:
    """The steps and the way back; nothing without nodes, or if a name is not valid in a shell.

    Args:
        cluster: where the nodes are; empty where that is not known.
    """
    steps, undo = list(_steps(result)), list(_undo(result))
    if not result.nodes or not all(map(command_of, steps)):
        return ()
    where = f"Cluster: {cluster}. " if cluster else ""
    return (
        Paragraph("Steps", Level.HEADING),
        Paragraph(f"{where}Nodes: {', '.join(result.nodes)}."),
        Paragraph("\n".join(steps), is_code=True, language="shell"),
        Paragraph("How to undo", Level.HEADING),
        Paragraph("\n".join(undo), is_code=True, language="shell"),
        Paragraph("Pods that run elsewhere then do not come back by themselves."),
    )


def command_of(line: str) -> str:
    """The command in a line, without the comment after it."""
    return line.partition("  #")[0]


def _steps(result: Drain) -> Iterator[str]:
    if lost := bare_pods(result):
        if commands := save_commands(lost):
            yield "set -o noclobber  # keeps what an earlier drain saved"
            yield from commands.values()
        else:
            yield f"# save the manifests of {count(len(lost), 'pod')} that no controller has"
    yield f"{command_about('kubectl cordon', *result.nodes)}  # all of them first: no pod moves from one to another"
    of_node = grouped(result.pods, lambda pod: pod.node)
    for node in result.nodes:
        pods = [pod for pod in of_node.get(node, ()) if pod.fate not in (Fate.STAYS, Fate.GONE)]
        yield f"{drain_command([node], of_node.get(node, ()), is_silent=node in result.never_ends_on)}{_hint(pods)}"
    n = sum(pod.fate is Fate.PENDING for pod in result.pods)
    expected = f"  # expect {count(n + result.n_pending_before, 'pod')}"
    yield f"kubectl get pods -A --field-selector status.phase=Pending{expected}"


def _hint(pods: Sequence[DrainedPod]) -> str:
    """What to expect of the drain of a node."""
    budgets = {budget for pod in pods if pod.fate is Fate.BLOCKED for budget in pod.budgets}
    blocked = sorted(filter(is_object_key, budgets))  # a line break in a name would begin a command
    moving = f"  # {count(len(pods), 'pod')}" if pods else "  # no pod"
    return f"{moving}; does not end: budget {', '.join(blocked)}" if blocked else moving


def _undo(result: Drain) -> Iterator[str]:
    if was_open := [node for node in result.nodes if node not in result.cordoned_before]:
        yield command_about("kubectl uncordon", *was_open)
    for namespace in save_commands(bare_pods(result)):
        yield f"kubectl apply -f {_file(namespace)}  # without spec.nodeName, kube-scheduler chooses the nodes"


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
        namespace, name = namespace_and_name(pod)
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
