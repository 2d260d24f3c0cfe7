"""The patches of each fix, applied to the documents of the cluster, let the pod fit in the cluster that they make."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from campaigns.oracle.compare import read_case
from kubesched.api import KubeObject, OwnerReference, Pod, edited
from kubesched.explanation import Explainer, Fix
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from tests.clusters import MIN_NODES, SHAPES, realistic
from tests.explanation.applied_patches import after
from tests.properties.test_fixes import offered, small_clusters
from tests.properties.test_volume_fixes import clusters as volume_clusters
from tests.trials import TIMES, examples, one_in

CASES = one_in(40, sorted((Path(__file__).parents[1] / "golden/cases").glob("*.json.gz")))
KINDS = {"maxSkew", "movePod", "nodeSelector", "podAntiAffinity", "priorityClass", "requests", "schedulingGate"}
MAX_FIXES = 5


def has_hand(fix: Fix) -> bool:
    """Whether patches do all of it; controllers do the rest."""
    return bool(fix.patches) and all(one.target is not None for one in fix.patches)


def check(cluster: list[KubeObject], config: bytes | None, pod: Pod, fix: Fix) -> None:
    changed = after(cluster, pod, fix)
    with Explainer(changed, set_up(config), nominations=False) as explainer:
        now = explainer.explain(pod.key, preempt="priorityClass" in fix.kind)
    fits = now.fits or (now.preemption is not None and bool(now.preemption.node_name))
    assert fits, (fix.text, fix.patches, now.message, now.advice)
    assert not now.held_back, (fix.text, fix.patches)


def each(cluster: list[KubeObject], config: bytes | None, most: int) -> set[str]:
    """Try fixes of every kind, as many of each. Returns: the kinds that patches apply."""
    by_kind: dict[str, list[tuple[Pod, Fix]]] = {}
    for pod, fix in offered(cluster, config):
        by_kind.setdefault(fix.kind, []).append((pod, fix))
    done = set()
    for kind, fixes in by_kind.items():
        for pod, fix in fixes[:most]:
            assert fix.patches, fix.text
            if has_hand(fix):
                check(cluster, config, pod, fix)
                done.add(kind)
    return done


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_the_patches_for_a_recorded_cluster_make_the_pod_fit(path: Path) -> None:
    case = read_case(path)
    cluster = list(load_snapshot(io.BytesIO(json.dumps(case["snapshot"]).encode())))
    each(cluster, case["config"].encode() if case["config"] else None, 1)


@pytest.mark.parametrize("shape", list(SHAPES)[:TIMES])
def test_the_patches_for_a_realistic_cluster_make_each_pod_fit(shape: str) -> None:
    cluster = list(load_snapshot(io.BytesIO(realistic(shape, MIN_NODES, seed=3))))
    assert each(cluster, None, TIMES) >= KINDS


def owner(kind: str, group: str = "apps/v1") -> OwnerReference:
    return OwnerReference(group, kind, "w", "w", controller=True)


@examples(12)
@given(small_clusters(), st.sampled_from((None, owner("StatefulSet"), owner("DaemonSet"), owner("Job", "batch/v1"))))
def test_the_patches_for_a_pod_with_several_obstacles_make_it_fit(
    cluster: list[KubeObject], controller: OwnerReference | None
) -> None:
    *rest, pod = cluster
    owners = (controller,) if controller is not None else None
    each([*rest, edited(pod, metadata=replace(pod.metadata, owner_references=owners))], None, MAX_FIXES)


@examples(10)
@given(volume_clusters())
def test_the_patches_for_a_pod_with_claims_make_it_fit(cluster: list[KubeObject]) -> None:
    each(cluster, None, MAX_FIXES)
