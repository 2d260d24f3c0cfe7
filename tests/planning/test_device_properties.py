"""What fit and compare answer for pods with claims is what simulate answers for the objects that come of them."""

import pytest

from kubesched.api import KubeObject, Pod, ResourceClaim
from kubesched.comparison import compare
from kubesched.planning import fit
from kubesched.session import PodState, Simulator
from tests.planning.drain_clusters import claimed_cluster
from tests.trials import seeds


def outcome(placements) -> dict[str, tuple[PodState, str]]:
    return {one.pod: (one.state, one.node) for one in placements}


def takers(objects: list[KubeObject]) -> list[tuple[str, str, str]]:
    """The devices that claims have, one entry for each claim."""
    allocations = (one.status.allocation for one in objects if isinstance(one, ResourceClaim))
    return [
        (result.driver, result.pool, result.device)
        for one in allocations
        if one is not None
        for result in one.devices.results or ()
    ]


@pytest.mark.parametrize("seed", seeds(6))
def test_fit_places_new_pods_with_claims_as_simulate_does(seed: int):
    objects = claimed_cluster(seed)
    new = [one for one in objects if isinstance(one, Pod) and not one.node_name]
    if not new:
        return
    others = [one for one in objects if one not in new]
    answer = fit(others, new, add=True, keeps_objects=True)
    known = [*others, *new]
    report = Simulator(known).run()
    assert outcome(answer.placements) == {pod.key: outcome(report.placements)[pod.key] for pod in new}
    assert answer.report.devices == report.devices
    written = takers(list(answer.objects))
    assert len(written) == len(set(written)) == sum(one.after.taken for one in report.devices)


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("device", [1, 2])
def test_as_many_pods_with_devices_fit_as_simulate_places(seed: int, device: int):
    objects = claimed_cluster(seed)
    most = fit(objects, {"cpu": "100m"}, devices={"gpu": device}, maximum=True)
    as_many = fit(objects, {"cpu": "100m"}, devices={"gpu": device}, replicas=max(1, most.n_fit), keeps_objects=True)
    assert as_many.n_fit == most.n_fit
    report = Simulator(list(as_many.objects)).run()
    assert [one.pod for one in report.placements if one.node] == []
    assert [one.after for one in report.devices] == [one.after for one in as_many.report.devices]
    if most.n_fit:
        assert most.report.devices == as_many.report.devices
        assert not fit(objects, {"cpu": "100m"}, devices={"gpu": device}, replicas=most.n_fit + 1).all_fit


@pytest.mark.parametrize("seed", seeds(4))
def test_compare_counts_the_devices_that_simulate_allocates(seed: int):
    objects = claimed_cluster(seed)
    comparison = compare(objects, seeds=5)
    report = Simulator(objects).run()
    assert [(one.before, one.after) for one in comparison.devices] == [(one.after, one.after) for one in report.devices]
    figures = {one.figure.name: one for one in comparison.differences}
    for name, count in (("devicesTaken", "taken"), ("devicesFree", "free")):
        low, high = figures[name].range_a
        assert low <= sum(getattr(one.after, count) for one in report.devices) <= high
