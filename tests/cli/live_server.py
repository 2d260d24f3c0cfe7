"""An API server for commands: a thread that lists objects, in pages, and refuses some kinds."""

import json
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kubesched.api import KINDS, KubeObject, Unstructured, kind_named, kind_of
from kubesched.cluster import list_path
from tests.cluster.kubeconfigs import kubeconfig, write

NO_RIGHT = 'User "ann" cannot list this'


@contextmanager
def api_server(
    objects: Iterable[KubeObject],
    refused: Collection[str] = (),
    message: str = NO_RIGHT,
    version: str | None = None,
    *,
    version_hangs: bool = False,
) -> Iterator[tuple[str, list[str]]]:
    """Serve the objects, and discovery for further kinds; yields its URL and the requests that it gets.

    Objects have no kind, as in a list.

    Args:
        refused: kinds that are answered with 403 and the message.
        version: the gitVersion at `/version`; None where that has none.
        version_hangs: whether `/version` is not answered before the end.
    """
    lists: dict[str, list[Any]] = {list_path(kind): [] for kind in KINDS}
    kinds = {list_path(kind): f"{KINDS[kind].name}List" for kind in KINDS}
    groups: dict[str, list[Any]] = {}
    for known in objects:
        path = list_path(kind_named(kind_of(known)))
        if isinstance(known, Unstructured) and path not in kinds:
            found = {"name": path.rpartition("/")[2], "kind": known.kind, "verbs": ["list"]}
            groups.setdefault(path.rpartition("/")[0], []).append(found)
            kinds[path] = f"{known.kind}List"
        lists.setdefault(path, []).append({**known.document})
    asked: list[str] = []
    ends = threading.Event()
    forbidden = {list_path(kind_named(kind)) for kind in refused}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            asked.append(self.path)
            query = parse_qs(url.query)
            start, limit = int(query.get("continue", ["0"])[0]), int(query.get("limit", ["100000"])[0])
            items = lists.get(url.path, [])
            more = {"continue": str(start + limit)} if start + limit < len(items) else {}
            page = {
                "kind": kinds.get(url.path, "ConfigMapList" if url.path == "/api/v1/configmaps" else ""),
                "metadata": {"resourceVersion": "9"} | more,
                "items": items[start : start + limit],
            }
            refusal = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": message}
            answer = refusal if url.path in forbidden else page
            if url.path in groups:
                answer = {"kind": "APIResourceList", "resources": groups[url.path]}
            if url.path == "/version" and version_hangs:
                ends.wait()
                return
            if url.path == "/version" and version is not None:
                answer = {"gitVersion": version}
            body = json.dumps(answer).encode()
            self.send_response(403 if url.path in forbidden else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            ends.set()
            server.shutdown()
            thread.join()


def kubeconfig_of(url: str, folder: Path) -> Path:
    """A kubeconfig whose current context `dev` is this server."""
    return write(folder / "kubeconfig.json", kubeconfig({"server": url}))
