"""Broken slices, classes and claims: each command ends as kube-scheduler would, or with one sentence and its place."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from kubesched.plugins.dynamic_resources.device_search import Shortage
from kubesched.plugins.dynamic_resources.patience import Patience
from tests.cli.clusters import run

Document = dict[str, Any]
V1, SINCE = "resource.k8s.io/v1", "2026-01-01T00:00:00Z"
ERROR = 'running "DynamicResources" filter plugin: '
GPU = {"deviceClassName": "gpu"}
NONE = "is not a quantity; write a number with an optional suffix"
SLICE, CLAIM = "item 3 (ResourceSlice s)", "item 4 (ResourceClaim default/c)"


def thing(kind: str, name: str, version: str = V1, **fields: Any) -> Document:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "uid": name}, **fields}


def selectors(*texts: str) -> list[Document]:
    return [{"cel": {"expression": text}} for text in texts]


def device_class(*texts: str) -> Document:
    return thing("DeviceClass", "gpu", spec={"selectors": selectors(*texts)})


def device(name: str = "d", **more: Any) -> Document:
    return {"name": name, **more}


def counting(of_set: str, counter: str, amount: str = "1") -> Document:
    return {"consumesCounters": [{"counterSet": of_set, "counters": {counter: {"value": amount}}}]}


def piece(*devices: Any, count: int = 1, **more: Any) -> Document:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": count}
    spec = {"driver": "d", "nodeName": "n1", "pool": pool, "devices": [*devices], **more}
    return thing("ResourceSlice", "s", spec=spec)


def with_policy(**policy: Any) -> Document:
    return device(capacity={"m": {"value": "1", "requestPolicy": policy}})


def sets(amount: str = "1") -> Document:
    return {"sharedCounters": [{"name": "a", "counters": {"x": {"value": amount}}}]}


def asking(version: str = V1, namespace: str = "default", **exactly: Any) -> Document:
    return claim([{"name": "r", "exactly": {"deviceClassName": "gpu", **exactly}}], version, namespace)


def claim(
    requests: list[Any], version: str = "resource.k8s.io/v1", namespace: str = "default", **more: Any
) -> Document:
    made = thing("ResourceClaim", "c", version, spec={"devices": {"requests": requests, **more}})
    made["metadata"]["namespace"] = namespace
    return made


def allocated(result: Document, **more: Any) -> Document:
    results = [{"request": "r", "driver": "d", "pool": "p", "device": "d", **result}]
    return {**asking(), "status": {"allocation": {"devices": {"results": results}, **more}}}


def used(n_pods: int) -> Document:
    made = allocated({})
    made["status"]["reservedFor"] = [{"resource": "pods", "name": f"u{i}", "uid": f"u{i}"} for i in range(n_pods)]
    return made


def pod(*entries: Any) -> Document:
    spec = {"containers": [{"name": "c", "image": "x"}], "resourceClaims": [*entries]}
    made = thing("Pod", "p", "v1", spec=spec, status={"phase": "Pending"})
    made["metadata"]["namespace"] = "default"
    return made


USES = pod({"name": "e", "resourceClaimName": "c"})
FROM_TEMPLATE = pod({"name": "e", "resourceClaimTemplateName": "t"})
ELSEWHERE = thing("ResourceClaimTemplate", "t", spec={"spec": {"devices": {}}})
ELSEWHERE["metadata"]["namespace"] = "other"


def written(tmp_path: Path, items: list[Document]) -> Path:
    """A file with the objects and a node."""
    room = {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "20"}}
    path = tmp_path / "cluster.json"
    every = [thing("Node", "n1", "v1", status=room), *items]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": every}))
    return path


def commands(tmp_path: Path, items: list[Document]) -> list[Result]:
    """What simulate and explain answer."""
    path = written(tmp_path, items)
    return [run("simulate", path, "-o", "jsonl"), run("explain", path, "default/p")]


def text_of(result: Result) -> str:
    return " ".join(f"{result.stdout} {result.stderr}".replace('\\"', '"').split())


REFUSED = {
    "a capacity": (
        [piece(device(capacity={"m": {"value": "abc"}})), asking()],
        SLICE,
        f"devices[0].capacity.m.value: 'abc' {NONE}",
    ),
    "a default": (
        [piece(device(capacity={"m": {"value": "1", "requestPolicy": {"default": "abc"}}})), asking()],
        SLICE,
        "spec.devices[0].capacity.m.requestPolicy.default: 'abc' is not",
    ),
    "a step": (
        [
            piece(device(capacity={"m": {"value": "1", "requestPolicy": {"validRange": {"min": "1", "step": "x"}}}})),
            asking(),
        ],
        SLICE,
        "spec.devices[0].capacity.m.requestPolicy.validRange.step: 'x' is not",
    ),
    "a counter": ([piece(device(), **sets("abc")), asking()], SLICE, "spec.sharedCounters[0].counters.x: 'abc' is not"),
    "a consumed counter": (
        [piece(device(**counting("a", "x", "abc")), **sets()), asking()],
        SLICE,
        "spec.devices[0].consumesCounters[0].counters.x: 'abc' is not",
    ),
    "an amount that is asked for": (
        [piece(device()), asking(capacity={"requests": {"m": "abc"}})],
        CLAIM,
        "spec.devices.requests[0].exactly.capacity.requests.m: 'abc' is not",
    ),
    "a consumed capacity": (
        [piece(device()), allocated({"consumedCapacity": {"m": "abc"}})],
        CLAIM,
        "status.allocation.devices.results[0].consumedCapacity.m: 'abc' is not",
    ),
    "a time": (
        [piece(device()), allocated({}, allocationTimestamp="yesterday")],
        CLAIM,
        'status.allocation.allocationTimestamp: found "yesterday"; expected a time such as',
    ),
    "a version": (
        [piece(device(attributes={"v": {"version": "abc"}})), asking()],
        SLICE,
        'spec.devices[0].attributes.v.version: found "abc"; expected a version such as 1.2.3',
    ),
    "an integer": (
        [piece(device(attributes={"v": {"int": 10**30}})), asking()],
        SLICE,
        f"spec.devices[0].attributes.v.int: found {10**30}; expected an int64",
    ),
    "a generation": (
        [piece(device(), pool={"name": "p", "generation": "one"}), asking()],
        SLICE,
        'spec.pool.generation: expected an integer, found "one"',
    ),
    "no device": ([piece(None), asking()], SLICE, "spec.devices[0]: expected a value, found null"),
    "a count": (
        [piece(device()), asking(count=-3)],
        CLAIM,
        "spec.devices.requests[0].exactly.count: Invalid value: -3: must be greater than zero",
    ),
    "two forms": (
        [piece(device()), claim([{"name": "r", "exactly": GPU, "firstAvailable": [{"name": "s", **GPU}]}])],
        CLAIM,
        "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but",
    ),
    "two requests of one name": (
        [piece(device()), claim([{"name": "r", "exactly": GPU}] * 2)],
        CLAIM,
        'spec.devices.requests[1]: Duplicate value: "r"',
    ),
    "two alternatives of one name": (
        [piece(device()), claim([{"name": "r", "firstAvailable": [{"name": "s", **GPU}] * 2}])],
        CLAIM,
        'spec.devices.requests[0].firstAvailable[1]: Duplicate value: "s"',
    ),
    "a request without a name": (
        [piece(device()), claim([{"exactly": GPU}])],
        CLAIM,
        'spec.devices.requests[0].name: Invalid value: "": a lowercase RFC 1123 label must consist of',
    ),
    "a slice without a spec": (
        [thing("ResourceSlice", "s", spec=None), asking()],
        SLICE,
        "spec.driver: Required value",
    ),
    "a slice without a pool": ([piece(device(), pool=None), asking()], SLICE, "spec.pool.name: Required value"),
    "a pool of no slices": (
        [piece(device(), count=0), asking()],
        SLICE,
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
    ),
    "a generation below 0": (
        [piece(device(), pool={"name": "p", "generation": -1, "resourceSliceCount": 1}), asking()],
        SLICE,
        "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
    ),
    "a slice that is nowhere": (
        [piece(device(), nodeName=""), asking()],
        SLICE,
        "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is",
    ),
    "a slice in two ways": (
        [piece(device(), allNodes=True), asking()],
        SLICE,
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of',
    ),
    "more pods than may use a claim": (
        [piece(device()), used(300)],
        CLAIM,
        "status.reservedFor: Too many: 300: must have at most 256 items",
    ),
    "no form": (
        [piece(device()), claim([{"name": "r"}])],
        CLAIM,
        "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
    ),
    "an entry without a name": (
        [piece(device()), asking(), pod({"resourceClaimName": "c"})],
        "item 5 (Pod default/p)",
        "spec.resourceClaims[0].name: Required value",
    ),
    "an entry with both sources": (
        [piece(device()), asking(), pod({"name": "e", "resourceClaimName": "c", "resourceClaimTemplateName": "t"})],
        "item 5 (Pod default/p)",
        "may be specified",
    ),
    "two entries of one name": (
        [piece(device()), asking(), pod(*[{"name": "e", "resourceClaimName": "c"}] * 2)],
        "item 5 (Pod default/p)",
        'spec.resourceClaims[1].name: Duplicate value: "e"',
    ),
}
"""What an API server would not have: objects after the class, the place, and the sentence."""


@pytest.mark.parametrize(("items", "place", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(
    items: list[Document], place: str, sentence: str, tmp_path: Path
) -> None:
    path = written(tmp_path, [device_class(), *items, USES])
    asked = [("simulate",), ("explain", "default/p"), ("devices",), ("fit", "--device", "gpu=1")]  # a case asks two
    first = len(sentence) % 2
    for command, *options in asked[first::2]:
        result = run(command, path, *options)
        assert result.exit_code == 2
        (line,) = result.stderr.splitlines()
        assert f"cluster.json, {place}: " in line
        assert sentence in line


DECIDED = {
    "a class does not compile": (
        [device_class("device.drivr =="), piece(device()), asking(), USES],
        f"{ERROR}class gpu: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:16: Syntax error:",
    ),
    "a claim does not compile": (
        [device_class(), piece(device()), asking(selectors=selectors("device.foo")), USES],
        f"{ERROR}claim default/c: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:7: undefined",
    ),
    "33 devices": (
        [device_class(), piece(device()), asking(count=33), USES],
        f"{ERROR}claim default/c: number of requested devices 33 exceeds the claim limit of 32",
    ),
    "a mode that is unknown": (
        [device_class(), piece(device()), asking(allocationMode="Some"), USES],
        f"{ERROR}claim default/c, request r: unsupported count mode Some",
    ),
    "an empty constraint": (
        [device_class(), piece(device()), claim([], constraints=[{}]), USES],
        f"{ERROR}claim default/c, constraint #0: empty constraint (unsupported constraint type?)",
    ),
    "all of half a pool": (
        [device_class(), piece(device(), count=2), asking(allocationMode="All"), USES],
        f"{ERROR}claim default/c, request r: asks for all devices, but resource pool d/p is currently being updated",
    ),
    "half a pool": (
        [device_class(), piece(device(), count=2), asking(), USES],
        "0/1 nodes are available: 1 cannot allocate all claims.",
        "request r: 1 pool is being updated",
    ),
    "a counter set that is not there": (
        [device_class(), piece(device(**counting("b", "x")), **sets()), asking(), USES],
        "0/1 nodes are available: 1 invalid resource pools were encountered.",
        "1 pool is invalid: a device consumes a counter that its slices do not define",
    ),
    "a counter that is not there": (
        [device_class(), piece(device(**counting("a", "y")), **sets()), asking(), USES],
        "0/1 nodes are available: 1 invalid resource pools were encountered.",
        "1 pool is invalid: a device consumes a counter that its slices do not define",
    ),
    "two devices of one name": (
        [device_class(), piece(device(), device()), asking(), USES],
        "0/1 nodes are available: 1 invalid resource pools were encountered.",
        "1 pool is invalid: two of its devices have one name",
    ),
    "two counter sets of one name": (
        [device_class(), piece(device(), sharedCounters=[*sets()["sharedCounters"] * 2]), asking(), USES],
        "0/1 nodes are available: 1 invalid resource pools were encountered.",
        "1 pool is invalid: two of its counter sets have one name",
    ),
    "an unknown class": (
        [device_class(), piece(device()), asking(deviceClassName="nope"), USES],
        "0/1 nodes are available: request r: device class nope does not exist.",
    ),
    "a claim elsewhere": (
        [device_class(), piece(device()), asking(namespace="other"), USES],
        'could not find ResourceClaim "default/c"',
    ),
    "a template elsewhere": (
        [device_class(), piece(device()), ELSEWHERE, FROM_TEMPLATE],
        'pod "default/p": ResourceClaim not created yet',
        "once there is a template default/t",
    ),
    "an entry that names nothing": (
        [device_class(), piece(device()), asking(), pod({"name": "e"})],
        'pod "default/p", spec.resourceClaim "e": none of the supported fields are set',
    ),
    "no slices": (
        [device_class(), asking(), USES],
        "0/1 nodes are available: 1 cannot allocate all claims.",
        "there are no ResourceSlices, so there are no devices",
        "note: the snapshot has no ResourceSlice: the claims of 1 pod cannot be allocated",
    ),
    "a claim that is being deleted": (
        [device_class(), piece(device()), asking(), USES],
        'resourceclaim "c" is being deleted',
    ),
}  # fmt: skip
"""What kube-scheduler has a text for: all objects, and what both commands say."""
DECIDED["a claim that is being deleted"][0][2]["metadata"]["deletionTimestamp"] = SINCE


@pytest.mark.parametrize(("items", "texts"), [(items, texts) for items, *texts in DECIDED.values()], ids=DECIDED)
def test_what_kube_scheduler_has_a_text_for_gets_it(items: list[Document], texts: list[str], tmp_path: Path) -> None:
    simulated, explained = commands(tmp_path, items)
    is_error = texts[0].startswith(ERROR)
    assert [simulated.exit_code, explained.exit_code] == ([1, 1] if is_error else [0, 0])
    for text in texts:
        assert text in text_of(explained)
    assert texts[0] in text_of(simulated)
    assert '"node"' not in simulated.stdout


@pytest.mark.parametrize("gone", [{"device": "gone"}, {"pool": "gone"}, {"driver": "gone"}], ids=str)
def test_an_allocated_device_that_no_slice_has_is_noted(gone: Document, tmp_path: Path) -> None:
    path = written(tmp_path, [device_class(), piece(device()), allocated(gone, allocationTimestamp=SINCE), USES])
    which = "/".join({"driver": "d", "pool": "p", "device": "d", **gone}.values())
    for result in (
        run("simulate", path),
        run("explain", path, "default/p"),
        run("devices", path),
        run("fit", path, "--device", "gpu=1"),
    ):
        assert f"note: 1 claim has devices that no ResourceSlice has: default/c ({which}); kube-scheduler" in text_of(
            result
        )


@pytest.mark.parametrize(
    ("phase", "uid", "is_noted"), [("Running", "p", False), ("Succeeded", "p", True), ("Running", "of-another", True)]
)
def test_a_claim_whose_pods_have_gone_is_noted(phase: str, uid: str, is_noted: bool, tmp_path: Path) -> None:
    held = allocated({}, allocationTimestamp=SINCE)
    held["status"]["reservedFor"] = [{"resource": "pods", "name": "p", "uid": uid}]
    user = {**USES, "spec": {**USES["spec"], "nodeName": "n1"}, "status": {"phase": phase}}
    said = text_of(run("devices", written(tmp_path, [device_class(), piece(device()), held, user])))
    text = (
        "note: 1 claim has devices, and its pods have finished or are not in the snapshot: default/c; the devices count"
    )
    assert (text in said) == is_noted


@pytest.mark.parametrize(
    "items",
    [
        [device_class(), piece(device()), allocated({"device": "gone"}, allocationTimestamp=SINCE), USES],
        [device_class(), piece(device()), allocated({"pool": "gone"}, allocationTimestamp=SINCE), USES],
        [device_class(), piece(device()), claim([]), USES],
    ],
    ids=["an allocated device that is gone", "a pool that is gone", "no requests"],
)
def test_what_kube_scheduler_does_not_look_at_is_in_nobodys_way(items: list[Document], tmp_path: Path) -> None:
    simulated, explained = commands(tmp_path, items)
    assert json.loads(simulated.stdout)["node"] == "n1"
    assert "Pod default/p fits on 1 of 1 nodes and would go to n1." in text_of(explained)


@pytest.mark.parametrize("version", ["v1alpha3", "v1alpha2"])
def test_claims_of_older_versions_are_named_with_the_command_that_gets_them(version: str, tmp_path: Path) -> None:
    older = f"resource.k8s.io/{version}"
    for result in commands(tmp_path, [device_class(), piece(device()), asking(older), USES]):
        assert result.exit_code == 0
        assert (
            f"note: left out, because kubesched reads them in version v1: 1 ResourceClaim of {older}; "
            "add `kubectl get resourceclaims.v1.resource.k8s.io -A -o json`"
        ) in text_of(result)


def test_claims_of_the_beta_with_the_fields_of_v1_are_read(tmp_path: Path) -> None:
    beta = "resource.k8s.io/v1beta2"
    simulated, _ = commands(tmp_path, [device_class(), {**piece(device()), "apiVersion": beta}, asking(beta), USES])
    assert json.loads(simulated.stdout)["node"] == "n1"


def test_claims_and_slices_of_the_first_beta_are_read_as_the_api_server_converts_them(tmp_path: Path) -> None:
    beta = "resource.k8s.io/v1beta1"
    (described,) = piece(device(attributes={"model": {"string": "A100"}}))["spec"]["devices"]
    basic = {"name": described.pop("name"), "basic": described}
    slice_ = {**piece(), "apiVersion": beta}
    slice_["spec"] = {**slice_["spec"], "devices": [basic]}
    for model, node in (("A100", "n1"), ("H100", None)):
        wanted = {**GPU, "selectors": selectors(f'device.attributes["d"].model == "{model}"')}
        older = {**claim([{"name": "r", **wanted}]), "apiVersion": beta}
        simulated, _ = commands(tmp_path, [{**device_class(), "apiVersion": beta}, slice_, older, USES])
        assert json.loads(simulated.stdout).get("node") == node
        assert "left out" not in text_of(simulated)
        alternatives = {**claim([{"name": "r", "firstAvailable": [{"name": "a", **wanted}]}]), "apiVersion": beta}
        simulated, _ = commands(tmp_path, [device_class(), slice_, alternatives, USES])
        assert json.loads(simulated.stdout).get("node") == node


def test_a_template_of_the_first_beta_is_read_from_manifests(tmp_path: Path) -> None:
    spec = {"devices": {"requests": [{"name": "r", "deviceClassName": "gpu"}]}}
    template = {
        "apiVersion": "resource.k8s.io/v1beta1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t"},
        "spec": {"spec": spec},
    }
    new = tmp_path / "new.yaml"
    new.write_text("\n---\n".join(map(json.dumps, (template, FROM_TEMPLATE))))
    result = run("simulate", written(tmp_path, [device_class(), piece(device())]), "-f", new, "-o", "jsonl")
    assert json.loads(result.stdout.splitlines()[-1])["node"] == "n1"


# --- a search that does not end ---


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Document:
    """A claim with 14 requests for 28 devices that are in 13 racks; no two may be in one of them."""
    monkeypatch.setattr("kubesched.plugins.dynamic_resources.patience.MOST_LOOKS", 2000)
    wanted = [selectors(f'device.attributes["d"].n >= {i % 3}') for i in range(14)]
    requests = [
        {"name": f"r{i}", "exactly": {"deviceClassName": "gpu", "selectors": one}} for i, one in enumerate(wanted)
    ]
    return claim(requests, constraints=[{"distinctAttribute": "d/rack"}])


RACKS = piece(*(device(f"d{i}", attributes={"rack": {"int": i % 13}, "n": {"int": i}}) for i in range(28)))


def test_a_search_with_too_many_choices_ends_with_a_sentence(endless: Document, tmp_path: Path) -> None:
    items = [device_class(), RACKS, endless, USES]
    for result in commands(tmp_path, items):
        assert result.exit_code == 0
        assert Shortage.TOO_LONG.value in text_of(result)
        assert "cannot allocate" not in text_of(result)
    new = tmp_path / "pod.json"
    new.write_text(json.dumps({**USES, "metadata": {"name": "new", "namespace": "default"}, "status": {}}))
    fitted = run("fit", written(tmp_path, items), "-f", new)
    assert fitted.exit_code in (0, 1)
    assert Shortage.TOO_LONG.value in text_of(fitted)


def test_the_bar_moves_with_each_pod_with_too_many_choices(
    endless: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each search ends after its steps, and equal pods need one search."""
    shown: list[tuple[int, int, int]] = []
    n_looks: list[int] = []

    @contextmanager
    def bar(_: str) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: shown.append((done, total, len(n_looks)))

    def look(self: Patience) -> bool:
        n_looks.append(1)
        return looked(self)

    looked = Patience.look
    monkeypatch.setattr(Patience, "look", look)
    for command in ("simulate", "explained_pods"):
        monkeypatch.setattr(f"kubesched.cli.{command}.progress_bar", bar)
    items = [device_class(), RACKS]
    for i in range(4):
        one = json.loads(json.dumps(endless))
        one["metadata"] |= {"name": f"c{i}", "uid": f"c{i}"}
        one["spec"]["devices"]["requests"][0]["name"] = f"of-{i // 2}"  # two and two are equal
        user = pod({"name": "e", "resourceClaimName": f"c{i}"})
        user["metadata"] |= {"name": f"p{i}", "uid": f"p{i}"}
        items += [one, user]
    for command in ("simulate", "explain"):
        shown.clear()
        n_looks.clear()
        result = run(command, written(tmp_path, items))
        assert text_of(result).count(Shortage.TOO_LONG.value) == 4
        last = max(one[1] for one in shown)
        assert {one[:2] for one in shown} >= {(last - 4 + i, last) for i in range(1, 5)}
        assert all(after[2] - before[2] <= 3100 for before, after in pairwise([(0, 0, 0), *shown]))
        assert len(n_looks) <= 2 * 3100


