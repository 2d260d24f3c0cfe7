"""An API server that answers lists and watches, and refuses everything else."""

import asyncio
from pathlib import Path

import yaml
from aiohttp import web

from kubesched.api import KINDS, KubeObject
from kubesched.cluster.resources import list_path
from tests.cluster.fake_api_server import Answer, FakeApiServer, line, objects, stream


def read_only_server(
    *shown: KubeObject, pod_watch: Answer | None = None, node_watch: Answer | None = None
) -> FakeApiServer:
    """Make one that lists these objects, and whose watches show nothing, except those that are given."""
    server, watches = FakeApiServer(), {"Pod": pod_watch, "Node": node_watch}
    for kind in KINDS:
        path = list_path(kind)
        server.on("LIST", path, objects(*(obj.document for obj in shown if type(obj).__name__ == kind)))
        server.on("WATCH", path, watches.get(kind) or stream())
    return server


def then_changed(start: asyncio.Event, *changed: KubeObject) -> Answer:
    """A watch that shows changed objects after a start."""
    changes = stream(*(line("MODIFIED", {**obj.document, "kind": type(obj).__name__}) for obj in changed))

    async def answer(request: web.Request) -> web.StreamResponse:
        await start.wait()
        return await changes(request)

    return answer


def kubeconfig_of(server: FakeApiServer, folder: Path) -> str:
    """Write a kubeconfig file for a server that runs. Returns: its name."""
    document = {
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": ""}}],
        "current-context": "x",
    }
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(document))
    return str(file)
