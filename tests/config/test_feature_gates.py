import pytest

from kubesched.config import read_feature_gates, without_effect
from kubesched.errors import ConfigError
from kubesched.release import Release

NEEDS = "is enabled, but depends on features that are disabled:"


@pytest.mark.parametrize(
    ("values", "gates"),
    [
        ((), {}),
        (("",), {}),
        (("SchedulerQueueingHints=true",), {"SchedulerQueueingHints": True}),
        (
            ("SchedulerAsyncAPICalls=False, OpportunisticBatching=true", "kube:GangScheduling=false"),
            {"SchedulerAsyncAPICalls": False, "OpportunisticBatching": True, "GangScheduling": False},
        ),
        (("CBORServingAndStorage=true",), {"CBORServingAndStorage": True}),  # decides nothing
        (("VolumeLimitScaling=t",), {"VolumeLimitScaling": True}),  # both rules are here
        (("DRAConsumableCapacity=true",), {"DRAConsumableCapacity": True}),
        (("CSIVolumeHealth=true,CSIVolumeHealth=false",), {"CSIVolumeHealth": False}),  # the last one counts
    ],
)
def test_gates_are_read(values: tuple[str, ...], gates: dict[str, bool]) -> None:
    assert read_feature_gates(values) == gates


def test_gates_that_are_on_and_not_implemented() -> None:
    assert without_effect(read_feature_gates(["OpportunisticBatching=true,DRADeviceTaints=1"])) == [
        "OpportunisticBatching"
    ]
    assert without_effect(read_feature_gates(["OpportunisticBatching=false"])) == []


@pytest.mark.parametrize(
    ("value", "minor", "message"),
    [
        ("SchedulerQueueingHint=true", 36, 'unrecognized feature gate: SchedulerQueueingHint\n  did you mean "Sched'),
        ("Nonsense=true", 36, "unrecognized feature gate: Nonsense\n  v1.36 has no such gate"),
        (
            "DRAFractionalCapacityRange=true",
            36,
            "unrecognized feature gate: DRAFractionalCapacityRange\n  v1.36 does not have it; it exists since v1.37",
        ),
        (
            "GangScheduling=true",
            37,
            "GangScheduling\n  v1.37 does not have it any more; the last version with it is v1.36",
        ),
        (
            "SchedulerQueueingHints=false",
            36,
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
        ),
        ("GangScheduling", 36, "missing bool value for GangScheduling"),
        (
            "GangScheduling=no",
            36,
            'invalid value of GangScheduling=no, err: strconv.ParseBool: parsing "no": invalid syntax',
        ),
        ("GangScheduling=true", 36, "kubesched has no rules for GangScheduling=true\n  leave the default of v1.36"),
        ("DRAPrioritizedList=false", 36, "kubesched has no rules for DRAPrioritizedList=false"),
        ("GenericWorkload=true", 37, "`kubesched explain --group GROUP` says whether the pods of a group fit together"),
        (
            "TopologyAwareWorkloadScheduling=true",
            36,
            "the plugin of examples/plugins/pod_group.py starts them together",
        ),
        (
            "PodLevelResources=false",
            36,
            f"InPlacePodLevelResourcesVerticalScaling {NEEDS} [PodLevelResources]\n  add InPlacePodLevelResources",
        ),
        (
            "NodeDeclaredFeatures=false",
            36,
            f"[ExtendWebSocketsToKubelet {NEEDS} [NodeDeclaredFeatures], InPlacePodLevelResourcesVerticalScaling is",
        ),
        ("AllAlpha=true", 36, "DRAWorkloadResourceClaims=true, GangScheduling=true, "),
        ("AllAlpha=true", 36, "WorkloadAwarePreemption=true, part of AllAlpha=true\n  add the defaults of v1.36, "),
        ("AllBeta=false", 36, ", part of AllBeta=false\n  add the defaults of v1.36, "),
        ("GenericWorkload=true,GangScheduling=true", 36, "GenericWorkload=true and GangScheduling=true\n  leave the "),
        ("=true", 36, "unrecognized feature gate: \n  there is no name before '=true'; write NAME=true or NAME=false"),
        ("kube:=true", 36, "there is no name before 'kube:=true'"),
        ("=", 36, "there is no name before '='"),
    ],
)
def test_anything_else_is_refused_by_name(value: str, minor: int, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_feature_gates([value], Release(minor))
    assert message in str(error.value)


@pytest.mark.parametrize("value", ["{}", "{}=true", "CSIVolumeHealth={}", "={}"])
def test_long_texts_are_cut(value: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_feature_gates([value.format("x" * 100_000)])
    assert len(str(error.value)) < 400


def test_the_advice_on_a_stage_is_taken() -> None:
    with pytest.raises(ConfigError) as error:
        read_feature_gates(["AllBeta=true"], Release(37))
    defaults = str(error.value).partition("v1.37, ")[2].partition(":")[0]
    assert "GenericWorkload=false" in defaults
    gates = read_feature_gates([f"AllBeta=true,{defaults}"], Release(37))
    assert (gates["GenericWorkload"], gates["CoordinatedLeaderElection"], "AllBeta" in gates) == (False, True, False)


def test_gates_need_others_since_v1_35() -> None:
    assert read_feature_gates(["PodLevelResources=false"], Release(34)) == {"PodLevelResources": False}
    both = "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false"
    assert not any(read_feature_gates([both], Release(36)).values())
