"""What happens just before a write of the scheduler is carried out: makes conflicts at a known place."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from campaigns.faults.fault_proxy import FaultProxy
from campaigns.faults.proxied_plane import ProxiedPlane
from campaigns.live.volumes import Step
from tests.integration.control_plane import ControlPlane

JSON: Final = {"contentType": "application/json", "acceptContentTypes": "application/json"}


@dataclass(frozen=True)
class Intrusion:
    """A step that comes between a scheduler and one of its writes, once.

    Attributes:
        method: of the write, such as PUT.
        end: of its path, such as `resourceclaims/c/status`.
    """

    method: str
    end: str
    step: Step


@contextmanager
def intruded(plane: ControlPlane, intrusions: Sequence[Intrusion]) -> Iterator[Any]:
    """The control plane as schedulers see it that are intruded upon."""
    left = list(intrusions)

    def on_request(phase: str, method: str, path: str) -> None:
        for one in left:
            if phase == "before" and method == one.method and path.endswith(one.end):
                left.remove(one)
                one.step[1](plane.client)
                return

    with FaultProxy(plane.url) as proxy:
        proxy.on_request = on_request
        yield ProxiedPlane(plane, proxy)


def with_json(config: Mapping[str, Any], kubeconfig: str) -> dict[str, Any]:
    """A configuration of kube-scheduler in which it sends what the proxy can read."""
    return {**config, "clientConnection": {"kubeconfig": kubeconfig, "qps": 5000, "burst": 5000, **JSON}}
