"""Snapshots that are cut, packed wrongly, no Kubernetes objects, or hold a bad object."""

import gzip
from typing import Any

from tests.cli.bad_inputs.case import CLUSTER, Case, text_of
from tests.snapshot.builders import listed, node, other, pod

NOT_A_QUANTITY = 'is not a quantity; write a number with an optional suffix, such as "500m", "2" or "1.5Gi"'
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def file(name: str, content: bytes | str, *words: str) -> Case:
    """A file that cannot be read at all; its name begins the message."""
    return Case(f"simulate {name}", (f"kubesched: error: {name}: ", *words), {name: content})


def second(item: Any, *words: str) -> Case:
    """A bad object after a good one."""
    content = text_of(listed(node("before"), item))
    return Case("simulate a.json", ("kubesched: error: a.json, item 2", *words), {"a.json": content})


def allocatable(quantity: object, *words: str) -> Case:
    place = "(Node n1): status.allocatable.cpu: "
    return second(node(status={"allocatable": {"cpu": quantity}}), place, *words)


def bomb(n_levels: int) -> str:
    levels = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, n_levels)]
    return "\n".join(["a0: &a0 x", *levels])


FILES = {
    "no file": Case("simulate gone.json", ("gone.json: no such file or folder",)),
    "a file without a name": Case("simulate ''", ("a file name is empty",)),
    "an empty file": file("a.json", b"", "the file is empty; expected JSON or YAML with Kubernetes objects"),
    "white space alone": file("a.yaml", b" \n\n", "the file is empty"),
    "a folder without files to read": Case(
        "simulate dump", ("dump: no file in this folder has a known suffix; expected .json, ",), {"dump/notes.txt": "x"}
    ),
    "a folder with one broken file": Case(
        "simulate dump",
        ("dump/b.yaml: line 2, column 1: not valid YAML",),
        {"dump/a.json": CLUSTER, "dump/b.yaml": "kind: [\n"},
    ),
    "cut JSON": file("a.json", CLUSTER[:-20], "ends in the middle; the file is cut after"),
    "JSON that goes on": file("a.json", CLUSTER + "}", "line 1, column ", "not valid JSON: invalid character"),
    "a stray word in JSON": file("a.json", '{"kind": "List",\n "items": [nope]}', "line 2, column 13: not valid JSON"),
    "half a surrogate pair": file("a.json", '{"kind": "\\ud800 and more"}', "line 1, column ", "not valid JSON"),
    "deep JSON": file("a.json", "[" * 200_000, "not valid JSON: it is nested too deeply"),
    "binary": file("a.json", bytes(range(256)), "binary data; expected JSON or YAML, plain or compressed with gzip"),
    "a list of objects": Case(
        "simulate a.json",
        ("kubesched: error: a.json, item 1 (Node): apiVersion is missing; expected v1",),
        {"a.json": '[{"kind": "Node"}]'},
    ),
    "a text": file(
        "a.json", "Could not connect to the server", 'document 1: expected an object, found "Could not connect'
    ),
    "an error of kubectl": file(
        "a.json", "Unable to connect to the server: EOF", 'found a message of kubectl: "Unable to connect to the'
    ),
    "items that are no list": file("a.json", '{"kind": "PodList", "items": {}}', "items: expected a list, found {}"),
    "cut gzip": file("a.json.gz", gzip.compress(CLUSTER.encode())[:-9], "the gzip data ends in the middle"),
    "what only begins like gzip": file("a.json.gz", b"\x1f\x8b" + b"nope" * 50, "the gzip data is damaged"),
    "what only begins like zstd": file("a.json.zst", b"\x28\xb5\x2f\xfd\xff\xff\xff\xff", "the zstd data "),
    "no gzip under its name": file("a.json.gz", b"\x00\x01\x02\x03", "binary data"),
    "bzip2": file("a.json.bz2", b"BZh91AY", "compressed with bzip2", "expected gzip (.gz) or zstd (.zst)"),
    "garbage on standard input": Case("simulate -", ("<stdin>: binary data",), stdin=b"\x00\x01garbage"),
    "nothing on standard input": Case("simulate -", ("<stdin>: the file is empty",)),
    "standard input named twice": Case("simulate - -", ('standard input ("-") is given twice',), stdin=b"{}"),
    "a tab in YAML": file("a.yaml", "a:\n\t- b\n", "line 2, column 1: not valid YAML", "cannot start any token"),
    "an unknown tag in YAML": file("a.yaml", "kind: !Ref Pod\n", "line 1, column 7: unknown tag '!Ref'"),
    "!!binary that is no text": file("a.yaml", "kind: !!binary /w==\n", "line 1, column 7: !!binary is not base64"),
    "aliases of aliases": file("a.yaml", bomb(9), "line 7, column ", "document contains excessive aliasing"),
    "an alias without an anchor": file("a.yaml", "a: *b\n", "line 1, column 4: unknown anchor 'b' referenced"),
    "a list as a key": file("a.yaml", "? [a]\n: b\n", "line 1, column 3: a map key is a list or a map"),
    "deep YAML": file("a.yaml", "[" * 10_000, "exceeded max depth of 200"),
    "a template of Helm": file("a.yaml", "{{ .Values.pod }}\nkind: Pod\n", "line 1, column 2: "),
}

