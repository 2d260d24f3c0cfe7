"""Completes names of pods, workloads, nodes, zones and namespaces from the SNAPSHOTs that are on the line already."""

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.completion import complete_files
from kubesched.cli.standard_streams import STANDARD_STREAM
from kubesched.cli.targets import split_targets

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kubesched.api import KubeObject, Pod, Workload

Completion = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
_Names = Callable[[Collection["KubeObject"], click.Context], Iterable[str]]
_MOST: Final = 200  # names; of more, the shell gets their beginnings up to the next slash


def _completing(kinds: Collection[str], names: _Names, *, or_files: bool = False) -> Completion:
    """`shell_complete` of a parameter that takes names of objects.

    Args:
        kinds: of the objects that have the names.
        or_files: whether the parameter takes files too: they are completed where no name begins so.
    """

    def complete(context: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        known = dict.fromkeys(names(_objects(context, kinds), context))
        begun = sorted(name for name in known if name.startswith(incomplete))
        if not begun and "/" not in incomplete:  # pods and workloads without their namespaces
            begun = sorted({last for name in known if (last := name.partition("/")[2]).startswith(incomplete)})
        if begun or not or_files:
            return [CompletionItem(name) for name in _shortened(begun, incomplete)]
        return complete_files(context, param, incomplete)

    return complete


def _shortened(names: Collection[str], incomplete: str) -> Collection[str]:
    if len(names) <= _MOST:
        return names
    begin = len(incomplete)
    return dict.fromkeys(name[:begin] + "".join(name[begin:].partition("/")[:2]) for name in names)


def _objects(context: click.Context, kinds: Collection[str]) -> "list[KubeObject]":
    """The objects of the files on the line; none where they cannot be read: a shell has no place for a message."""
    from kubesched.errors import KubeschedError
    from kubesched.snapshot import read_outlines

    words = (*(context.params.get("snapshots") or ()), *context.args)  # click stops at an option without its value
    files = [file for file in split_targets(words).snapshots if file != STANDARD_STREAM]
    try:
        return read_outlines(files, kinds)
    except (KubeschedError, ValueError, OSError, MemoryError, RecursionError):
        return []


def _node_names(objects: Collection["KubeObject"], context: click.Context) -> Iterable[str]:
    return (known.name for known in objects)


def _zones(objects: Collection["KubeObject"], context: click.Context) -> Iterable[str]:
    from kubesched.api import Node

    return filter(None, (node.zone for node in objects if isinstance(node, Node)))


def _namespaces(objects: Collection["KubeObject"], context: click.Context) -> Iterable[str]:
    return (known.namespace or known.name for known in objects)


def _pod_names(objects: Collection["KubeObject"], context: click.Context) -> Iterable[str]:
    """Pods and their workloads: with -n those of the namespace, without it in front."""
    from kubesched.naming import typed_name

    pods, workloads = _pods_and_workloads(objects)
    names = [*(pod.key for pod in pods), *map(typed_name, workloads)]
    if namespace := context.params.get("namespace"):
        return (name.removeprefix(f"{namespace}/") for name in names if name.startswith(f"{namespace}/"))
    return names


def _scaled(objects: Collection["KubeObject"], context: click.Context) -> Iterable[str]:
    from kubesched.naming import typed_name

    return (f"{typed_name(workload)}=" for workload in _pods_and_workloads(objects)[1])


def _pods_and_workloads(objects: Collection["KubeObject"]) -> "tuple[list[Pod], set[Workload]]":
    from kubesched.api import Pod, PodOwners

    pods, owners = [known for known in objects if isinstance(known, Pod)], PodOwners(objects)
    return pods, {owners.workload_of(pod) for pod in pods if pod.metadata.controller is not None}


_OF_PODS: Final = ("Pod", "ReplicaSet")
complete_nodes: Final = _completing(("Node",), _node_names)
complete_nodes_or_files: Final = _completing(("Node",), _node_names, or_files=True)
complete_zones: Final = _completing(("Node",), _zones)
complete_namespaces: Final = _completing(("Pod", "Namespace"), _namespaces)
complete_pods: Final = _completing(_OF_PODS, _pod_names)
complete_pods_or_files: Final = _completing(_OF_PODS, _pod_names, or_files=True)
complete_scaled: Final = _completing(_OF_PODS, _scaled)
_AMONG_SNAPSHOTS: Final = {"POD": complete_pods_or_files, "NODE": complete_nodes_or_files}


def complete_among_snapshots(context: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """The same for an argument that takes files and the names that its metavar says."""
    complete = next(
        (_AMONG_SNAPSHOTS[word] for word in _AMONG_SNAPSHOTS if word in (param.metavar or "")), complete_files
    )
    return complete(context, param, incomplete)
