"""The leader election flags of `kubesched scheduler`, next to its configuration."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import kubesched.programs
from kubesched.config import Duration, LeaderElectionConfiguration
from kubesched.errors import LeaseLostError
from kubesched.setup import Setup
from tests.cli.clusters import run

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class Started:
    """What `kubesched scheduler` was started with, in place of a scheduler."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.setup: Setup | None = None
        self.error: Exception | None = None

    async def run_scheduler(self, setup: Setup, *args: Any, **how: Any) -> None:
        self.setup = setup
        how["on_started"]()
        if self.error is not None:
            raise self.error

    def scheduler(self, *flags: str, config: str = "") -> Result:
        file = self.folder / "scheduler.yaml"
        file.write_text(HEADER + config)
        return run("scheduler", "--config", file, *flags)

    def election(self, *flags: str, config: str = "") -> LeaderElectionConfiguration:
        result = self.scheduler(*flags, config=config)
        assert result.exit_code == 0, result.output
        assert self.setup is not None
        return self.setup.configuration.leader_election


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    """Give back what the command sets for its whole process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Started:
    made = Started(tmp_path)
    monkeypatch.setattr(kubesched.programs, "run_live", made.run_scheduler)
    return made


@pytest.mark.parametrize(
    "config", ["", "leaderElection: {}", "leaderElection: null", 'leaderElection: {resourceName: ""}']
)
def test_the_lease_is_not_kube_schedulers_unless_somebody_says_so(started: Started, config: str) -> None:
    election = started.election(config=config)
    assert (election.leader_elect, election.resource_namespace) == (True, "kube-system")
    assert election.resource_name == "kubesched"


def test_a_name_in_the_file_counts(started: Started) -> None:
    assert started.election(config="leaderElection: {resourceName: kube-scheduler}").resource_name == "kube-scheduler"


def test_every_flag_replaces_its_field_and_no_other(started: Started) -> None:
    config = "leaderElection: {leaderElect: false, leaseDuration: 40s, renewDeadline: 30s, resourceName: mine}"
    flags = {
        "lease-duration": "50s",
        "renew-deadline": "45s",
        "retry-period": "1s500ms",
        "resource-lock": "leases",
        "resource-name": "ours",
        "resource-namespace": "infra",
    }
    all_of_them = [f"--leader-elect-{name}={value}" for name, value in flags.items()]
    times = (Duration(50), Duration(45), Duration(1.5))
    wanted = LeaderElectionConfiguration(True, *times, "leases", "ours", "infra")
    assert started.election("--leader-elect", *all_of_them, config=config) == wanted
    kept = started.election("--leader-elect-retry-period=1s", config=config)
    assert (kept.leader_elect, kept.lease_duration, kept.resource_name) == (False, 40, "mine")


@pytest.mark.parametrize(("flag", "wanted"), [("--leader-elect", True), ("--leader-elect=false", False)])
def test_leader_elect_is_a_flag_of_go(started: Started, flag: str, wanted: bool) -> None:
    assert started.election(flag, config="leaderElection: {leaderElect: false}").leader_elect is wanted


def test_flags_count_before_the_configuration_is_checked(started: Started) -> None:
    config = "leaderElection: {leaseDuration: 5s}"
    assert started.election("--leader-elect-renew-deadline=3s", config=config).lease_duration == 5
    result = started.scheduler(config=config)
    assert result.exit_code == 2
    assert 'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`' in result.stderr
    result = started.scheduler("--leader-elect-resource-lock=configmaps")
    assert result.exit_code == 2
    assert 'leaderElection.resourceLock: Invalid value: "configmaps"' in result.stderr
    assert "leaderElection.resourceLock: the value is from --leader-elect-resource-lock" in result.stderr


@pytest.mark.parametrize(
    ("config", "flags", "help"),
    [
        (
            "",
            ["--leader-elect-lease-duration=5s"],
            "--leader-elect-lease-duration is 5s, renewDeadline is 10s by default",
        ),
        (
            "leaderElection: {leaseDuration: 40s}",
            ["--leader-elect-renew-deadline=45s"],
            "leaseDuration is 40s, --leader-elect-renew-deadline is 45s",
        ),
        ("leaderElection: {leaseDuration: 5s}", [], "leaseDuration is 5s, renewDeadline is 10s by default"),
        ("leaderElection: {renewDeadline: 20s}", [], "leaseDuration is 15s by default, renewDeadline is 20s"),
    ],
)
def test_a_lease_that_is_shorter_than_its_renewal_names_both_values_and_where_they_are_from(
    started: Started, config: str, flags: list[str], help: str
) -> None:
    lines = started.scheduler(*flags, config=config).stderr.splitlines()
    advice = f"  leaderElection.leaseDuration: {help}; give a longer lease duration or a shorter renew deadline"
    assert lines[1:] == ([advice] if flags else [advice, f"  in {started.folder / 'scheduler.yaml'}"])


def test_one_note_says_which_lease_decides(started: Started) -> None:
    assert "not kube-scheduler's" in started.scheduler().stderr
    lines = started.scheduler("--leader-elect-resource-name=kube-scheduler").stderr.splitlines()
    (line,) = [line for line in lines if "Lease" in line]
    assert line == "kubesched: note: leader election on the Lease kube-system/kube-scheduler"
    assert "Lease" not in started.scheduler("--leader-elect=false").stderr


def test_a_scheduler_of_other_pods_is_not_advised_to_replace_kube_scheduler(started: Started) -> None:
    profiles = "profiles: [{schedulerName: gpu}]"
    told = started.scheduler(config=profiles).stderr
    assert "with this Lease, set a separate leaderElection.resourceName" in told
    assert "--replace" not in told
    told = started.scheduler("--leader-elect-resource-name=kube-scheduler", config=profiles).stderr
    assert "kube-scheduler's: only one of the two schedules; set another leaderElection.resourceName" in told


def test_a_lost_lease_ends_the_command_with_code_1(started: Started) -> None:
    started.error = LeaseLostError("lease kube-system/kubesched is held by thief")
    result = started.scheduler()
    assert result.exit_code == 1
    assert "Traceback" not in result.output
