"""Reads the input of a command, the snapshot and the setup; notes on it go to standard error."""

import logging
import os
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.general_options import has_full_notes, is_quiet
from kubesched.cli.inputs import InputOptions, SetupOptions
from kubesched.cli.json_log import json_log
from kubesched.cli.live_cluster import read_live
from kubesched.cli.output import print_text, progress_bar
from kubesched.cli.plugin_log import log_once
from kubesched.cli.release_options import named_release, release_for, unread_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubesched.api import KubeObject, Workload
    from kubesched.config import ConfigSource
    from kubesched.errors import InputError
    from kubesched.release import Release
    from kubesched.setup import Setup
    from kubesched.snapshot import ClusterObjects, MissingKinds


_WORKLOADS: Final = frozenset(("DaemonSet", "CronJob"))
"""Kinds that a manifest may have and a snapshot need not."""
EXPLAINED: Final = "explained as if created"
_ADVICE: Final = "; to add the pods of new workloads, use --manifest FILE"


def note(text: str) -> None:
    """Print a note, which is not a result, as one line on standard error, but for --quiet.

    A full disk or a reader that left does not matter.
    """
    if is_quiet():
        return
    if (log := json_log()) is not None:
        log.log(logging.INFO, text, logger="kubesched")
        return
    with suppress(OSError):
        print_text(f"kubesched: note: {text}".replace("\n", "\\n"), is_error=True)


def read_cluster(
    inputs: InputOptions, *, kinds: Collection[str] = (), may_be_empty: bool = False, may_lack_nodes: bool = False
) -> "ClusterObjects":
    """Load a snapshot, or without one the live cluster, and report what was left out of it.

    Args:
        kinds: what plugins read, as in `reads`, in addition to what a scheduler reads.
        may_be_empty: whether the question has an answer without a node and a pending pod.
    Raises:
        InputError: it cannot be read.
        ClusterError: the API server did not answer, or this user may not list nodes or pods.
    """
    server, snapshots = "", inputs.snapshots
    if snapshots:
        cluster = _load(inputs, kinds)
        if cluster.taken_at is not None:
            from kubesched.pages.formats import age_sentence

            note(f"the {age_sentence(cluster.taken_at)}")
    else:
        cluster, access = read_live(inputs, kinds=kinds, on_wait=note)
        where = f"of the context {access.context}" if access.context else "of the cluster that this pod runs in"
        note(f"read {_counted(cluster)} {where} ({access.server})")
        server = access.server
    is_empty = not may_be_empty and _is_empty(cluster, may_lack_nodes=may_lack_nodes or not snapshots)
    has_workloads = not _WORKLOADS.isdisjoint(cluster.skipped) or bool(_new_workloads(cluster))
    if is_empty:
        raise _empty(cluster, server, snapshots[0] if has_workloads and snapshots else "")
    _note_left_out(cluster, _ADVICE if "manifests" in _parameters() else "")
    return cluster


def _is_empty(cluster: "ClusterObjects", *, may_lack_nodes: bool) -> bool:
    """Whether there is no node and no pod that waits for one, bad objects apart.

    Args:
        may_lack_nodes: whether a pod that waits is enough. The nodes that a file lacks are most often left out of it,
            unless it says that it lists them.
    """
    from kubesched.api import Node, Pod

    waiting = any(not pod.node_name and not pod.is_finished for pod in cluster.of(Pod))
    return not (cluster.bad or cluster.of(Node) or (waiting and (may_lack_nodes or "Node" in cluster.listed_kinds)))


def _empty(cluster: "ClusterObjects", server: str, manifest: str) -> "InputError":
    """The refusal of an empty cluster.

    Args:
        server: the API server that listed the objects; empty if they are from files.
        manifest: a file that has only new workloads, for the command that takes it; or empty.
    """
    from kubesched.api import Pod
    from kubesched.documents import count
    from kubesched.errors import InputError
    from kubesched.snapshot import SAVE_CLUSTER

    pods = cluster.of(Pod)
    what = f"{count(len(pods), 'pod')} and no node" if pods else "no node and no pod"
    if server:
        return InputError(f"the cluster has {what}, as {server} lists it; expected at least one node or a pending pod")
    command = f"kubesched fit cluster.json.gz -f {shlex.quote(manifest)}"
    then = f"; then `{command}` answers for new pods" if manifest else ""
    others = Counter(cluster.skipped) + Counter(workload.kind for workload in _new_workloads(cluster))
    what += f" but {kinds}" if (kinds := _kinds(others)) else ""
    return InputError(f"the snapshot has {what}; expected a cluster, as `{SAVE_CLUSTER}` saves it{then}")


