"""What to configure for a side of a comparison: a configuration to paste, and the forms that managed clusters accept.

Rule: Amazon EKS API, KubeSchedulerConfigRequest and ScoringStrategy (2026): NodeResourcesFit's scoring strategy, of
type LeastAllocated or MostAllocated, with at most 100 resources of weight 1 to 100; nothing else. Azure Kubernetes
Service, scheduler profiles (preview, 2026): a SchedulerConfiguration named `upstream` whose `rawConfig` is a
KubeSchedulerConfiguration; changes of the plugins in `_AKS_PLUGINS` alone, and no profile called aks-system.
"""

from collections.abc import Iterable, Mapping
from textwrap import indent
from typing import Any, Final

import msgspec

from kubesched.api import KubeObject, Node
from kubesched.comparison.candidates import ReadCandidate
from kubesched.config import effective, without_secrets
from kubesched.documents import write_yaml
from kubesched.errors import InputError
from kubesched.setup import load_configuration

_EKS_TYPES: Final = ("LeastAllocated", "MostAllocated")
_EKS_WEIGHTS: Final = range(1, 101)
_EKS_RESOURCES: Final = 100
_AKS_RESERVED: Final = "aks-system"
_AKS_PLUGINS: Final = frozenset(
    (
        "DefaultBinder",
        "DefaultPreemption",
        "ImageLocality",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeName",
        "NodePorts",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "NodeUnschedulable",
        "NodeVolumeLimits",
        "PodTopologySpread",
        "PrioritySort",
        "SchedulingGates",
        "TaintToleration",
        "VolumeBinding",
        "VolumeRestrictions",
        "VolumeZone",
    )
)
_META: Final = ("apiVersion", "kind")
_LABELS: Final = {"eks": "eks.amazonaws.com/", "aks": "kubernetes.azure.com/"}


class PastedSettings(msgspec.Struct, frozen=True):
    """Texts to paste.

    Attributes:
        configuration: a KubeSchedulerConfiguration in YAML: what differs from kube-scheduler's defaults.
        eks: a KubeSchedulerConfig of Amazon EKS, in JSON; empty where EKS does not accept these settings.
        aks: a SchedulerConfiguration of Azure Kubernetes Service, in YAML; empty where AKS does not accept them.
    """

    configuration: str
    eks: str = ""
    aks: str = ""


def settings(side: ReadCandidate) -> PastedSettings:
    """What to configure for a side, with *** in place of passwords and private keys."""
    document = without_secrets(_document(side))
    return PastedSettings(write_yaml(document), _eks(document), _aks(document))


def providers(objects: Iterable[KubeObject]) -> tuple[str, ...]:
    """`eks` or `aks` if nodes of the cluster have labels of these."""
    keys = {key for one in objects if isinstance(one, Node) for key in one.labels}
    return tuple(name for name, start in _LABELS.items() if any(key.startswith(start) for key in keys))


def _document(side: ReadCandidate) -> dict[str, Any]:
    """The shortest document that is read as this configuration."""
    whole = effective(side.configuration, side.release)
    short = _without_defaults(whole, effective(load_configuration(release=side.release), side.release))
    try:
        read = load_configuration(msgspec.json.encode(short), side.plugins, release=side.release)
    except InputError:
        return whole
    return short if effective(read, side.release) == whole else whole


def _without_defaults(whole: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    short = {key: value for key, value in whole.items() if key in _META or value != defaults.get(key)}
    if "profiles" in short:
        short["profiles"] = [_profile(profile, defaults["profiles"][0]) for profile in whole["profiles"]]
    return short


def _profile(profile: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    short = {key: value for key, value in profile.items() if key not in ("plugins", "pluginConfig")}
    args = {entry["name"]: entry["args"] for entry in defaults["pluginConfig"]}
    changed = [one for one in profile.get("pluginConfig", ()) if one["args"] != args.get(one["name"])]
    plugins = {
        point: added
        for point, one in profile["plugins"].items()
        if (added := _plugin_set(one, defaults["plugins"][point].get("enabled", ())))
    }
    return {**short, **({"pluginConfig": changed} if changed else {}), **({"plugins": plugins} if plugins else {})}


def _plugin_set(plugin_set: Mapping[str, Any], defaults: Any) -> dict[str, Any]:
    """Without the plugins that are enabled by default, and without weights of 0."""
    enabled = [_entry(one) for one in plugin_set.get("enabled", ()) if one not in defaults]
    disabled = [{"name": one["name"]} for one in plugin_set.get("disabled", ())]
    return {key: value for key, value in (("disabled", disabled), ("enabled", enabled)) if value}


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value}


def _eks(document: Mapping[str, Any]) -> str:
    profiles = document.get("profiles", ())
    if set(document) - {*_META, "profiles"} or len(profiles) != 1:
        return ""
    (profile,) = profiles
    changed = profile.get("pluginConfig", ())
    if set(profile) != {"schedulerName", "pluginConfig"} or [one["name"] for one in changed] != ["NodeResourcesFit"]:
        return ""
    args = changed[0]["args"]
    strategy = args["scoringStrategy"]
    fits = (
        profile["schedulerName"] == "default-scheduler"
        and not set(args) - {*_META, "scoringStrategy"}
        and set(strategy) == {"type", "resources"}
        and strategy["type"] in _EKS_TYPES
        and len(strategy["resources"]) <= _EKS_RESOURCES
        and all(one["weight"] in _EKS_WEIGHTS for one in strategy["resources"])
    )
    if not fits:
        return ""
    return _indented_json({"nodeResourcesFit": {"scoringStrategy": strategy}})


def _aks(document: Mapping[str, Any]) -> str:
    profiles = document.get("profiles", ())
    if (
        not profiles
        or set(document) - {*_META, "profiles"}
        or not all(_changed_plugins(profile) <= _AKS_PLUGINS for profile in profiles)
        or any(profile["schedulerName"] == _AKS_RESERVED for profile in profiles)
    ):
        return ""
    head = {"apiVersion": "aks.azure.com/v1alpha1", "kind": "SchedulerConfiguration", "metadata": {"name": "upstream"}}
    return f"{write_yaml(head)}spec:\n  rawConfig: |\n{indent(write_yaml(dict(document)), '    ')}"


def _changed_plugins(profile: Mapping[str, Any]) -> set[str]:
    """The plugins that a profile of a short document names, without `*`, which means all of them."""
    sets = profile.get("plugins", {}).values()
    entries = [entry for plugin_set in sets for listed in plugin_set.values() for entry in listed]
    return {entry["name"] for entry in (*entries, *profile.get("pluginConfig", ()))} - {"*"}


def _indented_json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
