"""What the four extenders do in a simulation, behind a kube-scheduler, and by contract."""

from pathlib import Path

import pytest
from always_true import AlwaysTrue, ZeroScore
from calls import Scheduler
from gpu_share import COUNT, DEVICE, MEMORY, GpuShare
from label_filter import LabelFilter
from lucky import Lucky

from kubesched import Plugin, Pod, Report, Simulator, load_configuration, load_snapshot, set_up
from kubesched.extender import find_offer
from kubesched.testing import check_plugin, make_node, make_pod, varied_scenario

HERE = Path(__file__).parent


def simulated(*plugins: type[Plugin]) -> Report:
    return Simulator(load_snapshot(HERE / "cluster.yaml"), plugins=plugins).run()


def places(report: Report) -> dict[str, str]:
    return {placement.pod.removeprefix("default/"): placement.node for placement in report.placements}


# --- the configurations ---


@pytest.mark.parametrize(
    ("file", "plugins"),
    [
        ("always-true", [AlwaysTrue, ZeroScore]),
        ("lucky", [Lucky]),
        ("label-filter", [LabelFilter]),
        ("gpu-share", [GpuShare]),
    ],
)
def test_the_configuration_asks_for_what_the_plugins_offer(file: str, plugins: list[type[Plugin]]):
    configuration = load_configuration(HERE / f"{file}.yaml")
    (extender,) = configuration.extenders
    offer = find_offer(set_up(None, plugins, default_plugins=False).profiles)
    asked = [verb for verb in ("filter", "prioritize", "preempt", "bind") if getattr(extender, f"{verb}_verb")]
    assert asked == offer.verbs
    assert extender.weight == offer.weight
    assert configuration.leader_election.resource_name == configuration.profiles[0].scheduler_name == file


# --- always true ---


def test_always_true_changes_nothing():
    assert places(simulated(AlwaysTrue, ZeroScore)) == places(simulated())


def test_always_true_says_yes_to_every_call():
    victim = make_pod("victim", node="n1")
    scheduler = Scheduler(AlwaysTrue, ZeroScore, shown=[make_node("n1"), make_node("n2"), victim])
    assert scheduler.filter(make_pod("web"), "n1", "n2") == {"n1": "", "n2": ""}
    assert scheduler.prioritize(make_pod("web"), "n1", "n2") == {"n1": 0, "n2": 0}
    assert scheduler.preempt(make_pod("web"), {"n1": victim.uid}) == ["n1"]


# --- luck ---

HUNDRED = [f"n{i}" for i in range(100)]


def test_luck_stays_the_same_however_often_and_whoever_is_asked():
    pod, nodes = make_pod("web"), [make_node(name) for name in HUNDRED]
    first, second = Scheduler(Lucky, shown=nodes), Scheduler(Lucky, shown=nodes)
    answer = first.filter(pod, *HUNDRED)
    assert first.filter(pod, *HUNDRED) == second.filter(pod, *reversed(HUNDRED)) == answer
    assert {name: first.filter(pod, name)[name] for name in HUNDRED} == answer
    assert second.prioritize(pod, *HUNDRED) == first.prioritize(pod, *HUNDRED)


def test_about_half_of_the_nodes_are_lucky_and_others_for_another_pod():
    scheduler = Scheduler(Lucky, shown=map(make_node, HUNDRED))
    lucky = {name for name, reason in scheduler.filter(make_pod("web"), *HUNDRED).items() if not reason}
    assert 30 < len(lucky) < 70
    assert lucky != {name for name, reason in scheduler.filter(make_pod("api"), *HUNDRED).items() if not reason}
    assert len(set(scheduler.prioritize(make_pod("web"), *HUNDRED).values())) > 5


def test_a_reason_names_no_node_so_that_events_can_count_it():
    scheduler = Scheduler(Lucky, shown=map(make_node, HUNDRED), Lucky={"percent": 0})
    assert set(scheduler.filter(make_pod("web"), *HUNDRED).values()) == {"node(s) were not lucky for the pod"}