OBJECTS = {
    "an object without a kind": second({"metadata": {"name": "x"}}, "(x): kind is missing"),
    "an object without apiVersion": second({"kind": "Node", "metadata": {"name": "x"}}, "(Node x): apiVersion is miss"),
    "an item that is a number": second(5, ": expected an object, found 5"),
    "an object without a name": second(node(""), "(Node): metadata.name is missing"),
    "a kind that is a number": second({"kind": 5}, ": kind: expected a string, found 5"),
    "a name that is a number": second(node(7), "(Node): metadata.name: expected a string, found 7"),
    "a label that is a number": second(node(labels={"a": 1}), "(Node n1): metadata.labels.a: expected a string"),
    "containers that are a text": second(pod(containers="x"), "(Pod shop/p1): spec.containers: expected a list"),
    "a toleration with a number": second(pod(tolerations=[{"key": 5}]), "spec.tolerations[0].key: expected a string"),
    "a selector that is a list": second(pod(nodeSelector=["a"]), 'spec.nodeSelector: expected an object, found ["a"]'),
    "an affinity that is a text": second(pod(affinity="near"), 'spec.affinity: expected an object, found "near"'),
    "a skew that is a text": second(
        pod(topologySpreadConstraints=[{"maxSkew": "1"}]),
        'spec.topologySpreadConstraints[0].maxSkew: expected an integer, found "1"',
    ),
    "a weight beyond int32": second(
        pod(affinity={"podAntiAffinity": {PREFERRED: [{"weight": 2**40}]}}),
        f"spec.affinity.podAntiAffinity.{PREFERRED}[0].weight: found {2**40}; expected an int32",
    ),
    "a priority beyond int32": second(pod(priority=2**31), "spec.priority: found 2147483648; expected an int32"),
    "a port beyond the last": second(
        pod(containers=[{"name": "c", "ports": [{"hostPort": 70000}]}]),
        "spec.containers[0].ports[0].hostPort: found 70000; expected 1 to 65535",
    ),
    "a negative quantity": allocatable("-4", 'found "-4"; expected 0 or more'),
    "a quantity with words": allocatable("4 cores", "'4 cores'", NOT_A_QUANTITY),
    "a quantity that is a boolean": allocatable(True, "expected a number or a string, found true"),
    "a quantity with a large exponent": allocatable("1e999999999", "is out of range: the exponent", "at most 7 digits"),
    "many digits and a word": allocatable("9" * 5000 + "GB", f"'{'9' * 40}...'", NOT_A_QUANTITY),
    "a number that no float holds": Case(
        "simulate a.json",
        ("a.json (Node n1): status.allocatable: number out of range",),
        {"a.json": text_of(node(status={"allocatable": {"cpu": "1e999"}})).replace('"1e999"', "1e999")},
    ),
    "a request that is no quantity": second(
        pod(containers=[{"name": "c", "resources": {"requests": {"memory": "1GiB"}}}]),
        "(Pod shop/p1): spec.containers[0].resources.requests.memory: '1GiB' is not a quantity; did you mean \"1Gi\"?",
    ),
    "a time that is none": second(
        other("v1", "Pod", metadata={"creationTimestamp": "soon"}),
        '(Pod x): metadata.creationTimestamp: found "soon"; expected a time such as 2026-01-31T12:00:00Z',
    ),
    "a day that is none": second(
        pod(status={"startTime": "2026-02-30T00:00:00Z"}), 'status.startTime: found "2026-02-30T00:00:00Z"; expected'
    ),
    "a number as a name in YAML": Case(
        "simulate a.yaml",
        ("a.yaml, document 2 (Node): metadata.name: expected a string, found 2026",),
        {"a.yaml": "kind: Foo\n---\nkind: Node\napiVersion: v1\nmetadata: {name: 2026}\n"},
    ),
    "an object twice, different": second(
        node("before", unschedulable=True), "(Node before): is also at a.json, item 1"
    ),
    "an object twice, in two files": Case(
        "simulate cluster.json b.json",
        ("b.json, item 1 (Node n1): is also at cluster.json, item 1, with other content", "remove one"),
        {"b.json": text_of(listed(node("n1", unschedulable=True)))},
    ),
}