def test_a_drained_pod_with_too_many_choices_is_not_said_to_stay_pending(endless: Document, tmp_path: Path) -> None:
    room = {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "20"}}
    template = thing("ResourceClaimTemplate", "t", spec={"spec": endless["spec"]})
    template["metadata"]["namespace"] = "default"
    moved = {**endless, "metadata": {**endless["metadata"], "ownerReferences": [owner("Pod", "p")]}}
    result = {"request": "r0", "driver": "d", "pool": "elsewhere", "device": "d"}
    moved["status"] = {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": "p", "uid": "p"}],
    }
    runs = pod({"name": "e", "resourceClaimTemplateName": "t"})
    runs["metadata"]["ownerReferences"] = [{**owner("ReplicaSet", "web"), "apiVersion": "apps/v1"}]
    runs["spec"]["nodeName"] = "n2"
    runs["status"] = {"phase": "Running", "resourceClaimStatuses": [{"name": "e", "resourceClaimName": "c"}]}
    items = [device_class(), RACKS, template, moved, runs, thing("Node", "n2", "v1", status=room)]
    drained = run("drain", written(tmp_path, items), "n2")
    assert Shortage.TOO_LONG.value in text_of(drained), drained.output


def owner(kind: str, name: str) -> Document:
    return {"apiVersion": "v1", "kind": kind, "name": name, "uid": name, "controller": True}