def test_without_luck_nothing_is_placed():
    snapshot = load_snapshot(HERE / "cluster.yaml")
    report = Simulator(snapshot, plugins=[Lucky], plugin_args={"Lucky": {"percent": 0}}).run()
    assert set(places(report).values()) == {""}


# --- a label ---


def needs(label: str) -> Pod:
    return make_pod("db", annotations={"example.com/needs-label": label})


def test_a_pod_that_needs_a_label_gets_it():
    assert places(simulated(LabelFilter))["db"] in {"gpu-1", "plain"}
    scheduler = Scheduler(LabelFilter, shown=[make_node("fast", labels={"disk": "ssd"}), make_node("slow")])
    assert scheduler.filter(needs("disk"), "fast", "slow") == {
        "fast": "",
        "slow": 'node(s) did not have the label "disk"',
    }
    assert scheduler.filter(make_pod("web"), "fast", "slow") == {"fast": "", "slow": ""}


def test_the_binding_says_who_bound():
    pod = needs("disk")
    scheduler = Scheduler(LabelFilter, shown=[make_node("fast", labels={"disk": "ssd"}), pod])
    assert scheduler.bind((pod, "fast")) == [""]
    (binding,) = scheduler.writes.bindings
    assert (binding.pod.uid, binding.node_name) == (pod.uid, "fast")
    assert binding.annotations == {"example.com/bound-by": "LabelFilter"}


def test_what_the_api_server_refuses_is_told():
    pod = needs("disk")
    scheduler = Scheduler(LabelFilter, shown=[make_node("fast", labels={"disk": "ssd"}), pod])
    scheduler.writes.fault = "pod db is gone"
    (error,) = scheduler.bind((pod, "fast"))
    assert "pod db is gone" in error


# --- parts of a GPU ---


def gpu_node(name: str = "gpu-1", memory: int = 32, count: int = 2):
    return make_node(
        name, allocatable={"cpu": "8", "memory": "8Gi", "pods": "9", MEMORY: str(memory), COUNT: str(count)}
    )


def gpu_pod(name: str, memory: int, node: str = "", device: int | str | None = None, **more: object) -> Pod:
    notes = {} if device is None else {DEVICE: str(device)}
    return make_pod(name, requests={MEMORY: str(memory)}, node=node, annotations=notes, **more)


def devices(scheduler: Scheduler) -> dict[str, str]:
    return {binding.pod.name: binding.annotations[DEVICE] for binding in scheduler.writes.bindings}


def test_a_simulation_packs_devices_and_never_splits_a_pod():
    at = places(simulated(GpuShare))
    assert at["train-1"] == at["train-2"] == "gpu-1"
    assert at["train-3"] == at["infer"] == "gpu-2", "12 are left on gpu-1, 6 on each device"


def test_the_sum_of_free_memory_is_not_enough():
    scheduler = Scheduler(GpuShare, shown=[gpu_node(), gpu_pod("a", 10, "gpu-1", 0), gpu_pod("b", 10, "gpu-1", 1)])
    assert scheduler.filter(gpu_pod("c", 10), "gpu-1") == {"gpu-1": "node(s) had no GPU with enough free memory"}
    assert scheduler.filter(gpu_pod("c", 6), "gpu-1") == {"gpu-1": ""}


def test_the_fuller_device_is_better():
    shown = [gpu_node("gpu-1"), gpu_node("gpu-2"), gpu_pod("a", 10, "gpu-2", 1)]
    assert Scheduler(GpuShare, shown=shown).prioritize(gpu_pod("c", 6), "gpu-1", "gpu-2") == {"gpu-1": 4, "gpu-2": 10}


def test_a_pod_without_gpu_is_left_alone():
    pod = make_pod("web")
    scheduler = Scheduler(GpuShare, shown=[gpu_node(), pod])
    assert scheduler.filter(pod, "gpu-1") == {"gpu-1": ""}
    assert scheduler.bind((pod, "gpu-1")) == [""]
    assert scheduler.writes.bindings[0].annotations == {}


