"""A main() of one's own starts, ends and fails as the commands do."""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kubesched import EndpointOptions, SchedulerOptions, load_configuration, programs, run_scheduler
from kubesched.config import LeaderElectionConfiguration
from kubesched.errors import ConfigError
from kubesched.setup import Setup, set_up
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run as command
from tests.cluster.fake_api_server import says
from tests.cluster.fake_timing import run
from tests.extender.asking import node as whole_node
from tests.extender.asking import with_nodes
from tests.forks import Forks
from tests.live.read_only import kubeconfig_of, read_only_server

SCHEDULER = """
import sys
from kubesched import EndpointOptions, Plugin, SchedulerOptions, Status, run_scheduler


class MyPlugin(Plugin):
    name = "my-plugin"

    def filter(self, state, pod, node):
        return Status.SUCCESS if node.name == "n2" else Status.unschedulable("not here")


if __name__ == "__main__":
    options = SchedulerOptions(kubeconfig=sys.argv[1], endpoints=None)
    run_scheduler(b"__CONFIG__", plugins=[MyPlugin], options=options, log_json=True)
    print("after")
"""
HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
Elections = Callable[..., tuple[LeaderElectionConfiguration, ...]]
CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles: [{plugins: {filter: {enabled: [{name: NAME}]}}}]
"""
EXTENDER = """
from kubesched import ExtenderOptions, Plugin, ServerOptions, Status, serve_extender


class NotN1(Plugin):
    def filter(self, state, pod, node):
        return Status.unresolvable("not here") if node.name == "n1" else Status.SUCCESS


