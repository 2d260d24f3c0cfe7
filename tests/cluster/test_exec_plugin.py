import asyncio
import json
import logging
import os
import stat
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.cluster import Auth, exec_plugin
from kubesched.cluster.exec_plugin import EXEC_VERSIONS, ExecCluster, ExecCredentials, ExecPlugin
from kubesched.errors import UnauthorizedError
from tests.cluster.fake_timing import FakeTiming, run

V1, V1BETA1 = EXEC_VERSIONS


def program(folder: Path, body: str) -> str:
    """An executable; each run adds a line to the file `runs`."""
    file = folder / "get-token"
    file.write_text(
        f"#!{sys.executable}\nimport json, os, sys\nopen({str(folder / 'runs')!r}, 'a').write('x')\n{body}\n"
    )
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text())


def printing(folder: Path, api_version: str = V1, **status: Any) -> str:
    answer = {"apiVersion": api_version, "kind": "ExecCredential", "status": status}
    return program(folder, f"print({json.dumps(answer)!r})")


def credentials(
    command: str, timing: FakeTiming | None = None, *, is_terminal: bool = False, **fields: Any
) -> ExecCredentials:
    plugin = ExecPlugin(**{"label": "users[0].user.exec", "api_version": V1, "command": command} | fields)
    return ExecCredentials(plugin, timing or FakeTiming(), is_terminal=is_terminal)


def stamp(timing: FakeTiming, seconds: float) -> str:
    return datetime.fromtimestamp(timing.now() + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("version", EXEC_VERSIONS)
def test_a_token_is_asked_for_once_and_kept(tmp_path: Path, version: str) -> None:
    found = credentials(printing(tmp_path, version, token="t1"), api_version=version)

    async def scenario() -> list[Auth]:
        return await asyncio.gather(found.current(), found.current())

    assert run(scenario()) == [Auth("Bearer t1"), Auth("Bearer t1")]
    assert runs(tmp_path) == 1


def test_certificates_come_from_a_plugin_too(tmp_path: Path) -> None:
    command = printing(tmp_path, clientCertificateData="certificate", clientKeyData="key")
    assert run(credentials(command).current()) == Auth("", b"certificate", b"key")


def test_the_plugin_hears_what_is_wanted(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    command = program(
        tmp_path,
        "said = [os.environ['KUBERNETES_EXEC_INFO'], os.environ['REGION'], sys.argv[1:]]\n"
        f"open({str(heard)!r}, 'w').write(json.dumps(said))\n"
        f"print(json.dumps({{'apiVersion': {V1!r}, 'kind': 'ExecCredential', 'status': {{'token': 't'}}}}))",
    )
    cluster = ExecCluster(
        "https://api.example", certificate_authority_data=b"authority", config=msgspec.Raw(b'{"a":1}')
    )
    run(credentials(command, args=("get", "token"), env=(("REGION", "north"),), cluster=cluster).current())
    info, region, arguments = json.loads(heard.read_text())
    assert json.loads(info) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {
                "server": "https://api.example",
                "certificate-authority-data": "YXV0aG9yaXR5",
                "config": {"a": 1},
            },
        },
    }
    assert (region, arguments) == ("north", ["get", "token"])


def test_credentials_are_renewed_shortly_before_they_expire(tmp_path: Path) -> None:
    timing = FakeTiming()
    found = credentials(printing(tmp_path, token="t", expirationTimestamp=stamp(timing, 1000)), timing)

    async def scenario() -> None:
        await found.current()
        timing.seconds += 920
        await found.current()
        assert runs(tmp_path) == 1
        timing.seconds += 10
        await found.current()
        while runs(tmp_path) < 2:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)

    run(scenario())
    assert runs(tmp_path) == 2


def test_a_program_that_takes_its_time_holds_up_no_request_before_its_last_answer_expires(tmp_path: Path) -> None:
    timing, go, count = FakeTiming(), tmp_path / "go", tmp_path / "runs"
    status = {"token": "t", "expirationTimestamp": stamp(timing, 1000)}
    answer = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    body = (
        f"import time\nn = os.path.getsize({str(count)!r})\n"
        f"while n > 1 and not os.path.exists({str(go)!r}):\n    time.sleep(0.01)\n"
        f"a = {answer!r}\n"
        "a['status']['token'] += str(n)\nprint(json.dumps(a))"
    )
    found = credentials(program(tmp_path, body), timing)

    async def scenario() -> tuple[list[str], str]:
        await found.current()
        timing.seconds += 950
        async with asyncio.timeout(10):
            meanwhile = [(await found.current()).authorization for _ in range(3)]
            go.touch()
            while (last := (await found.current()).authorization) == meanwhile[0]:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
        return meanwhile, last

    assert run(scenario()) == (["Bearer t1"] * 3, "Bearer t2")
    assert runs(tmp_path) == 2


