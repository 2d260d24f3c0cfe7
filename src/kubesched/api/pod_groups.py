"""Which group a pod belongs to, and how many of its pods the group needs at once: what gang schedulers read.

kube-scheduler's default plugins read none of it.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from kubesched.api.pod import Pod

_MAX_DIGITS: Final = 10  # of a number of pods


class _GroupKey(NamedTuple):
    """What goes with a way to name a group.

    Attributes:
        kind: the key in KINDS of the object that has the minimum; empty for none.
        minimum: the label or annotation of the pods that has it; empty for none.
    """

    kind: str = ""
    minimum: str = ""


_FIELD: Final = "spec.schedulingGroup.podGroupName"

GROUP_NAMES: Final = {
    _FIELD: _GroupKey("PodGroup"),
    "scheduling.x-k8s.io/pod-group": _GroupKey("CoschedulingPodGroup"),
    "pod-group.scheduling.sigs.k8s.io": _GroupKey(),
    "pod-group.scheduling.sigs.k8s.io/name": _GroupKey(minimum="pod-group.scheduling.sigs.k8s.io/min-available"),
    "scheduling.k8s.io/group-name": _GroupKey("VolcanoPodGroup"),
    "kueue.x-k8s.io/pod-group-name": _GroupKey(minimum="kueue.x-k8s.io/pod-group-total-count"),
}
"""Field, label or annotation that names the group of a pod -> what goes with it.

Rule: in this order, Kubernetes v1.36 scheduling.k8s.io/v1alpha2, scheduler-plugins Coscheduling of
scheduling.x-k8s.io/v1alpha1 and scheduling.sigs.k8s.io/v1alpha1, the lightweight one before them, Volcano
scheduling.volcano.sh/v1beta1, Kueue kueue.x-k8s.io/v1beta1.
"""

GROUP_KEYS: Final = frozenset(GROUP_NAMES.keys() - {_FIELD})
"""The labels and annotations among them."""


def _minimum_keys(key: str) -> Iterator[str]:
    known = GROUP_NAMES.get(key, _GroupKey()).minimum
    if known:
        yield known
    yield f"{key}-min"


GROUP_MINIMUMS: Final = frozenset(minimum for key in GROUP_KEYS for minimum in _minimum_keys(key))
"""Labels and annotations of pods that have the minimum of their group."""


def group_name(pod: Pod, key: str) -> str:
    """The name of the pod's group; empty for none.

    Args:
        key: one of GROUP_NAMES, or another label or annotation.

    Example:
        assert group_name(make_pod("w0", labels={"team": "red"}), "team") == "red"
    """
    if key == _FIELD:
        return pod.spec.scheduling_group.pod_group_name if pod.spec.scheduling_group is not None else ""
    return pod.labels.get(key) or pod.annotations.get(key) or ""


def minimum_on_pod(pod: Pod, key: str) -> int:
    """The minimum of the pod's group in its labels or annotations, or 0.

    Example:
        assert minimum_on_pod(make_pod("w0", labels={"team": "red", "team-min": "3"}), "team") == 3
    """
    values = (group_name(pod, name) for name in _minimum_keys(key))
    return next((int(value) for value in values if value.isdecimal() and len(value) < _MAX_DIGITS), 0)