serve_extender(plugins=[NotN1], options=ExtenderOptions(server=ServerOptions(port=0)), log_json=True)
print("after")
"""


def scheduler_file(folder: Path, name: str) -> Path:
    file = folder / "main.py"
    config = CONFIG.replace("NAME", name).encode("unicode_escape").decode()
    file.write_text(SCHEDULER.replace("__CONFIG__", config))
    return file


class Main:
    """A process, whose log lines are read as they come."""

    def __init__(self, *arguments: object) -> None:
        self.lines: list[dict[str, Any]] = []
        self._arguments = [sys.executable, *map(str, arguments)]

    async def __aenter__(self) -> "Main":
        pipe = asyncio.subprocess.PIPE
        environ = {**os.environ, "LOG_LEVEL": "info"}
        self._process = await asyncio.create_subprocess_exec(*self._arguments, stdout=pipe, stderr=pipe, env=environ)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def until(self, words: str) -> str:
        """The message that has these words."""
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self.lines.append(json.loads(line))
            if words in self.lines[-1]["message"]:
                return str(self.lines[-1]["message"])
        raise AssertionError(self.lines)

    async def end(self, number: int) -> tuple[int | None, str]:
        """The exit code after a signal, and standard output."""
        self._process.send_signal(number)
        out, _ = await self._process.communicate()
        return self._process.returncode, out.decode()


ENDS = pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGTERM, (0, "after\n")), (signal.SIGINT, (130, ""))], ids=["SIGTERM", "Ctrl-C"]
)


@ENDS
def test_a_scheduler_binds_pods_with_the_plugin_and_ends_as_the_command(
    tmp_path: Path, number: int, expected: tuple[int, str]
) -> None:
    async def story() -> tuple[str, Any, tuple[int | None, str]]:
        server = read_only_server(make_node("n1"), make_node("n2"), make_pod("p", metadata={"uid": "u"}))
        for path in ("/api/v1/namespaces/default/pods/p/binding", "/apis/events.k8s.io/v1/namespaces/default/events"):
            server.on("POST", path, says({}, 201))
        async with asyncio.timeout(30), server:
            main = Main(scheduler_file(tmp_path, "my-plugin"), kubeconfig_of(server, tmp_path))
            async with main:
                ready = await main.until("schedules pods of")
                await server.until_asked("POST", 1)
                (binding,) = [asked for asked in server.asked_for("POST") if asked.path.endswith("/binding")]
                return ready, binding.body["target"]["name"], await main.end(number)

    ready, node, ended = run(story())
    assert ready.endswith("schedules pods of default-scheduler on 2 nodes")
    assert (node, ended) == ("n2", expected)


@ENDS
def test_an_extender_answers_and_ends_as_the_command(tmp_path: Path, number: int, expected: tuple[int, str]) -> None:
    (tmp_path / "main.py").write_text(EXTENDER)

    async def story() -> tuple[str, tuple[int | None, str]]:
        async with asyncio.timeout(30), Main(tmp_path / "main.py") as main:
            url = (await main.until("serves NotN1 at ")).rpartition(" ")[2]
            await main.until("ready: filter")
            port = int(url.rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            body = with_nodes(whole_node("n1"), whole_node("n2"))
            head = (
                f"POST /filter HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            answer = (await reader.read()).partition(b"\r\n\r\n")[2]
            writer.close()
            return answer.decode(), await main.end(number)

    answer, ended = run(story())
    assert json.loads(answer)["FailedAndUnresolvableNodes"] == {"n1": "not here"}
    assert ended == expected


@pytest.mark.parametrize("is_json", [False, True])
def test_a_mistake_is_the_message_and_the_code_of_the_command(tmp_path: Path, is_json: bool, forks: Forks) -> None:
    def ended(*arguments: object) -> tuple[int, str]:
        done = forks.run("python", *arguments)
        assert done.stdout == ""
        return done.returncode, json.loads(done.stderr)["message"] if is_json else done.stderr

    file, config = scheduler_file(tmp_path, "my-plugins"), tmp_path / "scheduler.yaml"
    file.write_text(file.read_text().replace("log_json=True", f"log_json={is_json}"))
    config.write_text(CONFIG.replace("NAME", "my-plugins"))
    options = ("--plugin", f"{file}:MyPlugin", "--secure-port", "0", *(["--log-json"] if is_json else []))
    code, text = ended(file, "none")
    of_the_command = ended("-m", "kubesched", "scheduler", "--config", config, *options)
    assert (code, of_the_command[0]) == (2, 2)
    assert of_the_command[1].startswith(text.rstrip("\n"))  # it also says which file
    assert text.startswith("kubesched: error: ") is not is_json
    assert 'did you mean "my-plugin"?' in text


def test_a_mistake_does_not_control_the_terminal(forks: Forks) -> None:
    program = "from kubesched import run_scheduler; run_scheduler(plugins=['x\\x1b[2J\\u202e\\nfake.py:X'])"
    done = forks.run("python", "-c", program)
    assert done.returncode == 2
    assert r"x\x1b[2J\u202e" in done.stderr
    assert all(one.isprintable() or one == "\n" for one in done.stderr)
    assert all(line.startswith(" ") for line in done.stderr.splitlines()[1:])


NOISY = """
import sys, threading, warnings
from kubesched import run_scheduler, serve_extender

def plugins():
    print("printed", file=sys.stderr)
    warnings.warn("warned")
    for target in (lambda: 1 / 0, lambda: sys.stderr.write("unfinished")):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    sys.stderr.write("unfinished, too")
    raise END
    yield

