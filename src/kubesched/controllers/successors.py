"""Whether a new pod is created in the place of an evicted one: what is known of the controllers that own pods."""

from datetime import datetime
from typing import Annotated, Final, NamedTuple

import msgspec

from kubesched.api import (
    INDEX_FAILURES,
    Job,
    KubeObject,
    OwnerReference,
    Pod,
    PodCondition,
    PodFailureRule,
    as_int64,
    edited,
)
from kubesched.controllers.kept_replicas import Controllers, Find, why_not_kept

RE_CREATING_KINDS: Final = frozenset(
    (
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("", "ReplicationController"),
        ("apps.kruise.io", "CloneSet"),
        ("apps.kruise.io", "StatefulSet"),
        ("apps.pingcap.com", "StatefulSet"),
        ("core.strimzi.io", "StrimziPodSet"),
        ("postgresql.cnpg.io", "Cluster"),
        ("ray.io", "RayCluster"),
        ("workloads.kubeblocks.io", "InstanceSet"),
    )
)
"""API group and kind of the controllers that replace every pod that goes.

Rule: kube-controller-manager v1.36 for the first three, which also stand below Deployments, DeploymentConfigs and Argo
Rollouts. The others are documented to do so: OpenKruise CloneSet and Advanced StatefulSet, the Advanced StatefulSet of
TiDB, the pod sets of Strimzi, the instances of CloudNativePG, the head and workers of KubeRay, KubeBlocks InstanceSet.
"""

_FIXED_NAMES: Final = frozenset(
    (
        ("apps", "StatefulSet"),
        ("apps.kruise.io", "StatefulSet"),
        ("apps.pingcap.com", "StatefulSet"),
        ("core.strimzi.io", "StrimziPodSet"),
        ("postgresql.cnpg.io", "Cluster"),
        ("workloads.kubeblocks.io", "InstanceSet"),
    )
)
"""Those of them whose new pods have the names of the old ones."""