def test_the_binding_says_which_device():
    pods = [gpu_pod("a", 6), gpu_pod("b", 12), gpu_pod("c", 4)]
    scheduler = Scheduler(GpuShare, shown=[gpu_node(), *pods])
    assert scheduler.bind(*((pod, "gpu-1") for pod in pods)) == ["", "", ""]
    assert devices(scheduler) == {"a": "0", "b": "1", "c": "1"}


def test_of_two_pods_bound_at_once_one_gets_the_last_device():
    pods = [gpu_pod("a", 16), gpu_pod("b", 16)]
    scheduler = Scheduler(GpuShare, shown=[gpu_node(memory=16, count=1), *pods])
    errors = scheduler.bind(*((pod, "gpu-1") for pod in pods))
    assert errors[0] == ""
    assert "the GPU on node gpu-1 was taken in the meantime" in errors[1]
    assert devices(scheduler) == {"a": "0"}
    assert scheduler.filter(pods[1], "gpu-1")["gpu-1"] != "", "a is bound, though the watch has not shown it"


def test_a_device_comes_back_when_its_binding_fails():
    pod = gpu_pod("a", 16)
    scheduler = Scheduler(GpuShare, shown=[gpu_node(memory=16, count=1), pod])
    scheduler.writes.fault = "the API server is away"
    assert "the API server is away" in scheduler.bind((pod, "gpu-1"))[0]
    scheduler.writes.fault = ""
    assert scheduler.filter(gpu_pod("b", 16), "gpu-1") == {"gpu-1": ""}


def test_a_device_comes_back_when_its_pod_ends():
    pod = gpu_pod("a", 16)
    scheduler = Scheduler(GpuShare, shown=[gpu_node(memory=16, count=1), pod])
    assert scheduler.bind((pod, "gpu-1")) == [""]
    scheduler.show(gpu_pod("a", 16, "gpu-1", 0))
    assert scheduler.filter(gpu_pod("b", 16), "gpu-1")["gpu-1"] != ""
    scheduler.show(gpu_pod("a", 16, "gpu-1", 0, status={"phase": "Succeeded"}))
    assert scheduler.filter(gpu_pod("b", 16), "gpu-1") == {"gpu-1": ""}


def test_an_extender_that_starts_again_knows_who_has_which_device():
    other = gpu_pod("b", 10)
    scheduler = Scheduler(GpuShare, shown=[gpu_node(), gpu_pod("a", 10, "gpu-1", 0), other])
    assert scheduler.bind((other, "gpu-1")) == [""]
    assert devices(scheduler) == {"b": "1"}


def test_an_annotation_that_names_no_device_takes_none():
    odd = [gpu_pod(f"odd-{i}", 16, "gpu-1", device) for i, device in enumerate((-1, 2, "one"))]
    assert Scheduler(GpuShare, shown=[gpu_node(), *odd]).filter(gpu_pod("b", 16), "gpu-1") == {"gpu-1": ""}


# --- the contract of all plugins ---

SCENARIO = varied_scenario().extended(
    nodes=[gpu_node(), gpu_node("gpu-2", 8, 1)],
    pods=[gpu_pod("resident", 10, "gpu-1", 1)],
    pending=[needs("disk"), gpu_pod("part", 4), gpu_pod("too-much", 30)],
)
CHECKS = [
    pytest.param(check, id=f"{plugin_class.__name__}-{check}")
    for plugin_class in (AlwaysTrue, ZeroScore, Lucky, LabelFilter, GpuShare)
    for check in check_plugin(plugin_class, scenario=SCENARIO)
]


@pytest.mark.filterwarnings("ignore:AlwaysTrue. its filter accepts every pod")
@pytest.mark.parametrize("check", CHECKS)
def test_contract(check):
    check()
