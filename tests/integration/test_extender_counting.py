"""A filter that counts pods behind a stock kube-scheduler, which asks for the next pod before the last one is bound."""

from collections import Counter

import pytest

from kubesched.testing import make_node, make_pod
from tests.integration.conftest import StartExtender, StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_stage import condition_of, node_of
from tests.integration.processes import wait_until
from tests.integration.test_extender import placed

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

N_RACKS, NODES_IN_RACK, PODS_IN_RACK, N_PODS = 60, 5, 4, 300
GIVEN_UP = "kubesched_extender_undecided_pods_given_up_total"


@pytest.mark.parametrize("options", [(), ("--bind",)], ids=["kube-scheduler binds", "the extender binds"])
def test_no_rack_gets_more_pods_than_the_filter_allows(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender, options: tuple[str, ...]
) -> None:
    client = cluster.client
    n_nodes = N_RACKS * NODES_IN_RACK
    client.create_all([make_node(f"node-{i}", labels={"rack": str(i // NODES_IN_RACK)}) for i in range(n_nodes)])
    extender = start_extender("names", ["FourInARack"], *options, record=False)
    is_warned = any("The filter of FourInARack reads pods" in line for line in extender.process.logs())
    assert is_warned is (not options)
    client.create_all([make_pod(f"web-{i}") for i in range(N_PODS)])
    start_scheduler({"extenders": [extender.stanza], "percentageOfNodesToScore": 100})

    def is_settled() -> bool:
        return all(node_of(pod) or condition_of(pod) for pod in client.read_all("Pod"))

    wait_until(is_settled, "every pod to be placed or refused", seconds=60)
    racks = Counter(int(node.removeprefix("node-")) // NODES_IN_RACK for node in placed(client).values())
    missed = int(extender.metric(GIVEN_UP))  # on a machine so busy that a binding takes longer than filter waits
    assert max(racks.values()) <= PODS_IN_RACK + missed
    assert N_RACKS * PODS_IN_RACK <= racks.total() <= N_RACKS * PODS_IN_RACK + missed
