"""Whatever is fed in, the answer is one sentence that begins with the file and names what was found."""

import bz2
import gzip
import io
import json

import pytest

from kubesched.errors import InputError, ObjectError
from kubesched.snapshot import load_snapshot
from kubesched.snapshot.packing import packed_writer
from tests.snapshot.builders import listed, node, other, pod


def text(*documents: object) -> bytes:
    return b"\n".join(json.dumps(document).encode() for document in documents)


def zstd(content: bytes) -> bytes:
    file = io.BytesIO()
    with packed_writer(file, ".zst") as append:
        append(content)
    return file.getvalue()


def requests(**amounts: object):
    return {"name": "c", "resources": {"requests": amounts}}


GOOD = text(listed(node("n1"), pod("p1")))
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
CUT = f"the JSON that begins at byte 0 ends in the middle; the file is cut after {len(GOOD) - 20} bytes"
NOT_A_QUANTITY = 'is not a quantity; write a number with an optional suffix, such as "500m", "2" or "1.5Gi"'

FILES = {
    "empty": (b"", "the file is empty; expected JSON or YAML with Kubernetes objects"),
    "only white space": (b" \n\t\n", "the file is empty"),
    "cut JSON": (GOOD[:-20], CUT),
    "cut in the second document": (GOOD + b"\n" + GOOD[:30], "the JSON that begins at byte"),
    "broken JSON": (b'{"kind": "List",\n "items": [nope]}', "line 2, column 13: not valid JSON: invalid character"),
    "too deep": (b'{"a":' + b"[" * 1_000_000, "not valid JSON: it is nested too deeply"),  # 3.14 has room for 100,000
    "trailing words": (text(node()) + b" and so on", "not valid JSON: invalid character"),
    "trailing bracket": (text(node()) + b"}", "not valid JSON: invalid character"),
    "binary": (bytes(range(256)) * 4, "binary data; expected JSON or YAML, plain or compressed with gzip or zstd"),
    "an image": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary data"),
    "a tar in gzip": (gzip.compress(b"n.json" + b"\0" * 500), "binary data"),
    "bzip2": (bz2.compress(GOOD), "compressed with bzip2; expected gzip (.gz) or zstd (.zst)"),
    "cut gzip": (gzip.compress(GOOD)[:-9], "the gzip data ends in the middle; the file is cut"),
    "cut zstd": (zstd(GOOD)[:-9], "the zstd data ends in the middle; the file is cut"),
    "half of UTF-16": (b"\xff\xfe{", "starts like utf-16 text, but is not valid"),
    "Latin-1 in YAML": ("kind: Straße".encode("latin-1"), "not valid YAML: invalid trailing UTF-8 octet"),
    "words": (b"You must be logged in: to the server", "kind is missing"),
    "an error of kubectl": (b"error: You must be logged in to the server", 'found a message of kubectl: "error: You'),
    "a number": (b"42", "document 1: expected an object, found 42"),
    "a JSON array": (b'[{"kind":"Node"}]', "item 1 (Node): apiVersion is missing; expected v1"),
    "a YAML list": (b"- kind: Node\n", "document 1, item 1 (Node): apiVersion is missing; expected v1"),
    "broken YAML": (b"kind: Node\nmetadata: {name: n\n", "line 3, column 1: not valid YAML"),
    "a YAML tag": (b"kind: !Ref Node\n", "line 1, column 7: unknown tag '!Ref'"),
    "kind is a number": (text({"kind": 5}), "kind: expected a string, found 5"),
    "items is a map": (text({"kind": "PodList", "items": {}}), "items: expected a list, found {}"),
    "several documents, one no map": (b"kind: Foo\n---\n- 1\n", "document 2, item 1: expected an object, found 1"),
}

