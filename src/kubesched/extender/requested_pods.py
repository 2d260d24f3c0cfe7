"""Decodes the pods of requests: the incoming pod, once for several calls, and victims."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

import msgspec

from kubesched.admission import decode_checked
from kubesched.api import Pod
from kubesched.errors import ExtenderError, ObjectError
from kubesched.state import ClusterState, PodInfo
from kubesched.wire import MetaPod

_N_KEPT: Final = 256  # filter and prioritize of one pod come right after each other
_LARGEST_KEPT: Final = 2**17  # bytes of JSON; larger ones are rare, and together they would hold much memory


class RequestedPods:
    """Turns the pods of requests into what plugins read."""

    def __init__(self, cluster_state: ClusterState, *, is_watched: bool) -> None:
        self._cluster_state = cluster_state
        self._is_watched = is_watched
        self._kept: OrderedDict[bytes, PodInfo] = OrderedDict()

    def info(self, raw: msgspec.Raw | bytes, *, keep: bool = True) -> PodInfo:
        """A pod of a request.

        Args:
            keep: whether the same bytes are likely to come again soon.
        Raises:
            ExtenderError: it is not a valid pod.
        """
        json = bytes(raw)
        kept = self._kept.get(json)
        if kept is not None:
            self._kept.move_to_end(json)
            return kept
        try:
            pod = decode_checked("Pod", json)
        except (ObjectError, RecursionError) as error:
            raise ExtenderError(f"Pod: {error}") from error
        assert isinstance(pod, Pod)
        info = self._cluster_state.pod_info(pod)
        if keep and len(json) <= _LARGEST_KEPT:
            self._kept[json] = info
            if len(self._kept) > _N_KEPT:
                self._kept.popitem(last=False)
        return info

    def placed(self, pods: Iterable[MetaPod]) -> tuple[PodInfo, ...]:
        """Pods by uid. One that has left since is left out: it does not need to be evicted.

        Raises:
            ExtenderError: the extender does not watch a cluster to look them up.
        """
        if not self._is_watched:
            raise ExtenderError(
                "the request has victims only by uid, and this extender does not watch a cluster to look "
                "them up; start "
                "it with --kubeconfig, or set nodeCacheCapable: false in kube-scheduler's configuration"
            )
        return tuple(info for pod in pods if (info := self._cluster_state.placed(pod.uid)) is not None)
