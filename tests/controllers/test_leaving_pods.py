"""Pods that leave together count together for their Job."""

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.controllers import Controllers, LeavingPods
from kubesched.testing import make_object, make_pod

OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}


def of_job(name: str, **fields: object) -> Pod:
    return make_pod(name, node="n1", metadata={"ownerReferences": [OWNER]}, **fields)


def leaving(*pods: Pod) -> LeavingPods:
    job: KubeObject = make_object("Job", "j", spec={"completions": 9, "backoffLimit": 1})
    return LeavingPods(pods, lambda kind, key: job if kind == "Job" else None, Controllers())


@pytest.mark.parametrize(("names", "ended", "failed"), [("a", [], 1), ("ab", ["default/j"], 2)])
def test_the_failures_of_a_job_are_counted_together(names: str, ended: list[str], failed: int):
    found = leaving(*map(of_job, names))
    assert list(found.ended_jobs()) == ended
    assert [job.status.failed for job in found.jobs()] == [failed]
    assert bool(found.replacement(of_job("a"))[0]) is not bool(ended)


def test_a_finished_pod_is_no_failure():
    assert not leaving(of_job("a"), of_job("b", status={"phase": "Succeeded"})).ended_jobs()