OBJECTS = {
    "no kind": ({"metadata": {"name": "x"}}, "(x): kind is missing; every object has apiVersion and kind"),
    "no apiVersion": ({"kind": "Node", "metadata": {"name": "x"}}, "(Node x): apiVersion is missing; expected v1"),
    "an item that is a number": (5, "expected an object, found 5"),
    "an item that is null": (None, "expected an object, found null"),
    "no metadata": ({"apiVersion": "v1", "kind": "Node"}, "(Node): metadata.name is missing"),
    "an empty name": (node(""), "(Node): metadata.name is missing"),
    "a name that is a number": (node(7), "(Node): metadata.name: expected a string, found 7"),
    "metadata that is a list": (
        {"apiVersion": "v1", "kind": "Node", "metadata": []},
        "(Node): metadata: expected an object, found []",
    ),
    "a label that is a boolean": (
        node(labels={"a": "b", "ssd": True}),
        "(Node n1): metadata.labels.ssd: expected a string, found true",
    ),
    "taints that are a text": (node(taints="none"), 'spec.taints: expected a list, found "none"'),
    "a boolean that is a text": (
        node(unschedulable="yes"),
        'spec.unschedulable: expected true or false, found "yes"',
    ),
    "a number that is a text": (pod(priority="high"), 'spec.priority: expected an integer, found "high"'),
    "a number that is a fraction": (pod(priority=1.5), "spec.priority: expected an integer, found 1.5"),
    "a priority beyond int32": (
        pod(priority=2**31),
        "spec.priority: found 2147483648; expected an int32, -2147483648 to 2147483647",
    ),
    "a weight beyond int32": (
        pod(affinity={"podAntiAffinity": {PREFERRED: [{"weight": 1}, {"weight": 10**30}]}}),
        f"spec.affinity.podAntiAffinity.{PREFERRED}[1].weight: found {10**30}; expected an int32",
    ),
    "a skew beyond int32": (
        pod(topologySpreadConstraints=[{"maxSkew": 10**12}]),
        "spec.topologySpreadConstraints[0].maxSkew: found 1000000000000; expected an int32",
    ),
    "an image beyond int64": (
        node(status={"images": [{"sizeBytes": 2**63}]}),
        "status.images[0].sizeBytes: found 9223372036854775808; expected an int64",
    ),
    "a volume count beyond int32": (
        other("storage.k8s.io/v1", "CSINode", spec={"drivers": [{"name": "d", "allocatable": {"count": 2**31}}]}),
        "spec.drivers[0].allocatable.count: found 2147483648; expected an int32",
    ),
    "a priority class beyond int32": (
        other("scheduling.k8s.io/v1", "PriorityClass", value=10**10),
        "(PriorityClass x): value: found 10000000000; expected an int32",
    ),
    "allocatable that is no quantity": (
        node(status={"allocatable": {"cpu": "4 cores"}}),
        f"(Node n1): status.allocatable.cpu: '4 cores' {NOT_A_QUANTITY}",
    ),
    "negative allocatable": (
        node(status={"allocatable": {"memory": "-1Gi"}}),
        'status.allocatable.memory: found "-1Gi"; expected 0 or more',
    ),
    "a quantity that is a boolean": (
        node(status={"allocatable": {"pods": "9", "cpu": True}}),
        "status.allocatable.cpu: expected a number or a string, found true",
    ),
    "a request that is no quantity": (
        pod(containers=[requests(cpu="1"), requests(cpu="100", memory="1GiB")]),
        "(Pod shop/p1): spec.containers[1].resources.requests.memory: '1GiB' is not a quantity; did you mean \"1Gi\"?",
    ),
    "a negative request": (
        pod(containers=[requests(cpu=-1)]),
        "spec.containers[0].resources.requests.cpu: found -1; expected 0 or more",
    ),
    "an exponent out of range": (
        pod(containers=[requests(cpu="1e999999999")]),
        "is out of range",
    ),
    "a limit that is no quantity": (
        pod(initContainers=[{"name": "c", "resources": {"limits": {"cpu": ""}}}]),
        "spec.initContainers[0].resources.limits.cpu: ''",
    ),
    "overhead that is no quantity": (pod(overhead={"cpu": "x"}), "spec.overhead.cpu: 'x'"),
    "a pod-level request that is no quantity": (
        pod(resources={"requests": {"cpu": "x"}}),
        "spec.resources.requests.cpu: 'x'",
    ),
    "an allocated resource that is no quantity": (
        pod(status={"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "x"}}]}),
        "status.containerStatuses[0].allocatedResources.cpu: 'x'",
    ),
    "a pod-level status that is no quantity": (
        pod(status={"allocatedResources": {"cpu": "x"}}),
        "status.allocatedResources.cpu: 'x'",
    ),
    "a host port beyond the last": (
        pod(containers=[{"name": "c", "ports": [{"hostPort": 80}, {"hostPort": 65536}]}]),
        "spec.containers[0].ports[1].hostPort: found 65536; expected 1 to 65535",
    ),
    "a negative host port": (
        pod(containers=[{"name": "c", "ports": [{"hostPort": -1}]}]),
        "spec.containers[0].ports[0].hostPort: found -1; expected 1 to 65535",
    ),
    "a start time that is none": (
        pod(status={"startTime": "yesterday"}),
        'status.startTime: found "yesterday"; expected a time such as 2026-01-31T12:00:00Z',
    ),
    "a start time without a zone": (
        pod(status={"startTime": "2026-01-31T12:00:00"}),
        'status.startTime: found "2026-01-31T12:00:00"; expected a time',
    ),
    "a deletion time that is none": (
        other("v1", "Pod", metadata={"deletionTimestamp": "2026-13-01T00:00:00Z"}),
        'metadata.deletionTimestamp: found "2026-13-01T00:00:00Z"; expected a time',
    ),
    "a creation time that is none": (
        other("v1", "Node", metadata={"creationTimestamp": "now"}),
        'metadata.creationTimestamp: found "now"; expected a time',
    ),
    "a capacity that is no quantity": (
        other("v1", "PersistentVolume", spec={"capacity": {"storage": "5 GB"}}),
        "(PersistentVolume x): spec.capacity.storage: '5 GB'",
    ),
    "a claim that is no quantity": (
        other("v1", "PersistentVolumeClaim", spec={"resources": {"requests": {"storage": "many"}}}),
        "(PersistentVolumeClaim x): spec.resources.requests.storage: 'many'",
    ),
    "a storage capacity that is no quantity": (
        other("storage.k8s.io/v1", "CSIStorageCapacity", capacity="a lot"),
        "(CSIStorageCapacity x): capacity: 'a lot'",
    ),
    "a negative maximum volume size": (
        other("storage.k8s.io/v1beta1", "CSIStorageCapacity", maximumVolumeSize="-1"),
        'maximumVolumeSize: found "-1"; expected 0 or more',
    ),
}


def check_sentence(error: pytest.ExceptionInfo[InputError], begin: str, words: str):
    sentence = str(error.value)
    assert sentence.startswith(begin)
    assert words in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("name", FILES)
def test_a_broken_stream(name):
    content, words = FILES[name]
    with pytest.raises(InputError) as caught:
        load_snapshot(io.BytesIO(content))
    check_sentence(caught, "<stream>", words)


FOREIGN = (
    *("empty", "only white space", "too deep", "binary", "an image", "a tar in gzip", "words", "a number"),
    "an error of kubectl",
)


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_in_a_folder_that_is_not_of_kubernetes_is_left_out(name, tmp_path):
    (tmp_path / "a.json").write_bytes(text(node("a")))
    (tmp_path / "b.json").write_bytes(FILES[name][0])
    loaded = load_snapshot(tmp_path)
    assert [known.name for known in loaded] == ["a"]
    assert loaded.notes == (f"left out 1 file without Kubernetes objects: {tmp_path / 'b.json'}",)


@pytest.mark.parametrize("name", [name for name in FILES if name not in FOREIGN])
def test_a_broken_file_in_a_folder(name, tmp_path):
    content, words = FILES[name]
    (tmp_path / "a.json").write_bytes(text(node("a")))
    (tmp_path / "b.json").write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_snapshot(tmp_path)
    check_sentence(caught, f"{tmp_path / 'b.json'}", words)


@pytest.mark.parametrize("name", OBJECTS)
def test_a_bad_object_in_a_list(name):
    item, words = OBJECTS[name]
    with pytest.raises(ObjectError) as caught:
        load_snapshot(io.BytesIO(text(listed(node("before"), item))))
    check_sentence(caught, "<stream>, item 2", words)


@pytest.mark.parametrize("name", OBJECTS)
def test_a_bad_object_is_left_out_on_request(name):
    item, words = OBJECTS[name]
    loaded = load_snapshot(io.BytesIO(text(listed(item, node("after")))), skip_bad_objects=True)
    assert [known.name for known in loaded.objects] == ["after"]
    (sentence,) = loaded.bad
    assert words in sentence


def test_text_that_is_no_utf8_is_named_with_its_object():
    content = text(listed(pod("p1", nodeName="STRASSE"))).replace(b"STRASSE", b"Stra\xdfe")
    with pytest.raises(ObjectError, match=r"<stream>, item 1 \(Pod shop/p1\): it has a string that is not valid UTF-8"):
        load_snapshot(io.BytesIO(content))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"gone\.json: no such file or folder"):
        load_snapshot(tmp_path / "gone.json")


def test_a_name_that_no_file_can_have():
    with pytest.raises(InputError, match=r"cannot be read: .*embedded null"):
        load_snapshot("a\0b")


def test_a_folder_without_files_to_read(tmp_path):
    (tmp_path / "notes.txt").write_text("kind: Node")
    with pytest.raises(InputError, match=r"no file in this folder has a known suffix; expected \.json, \.json\.gz, "):
        load_snapshot(tmp_path)


def test_a_stream_that_fails():
    closed = io.BytesIO(b"{}")
    closed.close()
    with pytest.raises(InputError, match="<stream>: cannot be read: I/O operation on closed file"):
        load_snapshot(closed)


def test_an_amount_beyond_int64_is_no_fault():
    loaded = load_snapshot(io.BytesIO(text(node(status={"allocatable": {"memory": "10E", "cpu": 10**25}}))))
    assert len(loaded.objects) == 1


def test_a_selector_that_does_not_parse_is_no_fault():
    rules = {
        "required" + "DuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "!"}]}]
        }
    }
    assert len(load_snapshot(io.BytesIO(text(pod(affinity={"nodeAffinity": rules})))).objects) == 1
