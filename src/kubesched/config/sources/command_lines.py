"""Finds schedulers in pods and workloads: their command lines, and the files that are mounted into their containers."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.config.sources.flags import parse_flags, split_words
from kubesched.config.sources.given_objects import InputObject, list_at, map_at, one_line, text_at, value_at
from kubesched.documents import PlacedText

_TEMPLATES: Final = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(
        ("DaemonSet", "Deployment", "Job", "PodTemplate", "ReplicaSet", "ReplicationController", "StatefulSet"),
        ("spec", "template", "spec"),
    ),
}
WORKLOADS: Final = frozenset(_TEMPLATES)
"""The kinds with a pod, and Pod itself."""

_KUBESCHED: Final = "kubesched"


class Mounted(msgspec.Struct, frozen=True):
    """Where a file of a container comes from.

    Attributes:
        config_map: the name of its ConfigMap; empty for a file of the node.
        key: its key there, or its path on the node.
    """

    config_map: str
    key: str


class SchedulerCommand(msgspec.Struct, frozen=True):
    """The command line of a container that may be a scheduler.

    Attributes:
        title: its object, such as `Deployment kube-system/my-scheduler`.
        flags: by name, without dashes.
        place: the first word of the command line.
    """

    holder: InputObject
    title: str
    words: tuple[str, ...]
    flags: dict[str, str]
    place: PlacedText
    pod_spec: Any
    container: Any

    @property
    def is_kube_scheduler(self) -> bool:
        """Whether it is kube-scheduler, or kubesched in its place."""
        return "kube-scheduler" in map(_last, self.words) or self.is_kubesched

    @property
    def is_kubesched(self) -> bool:
        """Whether it is `kubesched scheduler`, whose Lease has another name."""
        return _KUBESCHED in map(_last, self.words) and "scheduler" in self.words

    @property
    def is_scheduler(self) -> bool:
        """Whether it is a scheduler by its name, not by what --config names."""
        names = (_last(text_at(self.container, "image")), text_at(self.container, "name"), *map(_last, self.words[:1]))
        named = any("sched" in name and "descheduler" not in name for name in names)
        return named or self.is_kube_scheduler

    def mounted(self, path: str) -> Mounted | None:
        """Where a file of the container comes from; None if no volume is mounted there."""
        mounts = [entry for entry in list_at(self.container, "volumeMounts") if _is_below(path, _mount_path(entry))]
        mount = max(mounts, key=lambda entry: len(_mount_path(entry)), default=None)
        if mount is None:
            return None
        below = path[len(_mount_path(mount)) :].strip("/")
        inside = "/".join(part for part in (text_at(mount, "subPath").strip("/"), below) if part)
        for volume in list_at(self.pod_spec, "volumes"):
            if text_at(volume, "name") == text_at(mount, "name"):
                return _in_volume(volume, inside)
        return None


def scheduler_commands(holder: InputObject) -> Iterator[SchedulerCommand]:
    """The command lines in a pod or workload, or those that kubeadm and k3s give to kube-scheduler."""
    if holder.kind not in WORKLOADS:
        yield from _of_installers(holder)
        return
    pod_spec = map_at(holder.value, *_TEMPLATES[holder.kind])
    containers = [one for field in ("initContainers", "containers") for one in list_at(pod_spec, field)]
    for container in containers:
        words = [w for field in ("command", "args") for w in list_at(container, field) if isinstance(w, PlacedText)]
        if words:
            name = one_line(text_at(container, "name"))
            title = f"{holder.title}, container {name}" if name and len(containers) > 1 else holder.title
            plain = split_words(words)
            yield SchedulerCommand(holder, title, plain, parse_flags(plain), words[0], pod_spec, container)


def _of_installers(holder: InputObject) -> Iterator[SchedulerCommand]:
    """The flags in kubeadm's ClusterConfiguration, `scheduler.extraArgs`, and in k3s' `kube-scheduler-arg`.

    Rule: kubeadm v1beta3: a mapping; v1beta4: a list of names and values. k3s: a list of NAME=VALUE.
    """
    if holder.kind == "ClusterConfiguration":
        given = [*map_at(holder.value, "scheduler", "extraArgs").items()]
        entries = list_at(holder.value, "scheduler", "extraArgs")
        given += [(text_at(entry, "name"), value_at(entry, "value")) for entry in entries]
        words = [(f"--{name}={value}", value) for name, value in given]
    else:
        words = [(f"--{word}", word) for word in list_at(holder.value, "kube-scheduler-arg") if not holder.kind]
    place = next((value for _, value in words if isinstance(value, PlacedText)), None)
    if place is None:
        return
    plain = ("kube-scheduler", *(word for word, _ in words))
    volumes = list_at(holder.value, "scheduler", "extraVolumes")
    container = {"volumeMounts": volumes}
    pod_spec = {
        "volumes": [{"name": value_at(one, "name"), "hostPath": {"path": value_at(one, "hostPath")}} for one in volumes]
    }
    title = holder.title or "kube-scheduler-arg"
    yield SchedulerCommand(holder, title, plain, parse_flags(plain), place, pod_spec, container)


def _in_volume(volume: Any, inside: str) -> Mounted | None:
    if host_path := text_at(volume, "hostPath", "path"):
        return Mounted("", f"{host_path.rstrip('/')}/{inside}" if inside else host_path)
    holders = [map_at(volume, "configMap")]
    holders += [map_at(source, "configMap") for source in list_at(volume, "projected", "sources")]
    for holder in holders:
        items = {text_at(item, "path"): text_at(item, "key") for item in list_at(holder, "items")}
        if text_at(holder, "name") and (inside in items or not items):
            return Mounted(text_at(holder, "name"), items.get(inside, inside))
    return None


def _mount_path(mount: Any) -> str:
    return text_at(mount, "mountPath").rstrip("/")


def _is_below(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(f"{folder}/"))


def _last(word: str) -> str:
    """The last part of a path, or an image's name without its tag."""
    return word.rpartition("/")[2].partition(":")[0].partition("@")[0]
