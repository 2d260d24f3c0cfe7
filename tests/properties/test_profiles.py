"""Whole profiles over random snapshots: verdicts, scores, places and preemptions are those of the slow reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle import more
from campaigns.oracle.compare import differences
from campaigns.oracle.product import answer
from tests.properties.cluster_walk import generated
from tests.reference import evaluate as reference
from tests.trials import examples

CROWDED = ("budgets", "ties", "pressure", "terminating")
MOST_ALLOCATED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {score: {enabled: [{name: ImageLocality, weight: 7}], disabled: [{name: TaintToleration}]}}
  pluginConfig:
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 2}]}}}
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 10}}
  - {name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: []}}
"""


@pytest.mark.parametrize("config", [None, MOST_ALLOCATED], ids=["defaults", "other args"])
@examples(8)
@given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(1, 8),
    bound=st.integers(0, 30),
    features=st.lists(st.sampled_from(more.USUAL), max_size=3, unique=True),
)
def test_a_profile_answers_as_the_reference_does(
    config: str | None, seed: int, nodes: int, bound: int, features: list[str]
) -> None:
    check(generated(seed, nodes=nodes, bound=bound, pending=6, features=tuple(features)), config)


@examples(12)
@given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(1, 8),
    bound=st.integers(8, 40),
    features=st.lists(st.sampled_from(CROWDED), min_size=1, max_size=3, unique=True),
)
def test_preemption_takes_an_outcome_that_the_reference_allows(
    seed: int, nodes: int, bound: int, features: list[str]
) -> None:
    groups = ("resources", "labels", "taints", "ports", "affinity", "spread")
    check(generated(seed, nodes=nodes, bound=bound, pending=8, groups=groups, features=tuple(features)), None)


def check(items: list[dict], config: str | None) -> None:
    case = {"config": config, "snapshot": {"apiVersion": "v1", "kind": "List", "items": items}}
    case["eval"], case["place"] = reference.answer(case)
    assert list(differences(case, answer)) == []
