"""Kubeconfig files for tests."""

import json
from pathlib import Path
from typing import Any


def kubeconfig(
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A kubeconfig with the context `dev` of cluster `c` and user `u`; JSON is YAML, too."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "dev",
        "clusters": [{"name": "c", "cluster": {"server": "https://api.example:6443"} | (cluster or {})}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u"} | (context or {})}],
    } | fields


def write(file: Path, document: dict[str, Any] | str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file
