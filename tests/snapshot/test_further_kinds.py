"""Objects of kinds that only plugins read: read on request, or where a list says that it has them; written whole."""

import io
import json
from typing import Any

import pytest

from kubesched.api import Unstructured, kind_of
from kubesched.errors import InputError
from kubesched.snapshot import load_snapshot, write_snapshot
from kubesched.testing import make_node

METRICS = "metrics.k8s.io/v1beta1/NodeMetrics"
NODE = json.loads(make_node("n").raw)


def item(name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": name}, **fields}


def listed(*items: dict[str, Any], **fields: Any) -> io.StringIO:
    return io.StringIO(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, *items], **fields}))


@pytest.mark.parametrize("kind", [METRICS, f"{METRICS}?", "metrics.k8s.io/v1beta1/nodes"])
def test_a_kind_that_is_asked_for_is_read_whole(kind: str) -> None:
    cluster = load_snapshot(listed(item("n", usage={"cpu": "1"})), kinds=[kind])
    (found,) = cluster.of(Unstructured)
    assert (found.key, found.document["usage"]) == ("n", {"cpu": "1"})
    assert cluster.kinds == {"Node": 1, "metrics.k8s.io/v1beta1/nodes": 1}
    assert not cluster.skipped


def test_a_kind_that_nobody_asked_for_is_left_out_and_counted() -> None:
    assert load_snapshot(listed(item("n"))).skipped == {"NodeMetrics": 1}


def test_another_version_of_a_kind_is_another_kind() -> None:
    assert load_snapshot(listed(item("n")), kinds=["metrics.k8s.io/v1/NodeMetrics"]).skipped == {"NodeMetrics": 1}


def test_what_was_written_reads_back_without_being_asked_for() -> None:
    quota = {"apiVersion": "example.com/v1", "kind": "Quota", "metadata": {"name": "q", "namespace": "shop"}}
    kinds = [METRICS, "example.com/v1/Quota"]
    cluster = load_snapshot(
        listed(item("n"), quota, metadata={"listedKinds": [*kinds, "scheduling.example.com/v1/nothings"]}), kinds=kinds
    )
    file = io.BytesIO()
    write_snapshot(cluster, file, strip=True)
    again = load_snapshot(io.BytesIO(file.getvalue()))
    assert [kind_of(known) for known in again] == ["Node", "metrics.k8s.io/v1beta1/nodes", "example.com/v1/quotas"]
    assert [known.document for known in again.of(Unstructured)] == [item("n"), quota]


def test_managed_fields_are_not_written_and_everything_else_is() -> None:
    kept = {"spec": {"containers": [{"env": [{"name": "A", "value": "b"}]}]}, "data": {"a": "b"}}
    metadata = {"name": "n", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "x"}}
    cluster = load_snapshot(
        listed(item("n", **kept) | {"metadata": {**metadata, "managedFields": [{}]}}), kinds=[METRICS]
    )
    file = io.BytesIO()
    write_snapshot(cluster, file, strip=True)
    written = json.loads(file.getvalue())["items"][1]
    assert written == item("n", **kept) | {"metadata": {"name": "n", "annotations": {"note": "x"}}}


@pytest.mark.parametrize("kind", ["NodeMetric", "v1/Secret"])
def test_a_kind_that_cannot_be_read_is_refused(kind: str) -> None:
    with pytest.raises(InputError):
        load_snapshot(listed(), kinds=[kind])
