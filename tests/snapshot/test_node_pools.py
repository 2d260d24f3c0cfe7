"""What autoscalers make nodes from is read, written and read again."""

import json
from pathlib import Path

import pytest

from kubesched.api import NodePool, kind_of
from kubesched.errors import ObjectError
from kubesched.snapshot import load_snapshot, only_read_fields, write_snapshot

POOL = {
    "apiVersion": "karpenter.sh/v1beta1",
    "kind": "NodePool",
    "metadata": {"name": "gpu"},
    "spec": {
        "template": {"spec": {"requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}]}},
        "limits": {"cpu": "100"},
    },
}


def config_map(name: str) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "kube-system"},
        "data": {"status": "of cluster-autoscaler-status"},
    }


def test_pools_and_one_config_map_stay_in_a_snapshot(tmp_path: Path):
    (tmp_path / "a.json").write_text(
        "\n".join(map(json.dumps, [POOL, config_map("cluster-autoscaler-status"), config_map("kube-proxy")]))
    )
    read = load_snapshot(tmp_path / "a.json")
    assert read.skipped == {"ConfigMap": 1}
    write_snapshot(only_read_fields(read), tmp_path / "b.json", strip=True)
    again = load_snapshot(tmp_path / "b.json")
    assert [kind_of(one) for one in again] == ["NodePool", "v1/configmaps"]
    (pool,) = again.of(NodePool)
    assert (pool.spec.limits, pool.spec.template.spec.requirements[0].values) == ({"cpu": "100"}, ("arm64",))
    assert again.objects[1].document["data"] == {"status": "of cluster-autoscaler-status"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"limits": {"cpu": "lots"}}, "spec.limits.cpu: 'lots' is not a quantity"),
        (
            {"template": {"spec": {"taints": [{"key": "a", "effect": "No"}]}}},
            'spec.template.spec.taints[0].effect: found "No"; expected NoSchedule',
        ),
    ],
)
def test_a_pool_with_a_bad_value_is_refused_with_its_place(tmp_path: Path, spec: dict, message: str):
    (tmp_path / "a.json").write_text(json.dumps({**POOL, "spec": spec}))
    with pytest.raises(ObjectError) as raised:
        load_snapshot(tmp_path / "a.json")
    assert "NodePool gpu" in str(raised.value)
    assert message in str(raised.value)
