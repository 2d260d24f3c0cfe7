"""`kubesched config check --probe`: every verb of every extender is called, and its answer checked."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from kubesched.config import ExtenderConfig
from kubesched.extender_client import Probed, probe
from tests.cli.clusters import run as run_command
from tests.extender_client.test_client import extender

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
        ("prioritize", "a score of 3", ""),
        ("preempt", "0 of 1 candidate left", ""),
        ("bind", 'the error "pod default/kubesched-probe not found"', ""),
    ]
    assert json.loads(bodies["/filter"])["NodeNames"] == ["kubesched-probe"]


def test_whole_nodes_are_sent_to_an_extender_that_wants_them() -> None:
    nodes = {"Nodes": {"items": [{"metadata": {"name": "kubesched-probe"}}]}}
    calls, bodies = probed(is_cache_capable=False, filter=nodes)
    assert calls[0].answer == "1 of 1 node left"
    assert json.loads(bodies["/filter"])["Nodes"]["items"][0]["metadata"] == {"name": "kubesched-probe"}
    assert "NodeNameToVictims" in json.loads(bodies["/preempt"])


def test_an_answer_against_the_protocol_is_an_error_of_its_verb() -> None:
    calls, _ = probed(prioritize=[{"Host": "n", "Score": 7.5}])
    assert [call.verb for call in calls if call.error] == ["prioritize"]
    words = "json: cannot unmarshal number 7.5 into Go struct field HostPriority.Score of type int64"
    assert calls[1].error == words


@pytest.mark.parametrize(
    ("is_cache_capable", "answer", "words"),
    [
        (False, {"NodeNames": ["kubesched-probe"]}, "kube-scheduler does not read NodeNames without nodeCacheCapable"),
        (False, {}, "the answer has no Nodes"),
        (True, None, "the answer has neither NodeNames nor Nodes"),
        (True, {"NodeNames": ["kubesched-probe", "nope"]}, 'the answer has the node "nope"'),
        (False, {"Nodes": {"items": [{"metadata": {"name": "nope"}}]}}, 'the answer has the node "nope"'),
    ],
)
def test_an_answer_to_filter_that_leaves_no_pod_a_node_is_an_error(is_cache_capable, answer, words) -> None:
    calls, _ = probed(is_cache_capable=is_cache_capable, filter=answer)
    assert words in calls[0].error


def test_rejecting_the_node_is_a_valid_answer() -> None:
    calls, _ = probed(filter={"FailedNodes": {"kubesched-probe": "no such node"}})
    assert (calls[0].answer, calls[0].error) == ("0 of 1 node left", "")


def test_scores_of_other_nodes_and_beyond_ten_are_errors() -> None:
    assert '"nope"' in probed(prioritize=[{"Host": "nope", "Score": 3}])[0][1].error
    assert "50; expected 0 to 10" in probed(prioritize=[{"Host": "kubesched-probe", "Score": 50}])[0][1].error
    assert '"nope"' in probed(preempt={"NodeNameToMetaVictims": {"nope": {"Pods": []}}})[0][2].error


def test_a_binding_of_a_pod_that_does_not_exist_is_told() -> None:
    calls, _ = probed(bind={})
    assert calls[3].answer == "no error, though there is no such pod"


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
