"""The environment, with agents that know nothing."""

from pathlib import Path

import numpy as np
import pytest
from gpu_share import WHOLE
from gymnasium.utils.env_checker import check_env
from kubesched_gym import PlacementEnv, Step, allocated

from kubesched import read_trace
from kubesched.testing import make_node, make_pod
from kubesched.traces import GPU_SHARE

SAMPLE = Path(__file__).parent / "sample"
TRACE = read_trace(SAMPLE / "nodes.csv", SAMPLE / "pods.csv", gpu_shares=True)
PODS = [arrival.pod for arrival in TRACE.arrivals[:30]]


def small() -> PlacementEnv:
    nodes = [make_node(name, allocatable={"cpu": "8", GPU_SHARE: 1000}) for name in ("n1", "n2")]
    return PlacementEnv(nodes, [make_pod(f"p{i}", requests={"cpu": "1", GPU_SHARE: 600}) for i in range(3)])


def test_gymnasium_accepts_it():
    check_env(PlacementEnv(TRACE.nodes[:4], PODS[:5]), skip_render_check=True)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_agent_that_looks_at_what_fits_never_errs(seed: int):
    environment, rng = PlacementEnv(TRACE.nodes, PODS), np.random.default_rng(seed)
    seen, _ = environment.reset(seed=seed)
    total, is_over = 0.0, False
    while not is_over:
        fits = np.flatnonzero(seen["fits"])
        action = rng.choice(fits)
        seen, reward, is_over, _, info = environment.step(action)
        assert info["node"] == TRACE.nodes[action].name
        total += reward
    wanted = sum(pod.requests.get(GPU_SHARE, 0) for pod in PODS)
    assert total == pytest.approx(wanted / WHOLE)
    environment.close()


def test_what_the_agent_sees_is_the_cluster_and_the_next_pod():
    environment = small()
    seen, _ = environment.reset(seed=1)
    assert seen["pod"].tolist() == pytest.approx([0.125, 0, 0.6, 0.125])
    assert seen["fits"].tolist() == [1, 1]
    seen, reward, *_ = environment.step(np.int64(1))
    assert reward == pytest.approx(0.6)
    assert seen["nodes"][:, 0].tolist() == pytest.approx([1, 0.875])
    assert seen["nodes"][:, 2].tolist() == pytest.approx([1, 0.4])
    assert seen["fits"].tolist() == [1, 0]
    environment.close()


def test_a_pod_that_does_not_fit_is_given_up_and_earns_nothing():
    environment = small()
    environment.reset(seed=1)
    rewards = [environment.step(np.int64(0))[1] for _ in range(3)]
    assert rewards == pytest.approx([0.6, 0, 0])
    environment.close()


def test_an_episode_ends_with_the_last_pod_and_the_next_one_begins_anew():
    environment = small()
    for _ in range(2):
        environment.reset(seed=1)
        assert [environment.step(np.int64(0))[2] for _ in range(3)] == [False, False, True]
    environment.close()


def test_the_user_chooses_the_reward():
    steps: list[Step] = []

    def reward(step: Step) -> float:
        steps.append(step)
        return -1.0 if not step.node_name else allocated(step)

    environment = small()
    environment.reward = reward
    environment.reset(seed=1)
    assert [environment.step(np.int64(0))[1] for _ in range(2)] == pytest.approx([0.6, -1])
    assert [step.node_name for step in steps] == ["n1", ""]
    environment.close()