def test_a_program_that_fails_before_its_last_answer_expires_costs_nothing_until_then(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    timing, broken = FakeTiming(), tmp_path / "broken"
    status = {"token": "t", "expirationTimestamp": stamp(timing, 100)}
    answer = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    body = f"sys.exit(3) if os.path.exists({str(broken)!r}) else print({json.dumps(answer)!r})"
    found = credentials(program(tmp_path, body), timing)

    async def scenario() -> list[str]:
        await found.current()
        broken.touch()
        timing.seconds += 91
        kept = [(await found.current()).authorization for _ in range(2)]
        while not caplog.messages:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        kept.append((await found.current()).authorization)
        timing.seconds += 9
        with pytest.raises(UnauthorizedError, match="exit code 3"):
            await found.current()
        return kept

    assert run(scenario()) == ["Bearer t"] * 3
    (message,) = caplog.messages  # the program was run once for all
    assert message.endswith("its earlier credentials stay in use until they expire")


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_wall_clock_that_jumps_makes_a_new_answer_of_the_program_or_waits_for_a_refusal(
    tmp_path: Path, hours: int
) -> None:
    timing = FakeTiming()
    found = credentials(printing(tmp_path, token="t", expirationTimestamp=stamp(timing, 600)), timing)

    async def scenario() -> int:
        auth = await found.current()
        timing.seconds += hours * 3600
        await found.current()
        n_runs = runs(tmp_path)
        await found.renew(auth)  # as after a 401
        return n_runs

    assert run(scenario()) == (2 if hours > 0 else 1)
    assert runs(tmp_path) == (2 if hours < 0 else 3)


def test_credentials_that_have_expired_already_are_used_for_a_while_and_said_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    timing = FakeTiming()
    found = credentials(printing(tmp_path, token="s3cret", expirationTimestamp=stamp(timing, -60)), timing)

    async def scenario() -> Auth:
        await found.current()
        timing.seconds += 9
        kept = await found.current()
        assert runs(tmp_path) == 1
        timing.seconds += 1.5
        await found.current()
        return kept

    assert run(scenario()) == Auth("Bearer s3cret")
    assert runs(tmp_path) == 2
    assert "have already expired" in caplog.text
    assert "s3cret" not in caplog.text


def test_rejected_credentials_are_renewed_once_for_all_who_were_rejected(tmp_path: Path) -> None:
    count = tmp_path / "runs"
    answer = {"apiVersion": V1, "kind": "ExecCredential", "status": {"token": "t"}}
    command = program(
        tmp_path, f"a = {answer!r}\na['status']['token'] += str(os.path.getsize({str(count)!r}))\nprint(json.dumps(a))"
    )
    found = credentials(command)

    async def scenario() -> list[Auth]:
        rejected = await found.current()
        return [rejected, *await asyncio.gather(*(found.renew(rejected) for _ in range(5)))]

    tokens = [auth.authorization for auth in run(scenario())]
    assert len(set(tokens[1:])) == 1
    assert tokens[0] != tokens[1]
    assert runs(tmp_path) == 2


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("print('s3cret')", "did not print an ExecCredential: JSON is malformed"),
        ("sys.stdout.buffer.write(b'\"s3cret\\xff\"')", "did not print an ExecCredential"),
        (
            'print(\'{"status": {"token": 5}}\')',
            "did not print an ExecCredential: status.token: expected a string, found an i",
        ),
        (
            'print(\'{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}\')',
            "apiVersion 'client.authentication.k8s.io/v1beta1'; the kubeconfig says 'ExecCredential', 'client.",
        ),
        (f'print(\'{{"kind":"ExecCredential","apiVersion":"{V1}"}}\')', "printed an ExecCredential without status"),
        (
            f'print(\'{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{}}}}\')',
            "has neither status.token nor a client certificate",
        ),
        (
            f'print(\'{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{"clientKeyData":"s3cret"}}}}\')',
            "has only one of status.clientCertificateData and status.clientKeyData",
        ),
        (
            f'print(\'{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{"token":"s3cret\\\\nX: y"}}}}\')',
            "has a line break or a control character in status.token",
        ),
    ],
)
def test_a_plugin_that_gives_nothing_is_named_and_what_it_printed_is_not_shown(
    tmp_path: Path, body: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    command = program(tmp_path, body)
    with pytest.raises(UnauthorizedError) as raised:
        run(credentials(command).current())
    assert str(raised.value).startswith(f"users[0].user.exec: {command!r} ")
    assert fault in str(raised.value)
    assert "s3cret" not in str(raised.value) + caplog.text
    assert raised.value.__cause__ is None


def test_a_plugin_that_is_not_installed_comes_with_its_hint() -> None:
    found = credentials("no-such-plugin", install_hint="\nInstall it from the cloud console.\n")
    with pytest.raises(
        UnauthorizedError, match=r"'no-such-plugin' cannot be run: .*; Install it from the cloud console.$"
    ):
        run(found.current())


def test_a_plugin_that_says_nothing_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exec_plugin, "_SECONDS_TO_ANSWER", 0.3)
    pid = tmp_path / "pid"
    command = program(tmp_path, f"open({str(pid)!r}, 'w').write(str(os.getpid()))\nimport time\ntime.sleep(60)")
    with pytest.raises(UnauthorizedError, match=r"gave no answer within 0.3 s$"):
        run(credentials(command).current())
    if pid.exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)


