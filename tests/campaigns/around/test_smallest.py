"""The smallest clusters around three pods that wait in an example."""

import pytest

from campaigns.around import smallest
from campaigns.around.smallest import CLUSTERS, faults, pending
from kubesched.snapshot import load_snapshot


def test_the_kinds_of_the_first_fixes_stay_and_few_objects_are_left() -> None:
    cluster = load_snapshot(CLUSTERS["bare-metal"])
    pods = pending(cluster)
    assert len(pods) >= 3
    assert [what for pod in pods[:3] for what in faults("bare-metal", cluster, pod.key)] == []


def test_other_fixes_and_too_many_objects_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = load_snapshot(CLUSTERS["bare-metal"])
    pod = pending(cluster)[0].key
    monkeypatch.setattr(smallest, "smallest_around", lambda cluster, pod, setup: cluster)
    (fault,) = faults("bare-metal", cluster, pod)
    assert fault.endswith("objects are left")
