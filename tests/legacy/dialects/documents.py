"""Older configurations for tests, written short, and what becomes of them."""

from typing import Any

from kubesched.legacy.conversion import Conversion, Document, PolicySources
from kubesched.legacy.dialects import convert_older

GROUP = "kubescheduler.config.k8s.io"


def converted(version: str, fields: Document | None = None, sources: PolicySources | None = None) -> Conversion:
    """The conversion of a configuration; `version` is `v1beta2` or another one, or `Policy`."""
    is_policy = version == "Policy"
    kind = "Policy" if is_policy else "KubeSchedulerConfiguration"
    document = {"kind": kind, "apiVersion": "v1" if is_policy else f"{GROUP}/{version}", **(fields or {})}
    return convert_older(document, sources or PolicySources())


def profile_of(version: str, fields: Document | None = None) -> Document:
    """The one profile after the conversion."""
    (profile,) = converted(version, fields).document["profiles"]
    return dict(profile)


def names(profile: Document, point: str) -> list[str]:
    """The enabled plugins of an extension point, in order."""
    return [entry["name"] for entry in profile["plugins"].get(point, {}).get("enabled", [])]


def weights(profile: Document) -> dict[str, int]:
    """The weights of the score plugins."""
    return {entry["name"]: entry.get("weight", 0) for entry in profile["plugins"].get("score", {}).get("enabled", [])}


def args(profile: Document, plugin: str) -> Any:
    """The arguments of a plugin; None if it has no entry."""
    return next((entry["args"] for entry in profile.get("pluginConfig", ()) if entry["name"] == plugin), None)