def _kinds(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {kind.partition('.')[0]}" for kind, n in sorted(counts.items()))


def _parameters() -> list[str | None]:
    """The parameters of the command that runs now."""
    context = click.get_current_context(silent=True)
    return [parameter.name for parameter in context.command.params] if context else []


def _load(inputs: InputOptions, kinds: Collection[str]) -> "ClusterObjects":
    from kubesched.snapshot import load_snapshot

    with progress_bar("reading") as progress:
        return load_snapshot(
            *inputs.snapshots,
            manifests=inputs.manifests,
            kinds=kinds,
            skip_bad_objects=inputs.skip_bad_objects,
            progress=progress,
            release=named_release(inputs.setup),
        )


def _counted(cluster: "ClusterObjects") -> str:
    from kubesched.documents import count

    kinds = cluster.kinds
    return f"{count(kinds.get('Node', 0), 'node')} and {count(kinds.get('Pod', 0), 'pod')}"


def _note_left_out(cluster: "ClusterObjects", advice: str) -> None:
    """Note what was not read.

    Args:
        advice: for workloads.
    """
    from kubesched.snapshot import left_out_sentences

    for sentence in cluster.bad:
        note(f"left out: {sentence}")
    new = _new_workloads(cluster)
    owners = _owners(cluster) if new or _WORKLOADS.intersection(cluster.skipped) else set()
    there = Counter(owner.kind for owner in owners)  # without these objects nothing is missing
    left_out = {kind: n - there[kind] for kind, n in cluster.skipped.items() if n > there[kind]}
    offered = advice if _WORKLOADS.intersection(left_out) else ""
    without_pods = _kinds(Counter(workload.kind for workload in new - owners))
    notes = [f"without uid and without pods, as in a manifest: {without_pods}{advice}"] if without_pods else []
    for sentence in (*left_out_sentences(left_out, advice=offered), *notes, *cluster.notes, *_homeless(cluster)):
        note(sentence)
    note_missing(cluster.missing)


def note_missing(missing: "Sequence[MissingKinds]") -> None:
    """Note what is decided without kinds that the snapshot lacks; in brief, unless --notes is given."""
    if has_full_notes():
        sentences = list(map(str, missing))
    else:
        sentences = [kinds.brief for kinds in missing]
        sentences[-1:] = [f"{last}; --notes says which, and how to add them" for last in sentences[-1:]]
    for sentence in sentences:
        note(sentence)


def _new_workloads(cluster: "ClusterObjects") -> "set[Workload]":
    """The workloads among the objects that no API server has stored."""
    from kubesched.api import Deployment, ReplicaSet, ReplicationController, StatefulSet, Workload, kind_of

    kinds = (Deployment, ReplicaSet, ReplicationController, StatefulSet)
    return {
        Workload(kind_of(owner), owner.namespace, owner.name)
        for owner in cluster
        if isinstance(owner, kinds) and not owner.metadata.uid and owner.metadata.controller is None
    }


def _owners(cluster: "ClusterObjects") -> "set[Workload]":
    """The workloads that have pods in the snapshot."""
    from kubesched.api import Pod, PodOwners, ReplicaSet

    owners = PodOwners(cluster.of(ReplicaSet))
    return {owners.workload_of(pod) for pod in cluster.of(Pod) if pod.metadata.controller is not None}


def _homeless(cluster: "ClusterObjects") -> list[str]:
    """Pods that run on nodes which the snapshot lacks."""
    from kubesched.api import Node, Pod
    from kubesched.documents import count, listed

    nodes = {node.name for node in cluster.of(Node)}
    pods = [p for p in cluster.of(Pod) if p.node_name and p.node_name not in nodes and not p.is_finished]
    if not pods:
        return []
    missing = sorted({pod.node_name for pod in pods})
    where = f"{count(len(missing), 'node')} that the snapshot does not have ({listed(missing)})"
    return [f"{count(len(pods), 'pod')} on {where}: not counted"]


def read_both(
    inputs: InputOptions, *, kinds: Collection[str] = (), may_be_empty: bool = False, names_unread: bool = True
) -> "tuple[ClusterObjects, Setup]":
    """Read a cluster and what decides, with the calls of extenders if they are asked for.

    Without --config, the configuration is that of the snapshot, if it has one.

    Args:
        kinds: what the command reads beside the kinds of a scheduler.
        may_be_empty: as for `read_cluster`.
        names_unread: whether a note names the fields that the version does not read; else `note_unread` has to.
    Raises:
        InputError, ClusterError, PluginDefinitionError: as from `read_cluster` and `read_setup`.
        ConfigError: a certificate, key, authority or address of an extender cannot be used.
    """
    from kubesched.config import ConfigSource

    named = inputs.setup.kubernetes_version
    setup, log_warnings = read_setup_in_any_version(inputs.setup) if named is None else (None, None)
    if setup is None:
        setup = read_setup(inputs.setup, release=release_for(None, inputs.setup, named)[0])
    cluster = read_cluster(inputs, kinds={*setup.read_kinds, *kinds}, may_be_empty=may_be_empty)
    release, about_version = release_for(cluster, inputs.setup, named, names_unread=names_unread)
    if about_version:
        note(about_version)
    if release != setup.release:
        setup = read_setup(inputs.setup, release=release)
    elif log_warnings is not None:
        log_warnings()
    if cluster.scheduler_config and inputs.setup.config is None:
        note("the configuration is the schedulerConfig of the snapshot; --config FILE replaces it")
        text = cluster.scheduler_config.decode()
        source = ConfigSource("schedulerConfig of the snapshot", text, inputs.snapshots[0])
        setup = read_setup(inputs.setup, source, release)
    if inputs.snapshots:
        note_missing_kinds(cluster, setup.read_kinds)
    return cluster, _calling_extenders(setup, inputs.extenders)


def note_unread(release: "Release", objects: "Iterable[KubeObject]") -> None:
    """Note the fields of a cluster, with the pods in question, that the version does not read."""
    if words := unread_words(release, objects):
        note(words)


def note_missing_kinds(cluster: "ClusterObjects", kinds: Iterable[str]) -> None:
    """Note the kinds that only plugins read and that files have no object of: the plugins find nothing there."""
    from kubesched.api import Unstructured, kind_named

    there = cluster.listed_kinds | cluster.kinds.keys()
    for name in kinds:
        kind = kind_named(name)
        if kind.type is Unstructured and kind.key not in there:
            save = f"`kubesched snapshot --keep {name.removesuffix('?')} -o cluster.json.gz`"
            note(f"a plugin reads {kind.resource}, and the snapshot has none; {save} stores them")


def read_setup(
    options: SetupOptions, config: "ConfigSource | None" = None, release: "Release | None" = None
) -> "Setup":
    """Read the configuration and load the plugins; log from the level in LOG_LEVEL on, by default warnings.

    Args:
        config: the configuration, where --config does not name it.
        release: the version of Kubernetes that decides; None for the default.
    Raises:
        InputError: the configuration cannot be read or is not valid, or LOG_LEVEL is not a level.
        PluginDefinitionError: a plugin does not load.
    """
    from kubesched.release import DEFAULT_RELEASE
    from kubesched.setup import set_up

    _log_from_level()
    return set_up(config or options.config, options.references, options.plugin_args, release=release or DEFAULT_RELEASE)


def read_setup_in_any_version(options: SetupOptions) -> "tuple[Setup, Callable[[], None]]":
    """The same before it is known which version decides: as the first one that accepts the configuration.

    Returns: what is read, and what logs warnings about it, which is to be called if its version decides.
    Raises:
        InputError, PluginDefinitionError: as from `read_setup`.
    """
    from kubesched.setup import set_up_in_any_version

    _log_from_level()
    return set_up_in_any_version(options.config, options.references, options.plugin_args)


def _log_from_level() -> None:
    log_once()
    if "LOG_LEVEL" in os.environ:
        from kubesched.serving import set_up_logging

        set_up_logging(os.environ)


def _calling_extenders(setup: "Setup", extenders: str) -> "Setup":
    """The setup, which calls the extenders of its configuration if --extenders says so."""
    configured = setup.configuration.extenders
    if not configured:
        return setup
    if extenders == "skip":
        urls = ", ".join(extender.shown_url for extender in configured)
        note(f"extenders are not called without --extenders call: {urls}")
        return setup
    from kubesched.extender_client import ExtenderCaller

    return setup.calling(ExtenderCaller(configured))


def note_refused(objects: "Iterable[KubeObject]", then: str, keys: Collection[str] | None = None) -> None:
    """Note which pods of manifests an API server would not create, the same ones as in a simulation.

    Args:
        objects: the cluster with the objects of the manifests.
        then: what becomes of these pods here.
        keys: `namespace/name` of the pods that the command is about; None for all.
    """
    from kubesched.documents import count, listed
    from kubesched.planning import new_pods
    from kubesched.session import refused_pods

    stored = list(objects)
    refused: dict[str, list[str]] = {}
    for key, fault in refused_pods(stored, new_pods(stored)).items():
        if keys is None or key in keys:
            refused.setdefault(fault, []).append(key)
    for fault, of in refused.items():
        note(f"the API server would not create {count(len(of), 'pod')} ({listed(of)}): {fault}; {then}")
