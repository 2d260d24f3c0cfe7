"""Replicas whose claims have a selector that fails: they fail alike, although each message names its own claim."""

import json
from pathlib import Path

from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write

N = 3
FAULT = "selector #0: CEL runtime error: no such key: model"
SPEC = {
    "devices": {
        "requests": [
            {
                "name": "r",
                "exactly": {
                    "deviceClassName": "gpu",
                    "selectors": [{"cel": {"expression": 'device.attributes["d"].model == "x"'}}],
                },
            }
        ]
    }
}
ENTRIES = [{"name": "g", "resourceClaimTemplateName": "one"}]


def cluster(tmp_path: Path, *more: object) -> Path:
    pool = {"name": "n2", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"d{i}"} for i in range(N)]
    return write(
        tmp_path,
        *(make_node(name, allocatable={"cpu": "8", "memory": "8Gi", "pods": "9"}) for name in ("n1", "n2")),
        make_object("DeviceClass", "gpu", spec={}),
        make_object("ResourceSlice", "s", spec={"driver": "d", "nodeName": "n2", "pool": pool, "devices": devices}),
        make_object("ResourceClaimTemplate", "one", namespace="default", spec={"spec": SPEC}),
        *more,
    )


def test_new_replicas_fail_in_one_row(tmp_path: Path) -> None:
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "x"}], "resourceClaims": ENTRIES},
    }
    spec = {"replicas": N, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    new = tmp_path / "new.json"
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}
    new.write_text(json.dumps(manifest))
    for command, n_texts in (("simulate", 1), ("fit", 2)):  # fit says first that a plugin failed
        text = run(command, cluster(tmp_path), "-f", new).stdout
        assert f"Would fail (SchedulerError): {N}" in text
        assert " ".join(text.split()).count(FAULT) == n_texts, text


def test_running_replicas_fail_in_one_row_of_a_drain(tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "a", "controller": True}
    running = []
    for i in range(N):
        of = {"apiVersion": "v1", "kind": "Pod", "name": f"a-{i}", "uid": f"a-{i}", "controller": True}
        claim = make_object(
            "ResourceClaim", f"a-{i}-g", namespace="default", metadata={"ownerReferences": [of]}, spec=SPEC
        )
        status = {"resourceClaimStatuses": [{"name": "g", "resourceClaimName": f"a-{i}-g"}]}
        metadata = {"ownerReferences": [owner], "uid": f"a-{i}"}
        pod = make_pod(f"a-{i}", node="n1", metadata=metadata, spec={"resourceClaims": ENTRIES}, status=status)
        running += [claim, pod]
    text = run("drain", cluster(tmp_path, *running), "n1").stdout
    assert " ".join(text.split()).count(FAULT) == 2, text  # the plugin that failed, and the row of the pods
