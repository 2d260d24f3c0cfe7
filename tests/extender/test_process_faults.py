"""What happens to an extender as a process: memory, open files, a full disk, and its end under load."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from campaigns.memory.scenarios import announce, leave, raw
from kubesched.errors import InputError
from kubesched.extender import Recorder, read_recording
from kubesched.extender.recording import RecordedWatch
from tests.extender.as_process import KIB, MIB, SOME, Start, ask, connect, large, metrics, resident
from tests.extender.in_loop import run, samples
from tests.integration.extender_process import ExtenderProcess

NO_HURRY = ("--http-timeout", "60s")  # for what is asserted about memory, however busy the machine is


def test_a_body_of_60_mb_is_answered_and_its_memory_given_back(start: Start) -> None:
    extender = start(*NO_HURRY, record=False)
    ask(extender, SOME)
    before = resident(extender)
    answer = ask(extender, large(2, 0, notes="x" * 60 * MIB))
    assert answer["Error"] == ""
    assert len(answer["Nodes"]["items"]) == 1
    ask(extender, SOME)
    assert resident(extender) - before < 20 * MIB
    assert metrics(extender)['kubesched_extender_requests_total{outcome="success",verb="filter"}'] == 3


def test_without_a_watch_the_nodes_of_60_mb_are_kept_once(start: Start) -> None:
    extender = start(*NO_HURRY, record=False)
    body = large(4200, 14 * KIB)
    assert len(body) > 60 * 10**6
    ask(extender, SOME)
    before = resident(extender)
    grown = []
    for _ in range(3):
        assert len(ask(extender, body)["Nodes"]["items"]) == 2100
        grown.append(resident(extender) - before)
    assert grown[0] < 3 * len(body)
    assert max(grown[1:]) < grown[0] + 10 * MIB
    assert metrics(extender)["kubesched_extender_nodes_decoded_total"] == 100 + 4200


def test_connections_beyond_the_soft_limit_on_open_files_are_let_in(start: Start) -> None:
    extender = start(limit="-S -n 200")

    async def story() -> Any:
        idle = []
        for _ in range(300):  # each asks at once: too many that have not asked are closed
            idle.append(await connect(extender))
            await idle[-1].ask("GET", "/inspect")
        status, _, _ = await idle[-1].ask("POST", "/filter", SOME)
        _, _, page = await idle[0].ask("GET", "/metrics")
        for client in idle:
            client.writer.close()
        return status, samples(page)

    status, after = run(story())
    assert status == 200
    assert after["process_open_fds"] > 300
    assert after["process_max_fds"] > 2000


def test_too_few_open_files_are_told_at_start(start: Start) -> None:
    extender = start(limit="-n 200")
    assert any("the limit on open files is 200; 3280 connections need 3536" in line for line in extender.process.logs())


def test_a_full_disk_ends_the_recording_and_nothing_else(start: Start) -> None:
    extender = start(limit="-f 256")  # KiB
    recorded = 0
    while metrics(extender)["kubesched_extender_recording"]:
        assert ask(extender, SOME)["Error"] == ""
        recorded += 1
    assert ask(extender, SOME)["Error"] == ""
    lines = [line for line in extender.process.logs() if "recording ends" in line]
    assert len(lines) == 1
    assert "file too large; the recording ends here" in lines[0]
    assert len(extender.calls("filter")) == recorded - 1
    extender.process.terminate()
    assert extender.process.exit_code() == 0


def test_a_folder_that_cannot_take_a_recording_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"--record .*/file/folder: Not a directory"):
        Recorder(tmp_path / "file" / "folder")
    with Recorder(tmp_path / "folder"):
        with pytest.raises(InputError, match="already exists; name another folder"):
            Recorder(tmp_path / "folder")
        assert list(read_recording(tmp_path / "folder")) == [RecordedWatch(())]


class Tally:
    """What a client that never stops asking has seen."""

    def __init__(self) -> None:
        self.answered = 0
        self.lost: list[str] = []


async def keep_asking(extender: ExtenderProcess, tally: Tally) -> None:
    """Call again and again on connections that are kept alive, until nobody listens any more."""
    while True:
        try:
            client = await connect(extender)
        except ConnectionError:
            return
        try:
            is_open = True
            while is_open:
                status, headers, text = await client.ask("POST", "/filter", SOME)
                is_open = headers.get("connection") != "close"
                assert status == 200
                assert len(json.loads(text)["Nodes"]["items"]) == 50
                tally.answered += 1
        except (ConnectionError, EOFError) as error:
            tally.lost.append(repr(error))
        finally:
            client.writer.close()


def test_no_call_is_lost_when_the_process_is_asked_to_end_under_load(start: Start) -> None:
    extender = start("--drain", "5s", record=False)
    tally = Tally()

    async def story() -> float:
        async with asyncio.TaskGroup() as group:
            for _ in range(8):
                group.create_task(keep_asking(extender, tally))
            while tally.answered < 200:  # noqa: ASYNC110 - what counts is how much the server has done
                await asyncio.sleep(0.01)
            extender.process.terminate()
            start = time.monotonic()
        return time.monotonic() - start

    seconds = run(story())
    assert extender.process.exit_code() == 0
    assert tally.lost == []
    assert seconds < 5
    assert "stopped" in extender.process.logs()[-1]


def test_a_client_that_leaves_where_it_waits_for_the_word_to_go_on_is_counted(start: Start) -> None:
    extender = start(record=False)
    for _ in range(5):
        with raw(extender) as client:
            client.sendall(announce(len(SOME), "Expect: 100-continue") + SOME[:100])
            leave(client)
    counted = 'kubesched_extender_requests_total{outcome="unread",verb="filter"}'
    end = time.monotonic() + 5
    while metrics(extender).get(counted, 0) < 5 and time.monotonic() < end:
        time.sleep(0.05)
    assert metrics(extender)[counted] == 5
    assert not [line for line in extender.process.logs() if "ERROR" in line or "Traceback" in line]
