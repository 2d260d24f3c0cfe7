"""What `kubesched scheduler` reports at its start: only what this configuration and these flags make different."""

from typing import Any

import pytest
import yaml

from kubesched.cli.scheduler_differences import differences
from kubesched.live import EndpointOptions, SchedulerOptions
from kubesched.scheduler import TieBreak
from kubesched.setup import Setup, set_up

NO_DYNAMIC_RESOURCES = {
    "schedulerName": "default-scheduler",
    "plugins": {"multiPoint": {"disabled": [{"name": "DynamicResources"}]}},
}
LIKE_UPSTREAM: dict[str, Any] = {
    "clientConnection": {"qps": 50},
    "leaderElection": {"leaderElect": False},
    "percentageOfNodesToScore": 100,
    "profiles": [NO_DYNAMIC_RESOURCES],
}


def setup_of(**fields: Any) -> Setup:
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return set_up(yaml.safe_dump({**header, **LIKE_UPSTREAM, **fields}).encode())


def told(*, ignored: tuple[str, ...] = (), options: SchedulerOptions | None = None, **fields: Any) -> list[str]:
    return differences(setup_of(**fields), options or SchedulerOptions(endpoints=None), ignored)


def test_a_run_that_does_what_kube_scheduler_does_has_no_differences() -> None:
    assert told(options=SchedulerOptions(endpoints=EndpointOptions(host="0.0.0.0"))) == []


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"percentageOfNodesToScore": 0}, "every node is examined for pods of default-scheduler"),
        ({"clientConnection": {}}, "requests have no rate limit;"),
        ({"profiles": [{}]}, "pods are placed that kube-scheduler v1.36.3 leaves pending forever: with a claim that"),
    ],
)
def test_each_difference_is_reported_where_the_configuration_has_it(fields: dict[str, Any], text: str) -> None:
    (line,) = told(**fields)
    assert line.startswith(text)


def test_a_scheduler_calls_extenders_and_shadow_mode_does_not() -> None:
    fields = {"extenders": [{"urlPrefix": "http://one"}, {"urlPrefix": "http://two"}]}
    assert told(**fields) == []
    assert "extenders are not called: http://one, http://two" in differences(
        setup_of(**fields), SchedulerOptions(endpoints=None), is_shadow=True
    )


def test_only_profiles_without_a_percentage_are_named() -> None:
    profiles = [NO_DYNAMIC_RESOURCES, {**NO_DYNAMIC_RESOURCES, "schedulerName": "b", "percentageOfNodesToScore": 0}]
    (line,) = told(profiles=profiles)
    assert line.startswith("every node is examined for pods of b;")


def test_flags_are_reported() -> None:
    (line,) = told(ignored=("--profiling", "--vmodule"))
    assert line == "these flags of kube-scheduler have no effect in kubesched: --profiling, --vmodule"
    (line,) = told(options=SchedulerOptions(endpoints=None, tie_break=TieBreak.RANDOM))
    assert line == "of equally good nodes, --tie-break random selects one"
    (line,) = told(options=SchedulerOptions(endpoints=None, dry_run=True))
    assert line.startswith("nothing is written (--dry-run)")
    (line,) = told(options=SchedulerOptions(endpoints=EndpointOptions(host="127.0.0.1")))
    assert line.startswith("the endpoints listen on 127.0.0.1")
