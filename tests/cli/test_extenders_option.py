"""`--extenders` of the offline commands, with an extender that answers."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kubesched.session import Session
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.planning.drain_clusters import owned_by

OWNED = owned_by("ReplicaSet", "web")


class Extender:
    """Accepts all nodes but n1, and prefers n3.

    Attributes:
        asked: the paths of the requests, in order.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/scheduler"
        self.asked: list[str] = []

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        self.asked.append(path)
        if path.endswith("/second"):
            return {"NodeNames": ["n3"], "FailedNodes": {"n2": "too loud"}}
        if path.endswith("/filter"):
            return {"NodeNames": [name for name in body["NodeNames"] if name != "n1"], "FailedNodes": {"n1": "too hot"}}
        if path.endswith("/prioritize"):
            return [{"Host": name, "Score": 10 * (name == "n3")} for name in body["NodeNames"]]
        return {"Error": "must not be called"}


@pytest.fixture
def extender() -> Iterator[Extender]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps(played.answer(self.path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        played = Extender(server.server_port)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield played
        server.shutdown()
        thread.join()


@pytest.fixture
def options(extender: Extender, tmp_path: Path) -> tuple[object, ...]:
    """A cluster, and a configuration with all verbs of the extender."""
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n"
        f"- urlPrefix: {extender.url}\n  filterVerb: filter\n  prioritizeVerb: prioritize\n  weight: 1\n"
        "  preemptVerb: preempt\n  bindVerb: bind\n  nodeCacheCapable: true\n"
    )
    cluster = write(tmp_path, *(make_node(f"n{i}") for i in (1, 2, 3)), make_pod("p"))
    return cluster, "--config", config


def test_simulate_asks_an_extender_that_binds_in_a_cluster(extender, options):
    result = run("simulate", *options, "--extenders", "call", "-o", "jsonl")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["node"] == "n3"
    assert extender.asked == ["/scheduler/filter", "/scheduler/prioritize"]


def test_a_change_is_simulated_with_the_extender_as_the_cluster_without_it(extender, options):
    result = run("simulate", *options, "--extenders", "call", "--cordon", "n3", "-o", "json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["pods"][0]["node"] == "n2"
    assert extender.asked == ["/scheduler/filter", "/scheduler/filter", "/scheduler/prioritize"]
    assert run("simulate", *options, "--cordon", "n3").stderr.count("extenders are not called") == 1


def test_explain_shows_what_the_extender_says(extender, options):
    result = run("explain", *options, "--extenders", "call", "--pod", "p", "-o", "json")
    assert result.exit_code == 0, result.output
    filtered, scored = json.loads(result.stdout)["extenders"]
    assert (filtered["verb"], list(filtered["rejected"])) == ("filter", ["n1"])
    assert scored["scores"] == {"n2": 0, "n3": 100}
    assert extender.asked == ["/scheduler/filter", "/scheduler/prioritize"]


def test_drain_asks_an_extender_where_pods_would_go(extender, options, tmp_path):
    cluster = write(tmp_path, *(make_node(f"n{i}") for i in (1, 2, 3)), make_pod("p", node="n3", metadata=OWNED))
    result = run("drain", cluster, "n3", *options[1:], "--extenders", "call", "-o", "jsonl")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["to"] == "n2"
    assert extender.asked == ["/scheduler/filter"]


@pytest.mark.parametrize("command", [("simulate",), ("explain", "--pod", "p"), ("drain", "n1")])
def test_by_default_the_extenders_are_named_and_not_asked(extender, options, command):
    result = run(*command, *options)
    assert f"extenders are not called without --extenders call: {extender.url}" in result.stderr
    assert extender.asked == []


def test_two_entries_of_one_address_are_told_apart(extender: Extender, tmp_path: Path) -> None:
    config = tmp_path / "scheduler.yaml"
    entry = f"- urlPrefix: {extender.url}\n  nodeCacheCapable: true\n  filterVerb: "
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n"
        f"{entry}filter\n{entry}second\n"
    )
    cluster = write(tmp_path, *(make_node(f"n{i}") for i in (1, 2, 3)), make_pod("p"))
    options = ("--pod", "default/p", "--config", config, "--extenders", "call", "-o", "json")
    plugins = json.loads(run("explain", cluster, *options).stdout)["plugins"]
    assert list(plugins[f"extender {extender.url}"]["filter"]) == ["n1"]
    assert list(plugins[f"extender {extender.url} (2)"]["filter"]) == ["n2"]


def test_the_place_in_the_queue_is_simulated_in_the_same_session_and_asks_no_extender(
    options: tuple[object, ...], extender: Extender, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The extender prefers n3 for p. The simulation leaves it out: `first` takes n1, and p goes to n2."""
    built: list[Session] = []
    original = Session.__init__

    def counting(self: Session, *arguments: Any, **named: Any) -> None:
        built.append(self)
        original(self, *arguments, **named)

    monkeypatch.setattr(Session, "__init__", counting)
    cluster = write(tmp_path, *(make_node(f"n{i}") for i in (1, 2, 3)), make_pod("first", priority=9), make_pod("p"))
    result = run("explain", cluster, *options[1:], "--extenders", "call", "--pod", "p", "--queue", "-o", "json")
    answer = json.loads(result.stdout)
    assert (answer["choice"]["best"]["node"], answer["queue"]["node"]) == ("n3", "n2")
    assert [path.rpartition("/")[2] for path in extender.asked] == ["filter", "prioritize"]
    assert len(built) == 1
