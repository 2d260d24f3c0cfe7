"""A scheduler whose API server did not answer at the start does not decide as another version than the server's."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kubesched.errors import ClusterError
from kubesched.live import SchedulerOptions, run_scheduler, start_sentence
from kubesched.release import Release
from kubesched.setup import set_up
from kubesched.shadow import run_shadow
from kubesched.testing import make_node
from tests.cluster.fake_api_server import Answer, says, status
from tests.cluster.fake_timing import run
from tests.live.read_only import kubeconfig_of, read_only_server

NO_ELECTION = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles: [{schedulerName: mine}]
"""


async def start(folder: Path, version: Answer | None, *, is_shadow: bool = False) -> None:
    """Start a scheduler that decides as v1.36, and end it when it is ready."""
    server, setup = read_only_server(make_node("n1")), set_up(NO_ELECTION)
    if version is not None:
        server.on("GET", "/version", version)
    stop = asyncio.Event()
    how: dict[str, Any] = {"stop": stop, "on_ready": lambda _: stop.set(), "checks_version": True}
    async with asyncio.timeout(20), server:
        options = SchedulerOptions(endpoints=None, kubeconfig=kubeconfig_of(server, folder))
        if is_shadow:
            await run_shadow(setup, options, None, **how)
        else:
            await run_scheduler(setup, options, **how)


@pytest.mark.parametrize(("version", "is_shadow"), [("v1.37.2", False), ("v1.37.2", True), ("v1.36.6", False)], ids=str)
def test_it_ends_where_the_server_has_another_version(tmp_path: Path, version: str, is_shadow: bool) -> None:
    with pytest.raises(ClusterError) as raised:
        run(start(tmp_path, says({"gitVersion": version}), is_shadow=is_shadow))
    assert str(raised.value) == (
        f"the API server is {version}; it did not answer when this process started, which decides as v1.36 since then; "
        "start it again, or give --kubernetes-version"
    )


@pytest.mark.parametrize(
    "version",
    [says({"gitVersion": "v1.36.5"}), says({"gitVersion": "nonsense"}), status(403, "Forbidden"), None],
    ids=["the same", "nonsense", "refused", "none"],
)
def test_it_goes_on_where_the_version_is_the_same_or_not_to_be_had(tmp_path: Path, version: Answer | None) -> None:
    run(start(tmp_path, version))


def test_control_characters_of_a_server_do_not_come_into_the_log() -> None:
    assert "\x1b" not in start_sentence(Release(36), "v1.36.3-\x1b[2J")


def test_feature_gates_are_named_with_the_version() -> None:
    release = replace(Release(36), gates=(("StorageCapacityScoring", True),))
    sentence = "decides as kube-scheduler v1.36 with StorageCapacityScoring=true; the API server is v1.36.0"
    assert start_sentence(release, "v1.36.0") == sentence
