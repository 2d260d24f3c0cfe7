"""Finds Deployments whose rollout would hang: the first new pod has no place, and no old one may make way for it.

Rule: kube-controller-manager v1.36, as in controllers/rollout_steps.py. A Deployment that the cluster lacks is taken to
have the default strategy. A strategy that lets old pods go first waits for the place of a pod that is re-created,
which `planning/created_again.py` tries for every workload.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kubesched.api import Deployment, KubeObject, RollingUpdate, UpdateStrategy, Workload
from kubesched.config import Finding
from kubesched.controllers import rollout_bounds
from kubesched.errors import InputError
from kubesched.explanation import WAY_OUT
from kubesched.planning.created_again import Comeback, CreatedAgain, Recreation

_NO_PLACE: Final = (Comeback.NOWHERE, Comeback.REFUSED)


class Strategies:
    """How the Deployments of a cluster replace their pods.

    Args:
        objects: of the cluster.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        deployments = (known for known in objects if isinstance(known, Deployment))
        self._known = {known.key: known.spec.strategy for known in deployments}

    def surge(self, workload: Workload, n: int) -> int:
        """How many pods a rollout of `n` pods begins with while none of them may go; 0 where old ones go first.

        Raises:
            InputError: the strategy is not valid.
        """
        if workload.kind != "Deployment":
            return 0
        strategy = self._known.get(f"{workload.namespace}/{workload.name}", UpdateStrategy())
        if strategy.type == "Recreate":
            return 0
        more, fewer = rollout_bounds(workload, strategy.rolling_update or RollingUpdate(), n)
        return 0 if fewer else more

    def is_known(self, workload: Workload) -> bool:
        """Whether the cluster has the Deployment, so that its strategy is its own."""
        return f"{workload.namespace}/{workload.name}" in self._known


def held_rollouts(
    recreation: Recreation, strategies: Strategies, workload: Workload, tried: Sequence[CreatedAgain], n_replicas: int
) -> Iterator[Finding]:
    """What is to be said of the rollout of a workload, unless a pod of it cannot come back, which holds it up as well.

    Args:
        tried: its running pods.
        n_replicas: how many pods it has, with those that wait for a node, without those of a rollout that has begun.
    """
    about, n = (str(workload),), len(tried)
    try:
        n_surge = strategies.surge(workload, n_replicas)
    except InputError as error:
        yield Finding("invalid-strategy", "", str(error), "correct spec.strategy", about=about, n_pods=n)
        return
    comebacks = {again.comeback for again in tried}
    if not tried or not comebacks.isdisjoint(_NO_PLACE) or not n_surge:
        return
    pod = tried[0].pod
    assumed = "" if strategies.is_known(workload) else " (with the default strategy)"
    surge = recreation.beside(pod)
    if surge.comeback in _NO_PLACE:
        finds = "is refused by the API server" if surge.comeback is Comeback.REFUSED else "finds no place"
        message = f"no old pod may go first{assumed}, and a new one {finds}: {surge.why}"
        all_return = comebacks <= {Comeback.ELSEWHERE, Comeback.ITS_NODE}
        advice = WAY_OUT if all_return and n_replicas == n else surge.fix
        yield Finding("rollout-hangs", "", message, advice, about=about, n_pods=n, is_tried=bool(advice))
    elif surge.comeback is Comeback.ELSEWHERE and (disk := recreation.disk_in_use(pod)):
        message = f"no old pod may go first{assumed}, and a new one would get another node: {disk}"
        yield Finding("rollout-shares-disk", "", message, "set strategy type: Recreate", about=about, n_pods=n)
