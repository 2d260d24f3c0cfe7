import pytest

from kubesched.config import DEFAULT_PLUGINS, Duration, KubeSchedulerConfiguration
from tests.config.loading import load, load_profile


def test_zero_and_empty_stand_for_the_default():
    election = load("leaderElection: {leaseDuration: 0s, resourceLock: '', resourceName: ''}").leader_election
    client = load("clientConnection: {qps: 0, burst: 0, contentType: ''}").client_connection
    assert election == KubeSchedulerConfiguration().leader_election
    assert client == KubeSchedulerConfiguration().client_connection


def test_what_is_given_is_kept():
    configuration = load("leaderElection: {leaderElect: false, retryPeriod: 5s}\nclientConnection: {qps: 1.5}")
    assert configuration.leader_election.leader_elect is False
    assert configuration.leader_election.retry_period == Duration(5)
    assert configuration.client_connection.qps == 1.5


@pytest.mark.parametrize(
    ("body", "contention"),
    [("", True), ("enableProfiling: false", False), ("enableProfiling: false\nenableContentionProfiling: true", True)],
)
def test_contention_profiling_follows_profiling(body, contention):
    assert load(body).enable_contention_profiling is contention


@pytest.mark.parametrize("body", ["", "profiles:", "profiles: []", "profiles: [{}]", "profiles: [null]"])
def test_without_profiles_there_is_one_with_the_default_plugins(body):
    (profile,) = load(body).profiles
    assert profile.scheduler_name == "default-scheduler"
    assert profile.plugins == DEFAULT_PLUGINS


def test_a_profile_percentage_of_zero_is_not_the_absence_of_one():
    assert load_profile("{percentageOfNodesToScore: 0}").percentage_of_nodes_to_score == 0
    assert load_profile("{}").percentage_of_nodes_to_score is None
