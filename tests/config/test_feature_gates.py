import pytest

from kubesched.config import check_feature_gates
from kubesched.errors import ConfigError


@pytest.mark.parametrize(
    "values",
    [
        (),
        ("",),
        ("SchedulerQueueingHints=true",),
        ("SchedulerAsyncAPICalls=False, OpportunisticBatching=true", "kube:GangScheduling=false"),
    ],
)
def test_gates_at_their_defaults_are_accepted(values: tuple[str, ...]) -> None:
    check_feature_gates(values)


def test_gates_that_are_on_and_not_implemented_are_returned() -> None:
    values = ("kube:OpportunisticBatching=true,SchedulerQueueingHints=true", "DRADeviceTaints=1,GangScheduling=false")
    assert check_feature_gates(values) == ["DRADeviceTaints", "OpportunisticBatching"]
    assert check_feature_gates(()) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("OpportunisticBatching=true,StorageCapacityScoring=true", "does not support StorageCapacityScoring=true"),
        ("kube:PodLevelResources=false", "does not support kube:PodLevelResources=false"),
        ("SchedulerQueueingHint=true", 'unrecognized feature gate: SchedulerQueueingHint\n  did you mean "Sched'),
        ("KubeletTracing=true", "unrecognized feature gate: KubeletTracing"),
        ("GangScheduling", "invalid value of GangScheduling: ''; expected true or false"),
        ("GangScheduling=no", "invalid value of GangScheduling: 'no'"),
    ],
)
def test_anything_else_is_refused_by_name(value: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        check_feature_gates([value])
    assert message in str(error.value)


def test_batching_may_be_off_because_kubesched_has_none() -> None:
    assert check_feature_gates(["OpportunisticBatching=false"]) == []
