"""JSON documents as kubectl writes them, small, and streams of them."""

import io
import json
from typing import Any

Document = dict[str, Any]


def node(
    name: object = "n1", *, labels: Document | None = None, status: Document | None = None, **spec: Any
) -> Document:
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status or {}}


def pod(name: str = "p1", *, labels: Document | None = None, status: Document | None = None, **spec: Any) -> Document:
    metadata = {"name": name, "namespace": "shop", "labels": labels or {}}
    spec = {"containers": [{"name": "main"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status or {}}


def other(api_version: str, kind: str, name: str = "x", **fields: Any) -> Document:
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def listed(*items: object) -> Document:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def stream(*documents: object) -> io.BytesIO:
    return io.BytesIO("\n".join(json.dumps(document) for document in documents).encode())


def workload(kind: str, *, labels: Document | None = None, template: Document | None = None, **spec: Any) -> Document:
    """A workload named `web` in `shop` whose pods have the label app=web."""
    labels = {"app": "web"} | (labels or {})
    pod_template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main"}], **(template or {})}}
    api_version = "batch/v1" if kind == "Job" else "apps/v1"
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": "web"}}}
    metadata = {"name": "web", "namespace": "shop"}
    full_spec = {**selector, "template": pod_template, **spec}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": full_spec}