PROGRAM(plugins=plugins(), log_json=True)
"""


@pytest.mark.parametrize("program", ["run_scheduler", "serve_extender"])
@pytest.mark.parametrize(
    ("end", "code", "last"),
    [("RuntimeError('a bug')", 1, "RuntimeError: a bug"), ("KeyboardInterrupt", 130, ""), ("SystemExit(7)", 7, "")],
)
def test_with_log_json_standard_error_has_nothing_else(
    program: str, end: str, code: int, last: str, forks: Forks
) -> None:
    source = NOISY.replace("END", end).replace("PROGRAM", program)
    done = forks.run("python", "-c", source)
    said = [record["message"] + record.get("exception", "") for record in map(json.loads, done.stderr.splitlines())]
    for text in ("printed", "warned", "ZeroDivisionError", last):
        assert any(text in message for message in said), said
    assert {"unfinished", "unfinished, too"} <= set(said)
    assert done.returncode == code


ELSEWHERE = HEADER + "profiles: [{schedulerName: mine}]\n"
NAMED = ELSEWHERE + "leaderElection: {resourceName: kube-scheduler}\n"


@pytest.fixture
def election(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elections]:
    """What the command and `run_scheduler` elect a leader with."""
    setups: list[Setup] = []

    async def run_live(setup: Setup, options: SchedulerOptions, *, on_started: Callable[[], None], **how: Any) -> None:
        setups.append(setup)
        on_started()

    monkeypatch.setattr(programs, "run_live", run_live)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def both(text: str, *, replaces: bool) -> tuple[LeaderElectionConfiguration, ...]:
        file = tmp_path / "scheduler.yaml"
        file.write_text(text)
        setups.clear()
        result = command("scheduler", *(["--config", file] if text else []), *(["--replace"] if replaces else []))
        assert result.exit_code == 0, result.output
        run_scheduler(file if text else None, options=SchedulerOptions(replaces=replaces))
        run_scheduler(text.encode() if text else None, options=SchedulerOptions(replaces=replaces))
        return tuple(setup.configuration.leader_election for setup in setups)

    yield both
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize(
    ("text", "replaces", "name"),
    [
        ("", False, "kubesched"),
        ("", True, "kube-scheduler"),
        (ELSEWHERE, False, "kubesched"),
        (NAMED, False, "kube-scheduler"),
        (HEADER + "leaderElection: {resourceName: blue}\n", True, "blue"),
    ],
)
def test_the_leader_is_elected_as_by_the_command(election: Elections, text: str, replaces: bool, name: str) -> None:
    of_command, of_file, of_text = election(text, replaces=replaces)
    assert of_command == of_file == of_text
    assert of_file.resource_name == name


def test_the_log_says_which_lease_decides(election: Elections, capsys: pytest.CaptureFixture[str]) -> None:
    text = "leader election on the Lease kube-system/kubesched"
    election(HEADER, replaces=False)
    advice = "not kube-scheduler's: to replace kube-scheduler, set SchedulerOptions.replaces"
    assert capsys.readouterr().err.count(f"{text}, {advice}") == 2
    election(ELSEWHERE, replaces=False)
    advice = "beside another kubesched with this Lease, set a separate leaderElection.resourceName"
    assert capsys.readouterr().err.count(f"{text}: {advice}") == 2


def test_a_configuration_object_does_not_share_the_lease_of_kube_scheduler_by_default(
    election: Elections, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = load_configuration(ELSEWHERE.encode())
    with pytest.raises(SystemExit, match="2"):
        run_scheduler(loaded)
    assert "found kube-scheduler, whose Lease kube-scheduler holds" in capsys.readouterr().err
    others = (LeaderElectionConfiguration(resource_name="blue"), LeaderElectionConfiguration(leader_elect=False))
    for leader_election in others:
        run_scheduler(replace(loaded, leader_election=leader_election))
    run_scheduler(load_configuration(), options=SchedulerOptions(replaces=True))
    with pytest.raises(SystemExit, match="2"):
        run_scheduler(loaded, options=SchedulerOptions(replaces=True))


def test_the_programs_are_loaded_only_when_they_are_used() -> None:
    code = "import sys, kubesched; sys.exit('numpy' in sys.modules or 'msgspec' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unreadable_kubeconfig_of_the_configuration_says_where_its_path_is_from(tmp_path: Path) -> None:
    missing = tmp_path / "scheduler.conf"
    text = f"{CONFIG}clientConnection: {{kubeconfig: {missing}}}\n"
    setup = set_up(text.replace("NAME", "NodeName").encode())
    with pytest.raises(ConfigError) as raised:
        programs.schedule_until_told(setup, SchedulerOptions())
    assert str(missing) in str(raised.value)
    assert str(raised.value).endswith(
        "\n  the configuration names it as clientConnection.kubeconfig; --kubeconfig, in Python "
        "SchedulerOptions.kubeconfig, takes its place"
    )
    other = tmp_path / "other.conf"
    with pytest.raises(ConfigError) as raised:
        programs.schedule_until_told(setup, SchedulerOptions(kubeconfig=str(other)))
    assert str(other) in str(raised.value)
    assert "clientConnection" not in str(raised.value)


def test_health_and_metrics_are_served_unless_the_options_say_otherwise() -> None:
    assert SchedulerOptions(kubeconfig="config").endpoints == EndpointOptions()
    assert SchedulerOptions(endpoints=None).endpoints is None
