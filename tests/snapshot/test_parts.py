import json

from kubesched.api import decode_object
from kubesched.snapshot.parts import PartPool
from tests.snapshot.builders import pod


def shared(*documents):
    pool = PartPool()
    pods = [decode_object("Pod", json.dumps(document).encode()) for document in documents]
    for one in pods:
        pool.share(one)
    return pods


def test_sharing_changes_no_pod():
    documents = [
        pod(str(i), labels={"a": "b"}, tolerations=[{"key": "x"}], status={"conditions": [{}]}) for i in range(3)
    ]
    assert shared(*documents) == [decode_object("Pod", json.dumps(document).encode()) for document in documents]


def test_equal_parts_become_one_and_others_stay():
    first, second, third = shared(pod("a", labels={"x": "1"}), pod("b", labels={"x": "1"}), pod("c", labels={"x": "2"}))
    assert first.metadata.labels is second.metadata.labels
    assert first.spec.containers is third.spec.containers
    assert third.labels == {"x": "2"}


def test_parts_of_different_fields_are_kept_apart():
    (only,) = shared(pod(tolerations=[{}], topologySpreadConstraints=[{}], status={"conditions": [{}]}))
    assert type(only.tolerations[0]).__name__ == "Toleration"
    assert type(only.status.conditions[0]).__name__ == "PodCondition"