_DOUBTFUL: Final = {
    ("argoproj.io", "Workflow"): "a step of a Workflow runs again only with a retryStrategy",
    ("tekton.dev", "TaskRun"): "a TaskRun whose pod is evicted fails; it runs again only with retries",
    ("tekton.dev", "PipelineRun"): "a PipelineRun whose pod is evicted fails; a task runs again only with retries",
    ("sparkoperator.k8s.io", "SparkApplication"): "a Spark driver runs again only with a restartPolicy",
    ("", "Pod"): "the pod that made it may not make another one",
    ("batch.volcano.sh", "Job"): "a Job of Volcano follows its policies, which are not read",
    ("kubevirt.io", "VirtualMachineInstance"): "the eviction of a virtual machine depends on its evictionStrategy",
    ("agones.dev", "GameServer"): "a GameServer whose pod is evicted ends, with its players",
    ("actions.github.com", "EphemeralRunner"): "the workflow job that runs in it fails",
    **{
        ("kubeflow.org", kind): f"a {kind} follows its restartPolicy, which is not read"
        for kind in ("JAXJob", "MPIJob", "MXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
    },
}
"""Controllers of which it is known what their pods depend on."""

_JOB: Final = ("batch", "Job")
_BUILT_IN_GROUPS: Final = {kind: group for group, kind in (*sorted(RE_CREATING_KINDS), _JOB) if "." not in group}
_JOB_CONTROLLER: Final = "kubernetes.io/job-controller"
_ENDED: Final = frozenset(("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"))
_BACKOFF_LIMIT: Final = 6
_Time = Annotated[datetime, msgspec.Meta(tz=True)]
_BOUND_TO_NODE: Final = ("DaemonSet", "Node")
_EVICTED_CODES: Final = frozenset((137, 143))
"""How a container ends that is stopped: SIGKILL and SIGTERM, unless it chooses another code."""


class Successor(NamedTuple):
    """Whether a new pod comes in the place of an evicted one.

    Attributes:
        is_made: whether one is created; None where that is not known.
        why: the reason, unless one is created.
        ends_job: whether the eviction ends the pod's Job, and with it the other pods of the Job.
        costs_nothing: whether nothing is lost although none is created: the pod has ended, is being deleted already, or
            belongs to its node.
    """

    is_made: bool | None
    why: str = ""
    ends_job: bool = False
    costs_nothing: bool = False

    @property
    def is_loss(self) -> bool:
        """Whether the eviction loses the pod, or may lose it."""
        return not self.is_made and not self.costs_nothing


_MADE: Final = Successor(True)
_NOT_COUNTED: Final = Controllers()


def is_bound_to_node(pod: Pod) -> bool:
    """Whether a pod belongs to its node: a pod of a DaemonSet, or a mirror pod, whose controller is the node."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind in _BOUND_TO_NODE


def successor_of(pod: Pod, find: Find, n_evicted: int = 1, controllers: Controllers = _NOT_COUNTED) -> Successor:
    """Say whether a new pod is created, here or elsewhere, when a pod leaves its node.

    A pod that is being deleted is replaced by a StatefulSet alone: any other controller has created the new pod
    already.

    Args:
        find: looks up the pod's namespace and controller.
        n_evicted: how many pods of its Job are evicted together, this one included.
        controllers: of the cluster; by default nothing is known that has to be counted.
    """
    owner = pod.metadata.controller
    if is_bound_to_node(pod):
        return Successor(False, "it belongs to its node", costs_nothing=True)
    if pod.is_finished:
        return Successor(False, "it has ended", costs_nothing=True)
    if pod.is_terminating and (owner is None or owner.kind != "StatefulSet"):
        return Successor(False, "it is being deleted already", costs_nothing=True)
    if owner is None:
        return Successor(False, "no controller would create it again")
    namespace = find("Namespace", pod.namespace)
    if namespace is not None and namespace.is_terminating:
        return Successor(False, f"namespace {pod.namespace} is being deleted, so no pod can be created in it")
    group = _group_of(owner)
    if _BUILT_IN_GROUPS.get(owner.kind) == group and (group, owner.kind) != _JOB:
        return Successor(*why_not_kept(pod, owner, find, controllers))
    if (group, owner.kind) in RE_CREATING_KINDS:
        return _MADE
    if (group, owner.kind) == _JOB:
        job = find("Job", f"{pod.namespace}/{owner.name}")
        by_job = _of_job(pod, job, owner.name, n_evicted)
        return _in_time(job, controllers.taken_at) if by_job.is_made and isinstance(job, Job) else by_job
    unknown = f"{owner.kind} is not known to create its pods again"
    return Successor(None, _DOUBTFUL.get((group, owner.kind), unknown))


def waits_for_end(pod: Pod, find: Find) -> bool:
    """Whether the new pod is created only when the old one has ended, and not already while it terminates.

    Rule: kube-controller-manager v1.36: a StatefulSet gives the new pod the name of the old one; a Job waits if its
    podReplacementPolicy is Failed, which is the default with a podFailurePolicy. Other controllers that give their pods
    fixed names have to wait too.
    """
    owner = pod.metadata.controller
    if owner is None:
        return False
    job = find("Job", job_of(pod)) if job_of(pod) else None
    if isinstance(job, Job):
        return (job.spec.pod_replacement_policy or ("Failed" if job.spec.pod_failure_policy else "")) == "Failed"
    return (_group_of(owner), owner.kind) in _FIXED_NAMES


def job_of(pod: Pod) -> str:
    """`namespace/name` of the Job that a pod belongs to; empty for none."""
    owner = pod.metadata.controller
    is_job = owner is not None and (_group_of(owner), owner.kind) == _JOB
    return f"{pod.namespace}/{owner.name}" if owner is not None and is_job else ""


def with_failures(job: Job, pod: Pod, n_evicted: int) -> Job:
    """A Job after pods of it that are like `pod` were evicted: with its failures, and failed if that ends it."""
    end = _of_job(pod, job, job.name, n_evicted)
    status = job.status
    if end.ends_job or _action(job) == "Count":
        status = msgspec.structs.replace(status, failed=status.failed + n_evicted)
    if end.ends_job:
        failed = PodCondition("Failed", status="True")
        status = msgspec.structs.replace(status, conditions=(*(status.conditions or ()), failed))
    return edited(job, status=status)


def _group_of(owner: OwnerReference) -> str:
    """The API group of an owner; that of Kubernetes' own kind where a snapshot made by hand has no apiVersion."""
    if not owner.api_version:
        return _BUILT_IN_GROUPS.get(owner.kind, "")
    return owner.api_version.rpartition("/")[0]


def _of_job(pod: Pod, job: KubeObject | None, name: str, n_evicted: int) -> Successor:
    """Rule: Job controller of kube-controller-manager v1.36.

    A pod that is evicted counts as failed, also while it terminates, unless a rule of the podFailurePolicy says
    otherwise. The Job fails when `status.failed` is above its backoffLimit, and all its pods end then. A Job that has
    ended, is suspended or needs no more completions creates no pod. One with a work queue, which has no `completions`,
    creates none after the first success. podReplacementPolicy only says when the new pod is created.
    """
    if not isinstance(job, Job):
        return Successor(None, f"Job {name} is not in the snapshot, so its backoffLimit is not known")
    if why := _needs_no_pod(job):
        return Successor(False, why)
    spec = job.spec
    if spec.managed_by not in ("", _JOB_CONTROLLER):
        return Successor(None, f"Job {name} is managed by {spec.managed_by}, which is not known to create pods again")
    action = _action(job)
    if action == "Ignore":
        return _MADE
    if action == "FailJob":
        return Successor(False, f"Job {name} would fail: FailJob in its podFailurePolicy", ends_job=True)
    if action == "FailIndex":
        return Successor(False, f"its index of Job {name} would fail: FailIndex in its podFailurePolicy")
    if action != "Count":
        return Successor(None, f"Job {name} fails with some exit codes, by its podFailurePolicy")
    per_index = spec.backoff_limit_per_index
    if per_index is not None and _failures_of_index(pod) + 1 > per_index:
        return Successor(False, f"its index of Job {name} would fail: backoffLimitPerIndex is {per_index}")
    return _within_limit(job, n_evicted)


def _needs_no_pod(job: Job) -> str:
    spec, status = job.spec, job.status
    if job.is_terminating or any(one.type in _ENDED and one.status == "True" for one in status.conditions or ()):
        return f"Job {job.name} has ended"
    if spec.suspend:
        return f"Job {job.name} is suspended"
    if spec.parallelism == 0:
        return f"Job {job.name} has parallelism 0"
    if spec.completions is None and status.succeeded:
        return f"Job {job.name} creates no pod after one has succeeded: it has no completions"
    if spec.completions is not None and status.succeeded >= spec.completions:
        return f"Job {job.name} has its {spec.completions} completions"
    return ""


def _in_time(job: Job, now: datetime | None) -> Successor:
    """Whether a new pod, which begins from the start, has time before its Job's activeDeadlineSeconds.

    Rule: Job controller of kube-controller-manager v1.36: the deadline counts from the start of the Job, whatever its
    pods do; then the Job fails, and its pods end. A new pod is taken to have time if at least as much is left as the
    Job has run.
    """
    seconds = job.spec.active_deadline_seconds
    if seconds is None:
        return _MADE
    deadline = f"its activeDeadlineSeconds of {seconds:,}"
    started = _time(job.status.start_time)
    if now is None or started is None:
        unknown = "it is not known when the Job started" if started is None else "the time of the snapshot is not known"
        return Successor(None, f"Job {job.name} may fail: {deadline} may end before a new pod does; {unknown}")
    run = (now - started).total_seconds()
    if run >= seconds:
        return Successor(False, f"Job {job.name} would fail: it is past {deadline}", ends_job=True)
    if seconds - run >= run:
        return _MADE
    return Successor(None, f"Job {job.name} may fail: of {deadline}, {seconds - run:,.0f} are left for a new pod")


def _time(text: str | None) -> datetime | None:
    """A time of the API; None where there is none, or none that can be read."""
    try:
        return msgspec.convert(text, _Time)
    except msgspec.ValidationError:
        return None


def _within_limit(job: Job, n_evicted: int) -> Successor:
    limit, failed = job.spec.backoff_limit, job.status.failed
    if limit is None:
        limit = _BACKOFF_LIMIT if job.spec.backoff_limit_per_index is None else 2**31 - 1
    if failed + n_evicted <= limit:
        return _MADE
    before = f", and {failed} of its pods failed before" if failed else ""
    together = f", and {n_evicted} of its pods are evicted" if n_evicted > 1 else ""
    return Successor(False, f"Job {job.name} would fail: its backoffLimit is {limit}{before}{together}", ends_job=True)


def _action(job: Job) -> str:
    """What the first rule of a podFailurePolicy that fits an evicted pod says; empty where exit codes decide."""
    policy = job.spec.pod_failure_policy
    for rule in policy.rules or () if policy is not None else ():
        if rule.on_exit_codes is not None:
            if rule.action != "Count" and _may_fit(rule):
                return ""
        elif any(
            pattern.type == "DisruptionTarget" and pattern.status == "True" for pattern in rule.on_pod_conditions or ()
        ):
            return rule.action
    return "Count"


def _may_fit(rule: PodFailureRule) -> bool:
    codes = rule.on_exit_codes
    if codes is None:
        return False
    values = frozenset(codes.values or ())
    return bool(_EVICTED_CODES & values) if codes.operator == "In" else not values >= _EVICTED_CODES


def _failures_of_index(pod: Pod) -> int:
    return max(0, as_int64(pod.annotations.get(INDEX_FAILURES, "")) or 0)
