"""`kubesched config check --probe`: every verb of every extender is called, and its answer checked."""

import asyncio
import json
from pathlib import Path

import yaml
from aiohttp import web

from kubesched.config import ExtenderConfig
from kubesched.extender.client import Probed, probe
from tests.cli.clusters import run as run_command
from tests.extender.client.test_client import extender

ANSWERS = {
    "/filter": {"NodeNames": ["kubesched-probe"]},
    "/prioritize": [{"Host": "kubesched-probe", "Score": 3}],
    "/preempt": {"NodeNameToMetaVictims": {}},
    "/bind": {"Error": "pod default/kubesched-probe not found"},
}


def probed(*, is_cache_capable: bool = True, **answers: object) -> tuple[list[Probed], dict[str, bytes]]:
    """What a probe says of an extender. Returns: it, and the requests by path."""
    bodies: dict[str, bytes] = {}

    async def answer(request: web.Request) -> web.StreamResponse:
        bodies[request.path] = await request.read()
        return web.json_response(answers.get(request.path.strip("/"), ANSWERS[request.path]))

    async def story() -> list[Probed]:
        async with extender(answer) as address:
            config = ExtenderConfig(
                url_prefix=address,
                filter_verb="filter",
                prioritize_verb="prioritize",
                preempt_verb="preempt",
                bind_verb="bind",
                weight=1,
                node_cache_capable=is_cache_capable,
            )
            return await probe([config])

    return asyncio.run(story()), bodies


def test_each_verb_is_called_and_its_answer_told() -> None:
    calls, bodies = probed()
    assert [(call.verb, call.answer, call.error) for call in calls] == [
        ("filter", "1 of 1 node left", ""),
        ("prioritize", "1 scores", ""),
        ("preempt", "0 candidates", ""),
        ("bind", "pod default/kubesched-probe not found", ""),
    ]
    assert json.loads(bodies["/filter"])["NodeNames"] == ["kubesched-probe"]


def test_whole_nodes_are_sent_to_an_extender_that_wants_them() -> None:
    calls, bodies = probed(is_cache_capable=False)
    assert calls[0].answer == "0 of 1 node left"  # names are not looked at then
    assert json.loads(bodies["/filter"])["Nodes"]["items"][0]["metadata"] == {"name": "kubesched-probe"}
    assert "NodeNameToVictims" in json.loads(bodies["/preempt"])


def test_an_answer_against_the_protocol_is_an_error_of_its_verb() -> None:
    calls, _ = probed(prioritize=[{"Host": "n", "Score": 7.5}])
    assert [call.verb for call in calls if call.error] == ["prioritize"]
    words = "json: cannot unmarshal number 7.5 into Go struct field HostPriority.Score of type int64"
    assert calls[1].error == words


def test_the_command_exits_with_1_when_an_extender_does_not_answer(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    file.write_text(
        yaml.safe_dump({**header, "extenders": [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter"}]})
    )
    result = run_command("config", "check", str(file), "--probe")
    assert result.exit_code == 1
    refused = 'Post "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused'
    assert f"filter  http://127.0.0.1:1/filter  {refused}\n" in result.stdout
    as_json = run_command("config", "check", str(file), "--probe", "-o", "json")
    assert json.loads(as_json.stdout)["extenders"][0]["verb"] == "filter"
    assert run_command("config", "check", str(file)).exit_code == 0


def test_without_extenders_there_is_nothing_to_call(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    result = run_command("config", "check", str(file), "--probe")
    assert (result.exit_code, "there are no extenders to call" in result.stdout) == (0, True)
