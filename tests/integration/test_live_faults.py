"""A few runs of the faults campaign: nothing is lost, and nothing is bound or allocated twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaigns.faults.campaign import play
from campaigns.faults.claim_stops import ClaimStop
from campaigns.faults.run import RecordedPlane
from tests.integration.build import find_binary

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def recorded_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedPlane]:
    """A control plane whose etcd can be read."""
    with RecordedPlane(find_binary(lambda line: None), tmp_path_factory.mktemp("recorded-plane")) as plane:
        yield plane


@pytest.mark.parametrize("seed", [0, 7, 9])  # 0: a stopped process; 7: no API server; 9: no answers and no Lease
def test_faults_lose_no_pod_and_over_commit_no_node(recorded_plane: RecordedPlane, tmp_path: Path, seed: int) -> None:
    report = play(recorded_plane, tmp_path / "run", seed)
    assert report.harm == []
    assert report.n_bound


def test_a_scheduler_that_is_killed_between_two_writes_of_claims_allocates_none_twice(
    recorded_plane: RecordedPlane, tmp_path: Path
) -> None:
    stop = ClaimStop(recorded_plane, tmp_path / "run", 6, "killed after")
    assert stop.at
    assert stop.harm == []