def test_a_plugin_that_says_nothing_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_plugin, "_SECONDS_TO_ANSWER", 2.0)
    pid = tmp_path / "pid"
    body = (
        f"import subprocess\nchild = subprocess.Popen(['sleep', '60'])\nopen({str(pid)!r}, 'w').write(str(child.pid))"
    )
    with pytest.raises(UnauthorizedError, match="gave no answer within 2 s"):
        run(credentials(program(tmp_path, f"{body}\nchild.wait()")).current())
    ends = time.monotonic() + 10  # a killed process is there for another moment
    while is_running(int(pid.read_text())) and time.monotonic() < ends:
        time.sleep(0.01)
    assert not is_running(int(pid.read_text()))


def is_running(pid: int) -> bool:
    """Whether a process is there, and is not one that has ended and that nobody waits for."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_plugin_without_end_is_refused(tmp_path: Path) -> None:
    command = program(tmp_path, "while True:\n    sys.stdout.write('s3cret' * 10_000)")
    with pytest.raises(UnauthorizedError, match=r"printed more than 1 MiB; expected an ExecCredential$"):
        run(credentials(command).current())


def test_what_a_plugin_prints_until_it_is_killed_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill = exec_plugin._kill
    monkeypatch.setattr(exec_plugin, "_kill", lambda process: asyncio.get_running_loop().call_later(0.1, kill, process))
    command = program(tmp_path, "while True:\n    sys.stdout.write('s3cret' * 10_000)")
    with pytest.raises(UnauthorizedError, match="printed more than 1 MiB"):
        run(credentials(command).current())


def test_a_plugin_that_has_to_ask_needs_a_terminal(tmp_path: Path) -> None:
    found = credentials(printing(tmp_path, token="t"), interactive_mode="Always")
    with pytest.raises(UnauthorizedError, match=r"interactiveMode: Always\), but standard input is not a terminal$"):
        run(found.current())


@pytest.mark.parametrize(
    ("mode", "is_terminal", "interactive"),
    [("Never", True, False), ("IfAvailable", True, True), ("IfAvailable", False, False), ("Always", True, True)],
)
def test_a_plugin_may_ask_where_mode_and_terminal_allow_it(
    tmp_path: Path, mode: str, is_terminal: bool, interactive: bool
) -> None:
    command = program(
        tmp_path,
        "token = str(json.loads(os.environ['KUBERNETES_EXEC_INFO'])['spec']['interactive'])\n"
        f"print(json.dumps({{'apiVersion': {V1!r}, 'kind': 'ExecCredential', 'status': {{'token': token}}}}))",
    )
    found = credentials(command, interactive_mode=mode, is_terminal=is_terminal)
    assert run(found.current()) == Auth(f"Bearer {interactive}")
