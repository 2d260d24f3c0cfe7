"""A Setup with calls of extenders asks them wherever it is used; one without them asks nothing."""

import json

import pytest

from kubesched.explanation import explain
from kubesched.extender_client import ExtenderCaller
from kubesched.framework import ActionDone, CallExtender, PatchPodStatus, Plugin
from kubesched.planning import drain, fit
from kubesched.session import Simulator
from kubesched.setup import Setup, set_up
from kubesched.testing import make_node, make_pod
from tests.extender.programmable import Answer, ProgrammableExtender

KIND = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
NODES = [make_node("n1"), make_node("n2")]
OWNER = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}]
RUNNING = make_pod("running", node="n1", metadata={"ownerReferences": OWNER})


def configured(url: str = "http://extender") -> bytes:
    stanza = {"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True}
    return json.dumps({**KIND, "extenders": [stanza]}).encode()


class Noting:
    """Extenders that pass every node.

    Attributes:
        asked: the pods that were asked about.
        n_closed: how often the connections were closed.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.n_closed = 0

    async def call(self, action: CallExtender) -> ActionDone:
        self.asked.append(action.pod.name)
        return ActionDone(action, answer=json.dumps({"NodeNames": json.loads(action.body)["NodeNames"]}).encode())

    async def close(self) -> None:
        self.n_closed += 1


QUESTIONS = {
    "simulate": lambda setup: Simulator([*NODES, make_pod("p")], setup).run(),
    "explain": lambda setup: explain([*NODES, make_pod("p")], "default/p", setup),
    "fit": lambda setup: fit(NODES, {"cpu": "1"}, setup),
    "drain": lambda setup: drain([*NODES, RUNNING], "n1", setup),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_takes_the_calls_of_its_setup(question: str) -> None:
    calls = Noting()
    QUESTIONS[question](set_up(configured(), extender_calls=calls))
    assert calls.asked
    assert calls.n_closed == 1


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_setup_without_calls_asks_nobody(question: str) -> None:
    setup = set_up(configured())
    assert setup.extenders == ()
    QUESTIONS[question](setup)


def test_a_setup_can_be_given_other_calls_and_none() -> None:
    first, second = Noting(), Noting()
    setup = set_up(configured(), extender_calls=first)
    assert set_up(setup).extenders == setup.configuration.extenders
    Simulator([*NODES, make_pod("p")], set_up(setup, extender_calls=second)).run()
    assert (first.asked, second.asked) == ([], ["p"])
    assert setup.calling(None).extenders == ()


def test_one_setup_asks_its_extenders_in_one_run_after_another() -> None:
    with ProgrammableExtender(lambda call: Answer(b'{"NodeNames": ["n2"]}')) as server:
        setup = set_up(configured(server.url("")))
        setup = setup.calling(ExtenderCaller(setup.configuration.extenders))
        runs = [Simulator([*NODES, make_pod("p")], setup).run() for _ in range(2)]
    assert [run.placements[0].node for run in runs] == ["n2", "n2"]


class Deleting(Plugin):
    """Asks its driver for something that a scheduling cycle does not get."""

    def post_filter(self, state, pod, diagnosis):  # type: ignore[no-untyped-def]
        return self.handle.perform(PatchPodStatus(pod))


class Waiting(Plugin):
    def post_filter(self, state, pod, diagnosis):  # type: ignore[no-untyped-def]
        return self.handle.wait(lambda: False, 5)


@pytest.mark.parametrize("calls", [None, Noting()])
@pytest.mark.parametrize(
    ("plugin", "refusal"), [(Deleting, "cannot perform actions"), (Waiting, "cannot wait for conditions")]
)
def test_what_a_scheduling_cycle_does_not_get_costs_the_pod_its_attempt_alone(
    plugin: type[Plugin], refusal: str, calls: Noting | None
) -> None:
    large = make_pod("large", requests={"cpu": "999"})
    setup: Setup = set_up(configured(), [plugin], extender_calls=calls)
    found = {one.pod: one for one in Simulator([*NODES, large, make_pod("small")], setup).run().placements}
    assert refusal in found["default/large"].message
    assert found["default/small"].node
