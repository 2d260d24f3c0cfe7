"""Scenes with resource claims that are made by hand: each of one rule of DynamicResources, and what undoes it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from campaigns.live.device_steps import (
    ALL,
    ATTACHED,
    FABRIC,
    GPU,
    GPUS,
    IMPLICIT,
    IN_ADMIN_NAMESPACE,
    NIC,
    PARTS,
    allocate,
    bands,
    body,
    claim,
    delete,
    device,
    device_class,
    exactly,
    first_of,
    gpus,
    left_over,
    node,
    of_gpu,
    pod,
    report,
    report_all,
    republish,
    slice_spec,
    taint,
    template,
    together,
    until_allocated,
    update,
    wanting,
    wants,
)
from campaigns.live.intrusion import Intrusion
from campaigns.live.volumes import Step, create
from tests.integration.control_plane import ControlPlane

USUAL = (device_class("gpu", extendedResourceName=GPUS), node("n1"), node("n2", "4"))


@dataclass
class Scene:
    """A script whose steps are fixed.

    Attributes:
        before: steps before the first pod, besides the usual ones.
        then: steps one after another.
        has_usual: whether it begins with the class `gpu` and two nodes.
    """

    name: str
    before: tuple[Step, ...]
    then: tuple[Step, ...]
    timeout: int = 0
    has_usual: bool = True
    differs: str = ""
    is_exact: bool = True
    intrusions: tuple[Intrusion, ...] = ()
    pods: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        texts = (text for step in (*self.before, *self.then) for text in step[0].split(" and "))
        self.pods = [text.removeprefix("create Pod ") for text in texts if text.startswith("create Pod ")]

    def setup(self, plane: ControlPlane) -> Iterable[Step]:
        return (*(USUAL if self.has_usual else ()), *self.before)

    def steps(self, plane: ControlPlane) -> Iterable[Step]:
        return self.then


def partitions(on: str) -> Step:
    """A card in parts: two of 3 engines and one of 7, of 7."""

    def amounts(n: int) -> dict[str, object]:
        return {"counterSet": "card", "counters": {"engines": {"value": str(n)}}}

    devices = [
        {"name": name, "attributes": {"engines": {"int": n}}, "consumesCounters": [amounts(n)]}
        for name, n in (("half-0", 3), ("half-1", 3), ("whole", 7))
    ]
    counters = [{"name": "card", "counters": {"engines": {"value": "7"}}}]
    return together(
        create("ResourceSlice", f"{on}-counters", spec=slice_spec(PARTS, on, count=2, sharedCounters=counters)),
        create("ResourceSlice", f"{on}-parts", spec=slice_spec(PARTS, on, count=2, devices=devices)),
    )


def nic(on: str, **policy: object) -> Step:
    """A NIC that is shared."""
    bandwidth = {"value": "10G", **({"requestPolicy": policy} if policy else {})}
    one = {"name": "nic-0", "allowMultipleAllocations": True, "capacity": {"bandwidth": bandwidth}}
    return create("ResourceSlice", f"{on}-nic", spec=slice_spec(NIC, on, devices=[one]))


def fabric(zone: str) -> Step:
    """Devices that all nodes of a zone reach."""
    term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}
    where = {"nodeSelector": {"nodeSelectorTerms": [term]}}
    return create("ResourceSlice", f"fabric-{zone}", spec=slice_spec(FABRIC, zone, devices=[{"name": "x"}], **where))


def some_bandwidth(amount: str) -> dict[str, object]:
    return wants(exactly(1, of="nic", capacity={"requests": {"bandwidth": amount}}))


def halves(name: str = "r") -> dict[str, object]:
    test = f'device.attributes["{PARTS}"].engines == 3'
    return exactly(1, test, of="parts", name=name)


TOUCHED = update("ResourceClaim", "c", {"metadata": {"annotations": {"touched": "yes"}}})
_GONE = "the event of a pod that is gone says so in other words"
PART_CLASS = device_class("parts", driver=PARTS)
NIC_CLASS = device_class("nic", driver=NIC)
FABRIC_CLASS = device_class("fabric", driver=FABRIC)

SCENES = (
    Scene(
        "a claim of a template, and a second pod that waits until the first is gone",
        (gpus("n1", 1), template("one")),
        (pod("a", of="one"), pod("b", of="one"), delete("Pod", "a")),
    ),
    Scene(
        "a template that is missing, and comes",
        (gpus("n1", 1),),
        (pod("a", of="one"), template("one")),
    ),
    Scene(
        "a claim that is missing, and comes",
        (gpus("n1", 1),),
        (pod("a", "c"), claim("c")),
    ),
    Scene(
        "a claim that three pods share",
        (gpus("n1", 1), gpus("n2", 2), claim("c")),
        (pod("a", "c"), pod("b", "c"), pod("c", "c", cpu="9"), delete("Pod", "a"), delete("Pod", "b")),
    ),
    Scene(
        "two claims, of which one cannot be had",
        (gpus("n1", 2), claim("c1"), claim("c2", wants(exactly(2)))),
        (pod("a", "c1", "c2"), gpus("n2", 3)),
    ),
    Scene(
        "a claim that a pod lists twice",
        (gpus("n1", 2), claim("c")),
        (pod("a", "c", "c"),),
        differs="kube-scheduler v1.36.3 never starts the pod",
    ),
    Scene(
        "devices of one NUMA node",
        (
            gpus("n1", device("d0"), device("d1", numa=1), device("d2", numa=1)),
            claim("c", wants(exactly(2), constraints=[{"matchAttribute": f"{GPU}/numa"}])),
            claim("d", wants(exactly(2), constraints=[{"matchAttribute": f"{GPU}/numa"}])),
        ),
        (pod("a", "c"), pod("b", "d"), delete("Pod", "a")),
    ),
    Scene(
        "devices of different models",
        (
            gpus("n1", device("d0"), device("d1"), device("d2", "L4")),
            claim("c", wants(exactly(2), constraints=[{"distinctAttribute": f"{GPU}/model"}])),
        ),
        (pod("a", "c"),),
    ),
    Scene(
        "a monitor with admin access beside the pod that has the device",
        (IN_ADMIN_NAMESPACE, gpus("n1", 1), claim("c"), claim("m", wants(exactly(1, adminAccess=True)))),
        (pod("a", "c"), pod("m", "m"), delete("Pod", "a"), pod("b", "c")),
    ),
    Scene(
        "a device with a taint, which is taken away",
        (gpus("n1", device("d0", **taint())), claim("c")),
        (pod("a", "c"), republish("n1", device("d0"))),
    ),
    Scene(
        "taints that a request tolerates, and a taint that comes later",
        (
            gpus("n1", device("d0", **taint("NoExecute"))),
            claim("c", wants(exactly(1, tolerations=[{"key": "sick", "operator": "Exists"}]))),
            claim("d"),
        ),
        (
            pod("a", "c"),
            gpus("n2", device("d1")),
            pod("b", "d"),
            republish("n2", device("d1", **taint("NoExecute"))),
            pod("c", "d"),
        ),
    ),
    Scene(
        "parts of a card, whose counters are used up",
        (PART_CLASS, partitions("n1"), *(claim(f"c{i}", wants(halves())) for i in range(3))),
        (pod("a", "c0"), pod("b", "c1"), pod("c", "c2"), delete("Pod", "a")),
    ),
    Scene(
        "a whole card after its parts",
        (
            PART_CLASS,
            partitions("n1"),
            claim("c", wants(halves())),
            claim("w", wants(exactly(1, f'device.attributes["{PARTS}"].engines == 7', of="parts"))),
        ),
        (pod("a", "c"), pod("b", "w"), delete("Pod", "a")),
    ),
    Scene(
        "capacity that three pods share, and a fourth waits for",
        (NIC_CLASS, nic("n1"), *(claim(f"c{i}", some_bandwidth(n)) for i, n in enumerate(("4G", "5G", "1G", "1G")))),
        (pod("a", "c0"), pod("b", "c1"), pod("c", "c2"), pod("d", "c3"), delete("Pod", "c")),
    ),
    Scene(
        "capacity in steps, and the default of it",
        (
            NIC_CLASS,
            nic("n1", default="2G", validRange={"min": "1G", "max": "8G", "step": "1G"}),
            claim("c0", some_bandwidth("2500M")),
            claim("c1", wants(exactly(1, of="nic"))),
            claim("c2", some_bandwidth("9G")),
            claim("c3", some_bandwidth("5G")),
        ),
        (pod("a", "c0"), pod("b", "c1"), pod("c", "c2"), pod("d", "c3"), delete("Pod", "a")),
    ),
    Scene(
        "alternatives: the node with the first one wins",
        (
            gpus("n1", device("d0", "L4"), device("d1", "L4")),
            gpus("n2", device("d0")),
            claim("c", wants(first_of(body(1, of_gpu('a.model == "H100"')), body(2, of_gpu('a.model == "L4"'))))),
            claim("d", wants(first_of(body(1, of_gpu('a.model == "H100"')), body(2, of_gpu('a.model == "L4"'))))),
            claim("e", wants(first_of(body(1, of_gpu('a.model == "H100"')), body(2, of_gpu('a.model == "L4"'))))),
        ),
        (pod("a", "c"), pod("b", "d"), pod("c", "e"), delete("Pod", "a")),
    ),
    Scene(
        "an extended resource, and the next pod that waits for it",
        (gpus("n1", 2),),
        (
            pod("a", extended={GPUS: "1"}),
            pod("b", extended={GPUS: "2"}),
            delete("Pod", "a"),
        ),
    ),
    Scene(
        "an extended resource under the name of its class",
        (gpus("n2", 1),),
        (pod("a", extended={IMPLICIT: "1"}), pod("b", extended={IMPLICIT: "1"}), gpus("n1", 1)),
    ),
    Scene(
        "an extended resource of sidecars and init containers",
        (gpus("n1", 8),),
        (
            pod(
                "a",
                extended={GPUS: "1"},
                spec={
                    "initContainers": [
                        wanting("i", {GPUS: "3"}),
                        wanting("s", {GPUS: "1"}, restartPolicy="Always"),
                        wanting("j", {GPUS: "2"}),
                    ]
                },
            ),
        ),
    ),
    Scene(
        "an extended resource that one node has by plugin and another by slices",
        (node("n3", plugin="1"), gpus("n1", 1)),
        (pod("a", extended={GPUS: "1"}), pod("b", extended={GPUS: "1"}), pod("c", extended={GPUS: "1"})),
    ),
    Scene(
        "an extended resource and a claim in one pod",
        (gpus("n1", 2), gpus("n2", 1), claim("c")),
        (pod("a", "c", extended={GPUS: "1"}),),
    ),
    Scene(
        "a device that is attached in time",
        (gpus("n1", device("d0", **ATTACHED)), claim("c")),
        (pod("a", "c"), report("c", "attached")),
    ),
    Scene(
        "a device that cannot be attached, and then another",
        (gpus("n1", device("d0", **ATTACHED)), claim("c")),
        (pod("a", "c"), republish("n1", device("d1", **ATTACHED)), report("c", "broken"), report("c", "attached")),
    ),
    Scene(
        "a device that is not attached in time",
        (gpus("n1", device("d0", **ATTACHED)), claim("c")),
        (together(pod("a", "c"), until_allocated("c"), republish("n1", device("d1"))),),
        timeout=3,
    ),
    Scene(
        "a device that is attached before a second pod uses its claim",
        (gpus("n1", device("d0", bindsToNode=True, **ATTACHED)), claim("c")),
        (pod("a", "c"), pod("b", "c"), report("c", "attached", "False"), report("c", "attached")),
    ),
    Scene(
        "a pool whose second slice comes later",
        (gpus("n1", 1, count=2), claim("c", wants(exactly(2)))),
        (pod("a", "c"), gpus("n1", device("d9"), name="n1-more", count=2)),
    ),
    Scene(
        "slices that are published anew while pods wait",
        (gpus("n1", 1), claim("c", wants(exactly(2))), claim("d", wants(ALL))),
        (
            pod("a", "c"),
            republish("n1", device("gpu-0"), count=2),
            republish("n1", device("gpu-0"), device("gpu-1")),
            pod("b", "d"),
            delete("Pod", "a"),
        ),
    ),
    Scene(
        "a claim that is deleted while its pod waits, and made again",
        (gpus("n1", 1), claim("c", wants(exactly(2)))),
        (pod("a", "c"), delete("ResourceClaim", "c"), claim("c")),
    ),
    Scene(
        "a claim that is deleted under a pod that runs",
        (gpus("n1", 1), claim("c")),
        (pod("a", "c"), delete("ResourceClaim", "c"), pod("b", "c"), delete("Pod", "a"), claim("c")),
    ),
    Scene(
        "an unused claim that is allocated where its pod may not run",
        (gpus("n1", 1), gpus("n2", 1), claim("c"), allocate("c", "n1", "gpu-0")),
        (pod("a", "c", on="n2"),),
    ),
    Scene(
        "a claim that another pod uses where this one may not run",
        (gpus("n1", 1), gpus("n2", 1), claim("c")),
        (pod("a", "c", on="n1"), pod("b", "c", on="n2"), delete("Pod", "a")),
    ),
    Scene(
        "preemption for CPU by a pod with a claim",
        (bands(), gpus("n1", 2), claim("c")),
        (pod("low", band="low", cpu="7", on="n1"), pod("high", "c", band="high", cpu="5")),
    ),
    Scene(
        "no preemption for a device",
        (bands(), gpus("n1", 1), claim("c"), claim("d")),
        (pod("low", "c", band="low"), pod("high", "d", band="high"), delete("Pod", "low")),
    ),
    Scene(
        "preemption of a pod with a claim, whose device comes free",
        (bands(), gpus("n1", 2), claim("c"), template("one")),
        (pod("low", of="one", band="low", cpu="7"), pod("high", "c", band="high", cpu="5", on="n1")),
    ),
    Scene(
        "a node that goes with its devices",
        (gpus("n1", 1), gpus("n2", 2), claim("c"), claim("d", wants(exactly(2)))),
        (
            pod("a", "c"),
            together(delete("Node", "n1"), delete("ResourceSlice", "n1-slice")),
            delete("Pod", "a"),
            pod("b", "d"),
            pod("c", "c"),
        ),
    ),
    Scene(
        "a class that comes late",
        (node("n1"), gpus("n1", 1), claim("c")),
        (pod("a", "c"), device_class("gpu")),
        has_usual=False,
    ),
    Scene(
        "a class that is made for an extended resource late, and changed",
        (node("n1"), gpus("n1", 1)),
        (
            pod("a", extended={GPUS: "1"}),
            device_class("gpu", of_gpu('a.model == "L4"'), extendedResourceName=GPUS),
            update("DeviceClass", "gpu", {"spec": {"selectors": []}}),
        ),
        has_usual=False,
    ),
    Scene(
        "a pool with one name twice, which is mended",
        (gpus("n1", 1, count=2), gpus("n1", 1, name="n1-twin", count=2), claim("c")),
        (pod("a", "c"), together(delete("ResourceSlice", "n1-twin"), republish("n1", device("gpu-0")))),
    ),
    Scene(
        "all devices of a node",
        (gpus("n1", 3), gpus("n2", 2), claim("c"), claim("all", wants(ALL)), claim("more", wants(ALL))),
        (pod("a", "c"), pod("b", "all"), pod("c", "more"), delete("Pod", "a")),
    ),
    Scene(
        "an expression that fails for a device",
        (gpus("n1", 1), claim("c", wants(exactly(1, of_gpu("a.missing == 1")))), claim("d")),
        (pod("a", "c"), pod("b", "d"), delete("Pod", "a")),
    ),
    Scene(
        "more devices than a claim may have",
        (gpus("n1", 8), claim("c", wants(exactly(33)))),
        (pod("a", "c"),),
    ),
    Scene(
        "a fabric that the nodes of a zone reach",
        (node("n3", zone="b"), FABRIC_CLASS, fabric("b"), claim("c", wants(exactly(1, of="fabric")))),
        (pod("a", "c"), pod("b", "c", on="n1"), pod("c", "c", cpu="3")),
    ),
    Scene(
        "pods that come at once for few devices",
        (gpus("n1", 1), gpus("n2", 1), template("one")),
        (together(*(pod(f"p{i}", of="one") for i in range(4))), delete("Pod", "p0"), delete("Pod", "p1")),
    ),
    Scene(
        "claims beside taints and room of nodes",
        (gpus("n1", 2), gpus("n2", 2), claim("c"), claim("d")),
        (
            update("Node", "n2", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}),
            pod("a", "c", cpu="6"),
            pod("b", "d", cpu="4"),
            update("Node", "n2", {"spec": {"taints": []}}),
        ),
    ),
    Scene(
        "an extended resource whose device is attached in time",
        (gpus("n1", device("d0", **ATTACHED)),),
        (pod("a", extended={GPUS: "1"}), report_all("attached")),
    ),
    Scene(
        "an extended resource whose device cannot be attached, and then another",
        (gpus("n1", device("d0", **ATTACHED)),),
        (pod("a", extended={GPUS: "1"}), republish("n1", device("d1")), report_all("broken")),
        differs="the status of the pod does not wait until the claim is deleted",
    ),
    Scene(
        "a claim that changes before its finalizer is added",
        (gpus("n1", 1), claim("c")),
        (pod("a", "c"),),
        intrusions=(Intrusion("PUT", "resourceclaims/c", TOUCHED),),
    ),
    Scene(
        "a claim that changes before its devices are written",
        (gpus("n1", 1), claim("c")),
        (pod("a", "c"),),
        intrusions=(Intrusion("PUT", "resourceclaims/c/status", TOUCHED),),
    ),
    Scene(
        "a claim that changes again and again",
        (gpus("n1", 1), claim("c")),
        (pod("a", "c"),),
        intrusions=(Intrusion("PUT", "resourceclaims/c/status", TOUCHED),) * 3,
    ),
    Scene(
        "a claim that another scheduler allocates before its finalizer is added",
        (gpus("n1", 1), gpus("n2", 1), claim("c")),
        (pod("a", "c"),),
        intrusions=(Intrusion("PUT", "resourceclaims/c", allocate("c", "n2", "gpu-0")),),
    ),
    Scene(
        "a claim that another scheduler allocates before its devices are written",
        (gpus("n1", 1), gpus("n2", 1), claim("c")),
        (pod("a", "c"),),
        intrusions=(Intrusion("PUT", "resourceclaims/c/status", allocate("c", "n2", "gpu-0")),),
    ),
    Scene(
        "a shared claim that another scheduler allocates to the same device",
        (gpus("n1", 1), claim("c"), pod("other", spec={"schedulerName": "nobody"})),
        (pod("a", "c"),),
        intrusions=(Intrusion("PUT", "resourceclaims/c/status", allocate("c", "n1", "gpu-0", users=("other",))),),
    ),
    Scene(
        "a claim that is deleted before its devices are written",
        (gpus("n1", 1), claim("c")),
        (pod("a", "c"), claim("c")),
        intrusions=(Intrusion("PUT", "resourceclaims/c", delete("ResourceClaim", "c")),),
    ),
    Scene(
        "a pod that is deleted before its devices are written",
        (gpus("n1", 1), claim("c"), claim("d")),
        (pod("a", "c"), pod("b", "d")),
        intrusions=(Intrusion("PUT", "resourceclaims/c/status", delete("Pod", "a")),),
        differs=_GONE,
    ),
    Scene(
        "a pod that is deleted before it is bound",
        (gpus("n1", 1), claim("c"), claim("d")),
        (pod("a", "c"), pod("b", "d")),
        intrusions=(Intrusion("POST", "pods/a/binding", delete("Pod", "a")),),
        differs=_GONE,
    ),
    Scene(
        "a pod with an extended resource that is deleted before it is bound",
        (gpus("n1", 1),),
        (pod("a", extended={GPUS: "1"}), pod("b", extended={GPUS: "1"})),
        intrusions=(Intrusion("POST", "pods/a/binding", delete("Pod", "a")),),
        differs=_GONE,
    ),
    Scene(
        "a claim that changes before it is deallocated",
        (gpus("n1", 1), gpus("n2", 1), claim("c"), allocate("c", "n1", "gpu-0")),
        (pod("a", "c", on="n2"),),
        intrusions=(Intrusion("PUT", "resourceclaims/c/status", TOUCHED),),
    ),
    Scene(
        "a claim for an extended resource that a scheduler left",
        (gpus("n1", 1), pod("a", extended={GPUS: "1"}, spec={"schedulingGates": [{"name": "example.com/wait"}]})),
        (together(left_over("a"), update("Pod", "a", {"spec": {"schedulingGates": []}})),),
        differs="kube-scheduler v1.36.3 deletes it, and tries the pod again within five minutes; kubesched at once",
    ),
)
