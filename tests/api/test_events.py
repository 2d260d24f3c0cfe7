"""Cluster events: their labels, and which registration hears of which."""

import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource

POD, ASSIGNED, WAITING, NODE = (
    EventResource.POD,
    EventResource.ASSIGNED_POD,
    EventResource.UNSCHEDULABLE_POD,
    EventResource.NODE,
)
EVERYTHING = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)


@pytest.mark.parametrize(
    ("event", "label"),
    [
        (ClusterEvent(NODE, ActionType.ADD), "NodeAdd"),
        (ClusterEvent(NODE, ActionType.UPDATE_NODE_TAINT), "NodeUpdateNodeTaint"),
        (ClusterEvent(ASSIGNED, ActionType.DELETE), "AssignedPodDelete"),
        (ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE), "storage.k8s.io/CSINodeUpdate"),
        (ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout"), "UnschedulableTimeout"),
    ],
)
def test_an_event_is_labelled_as_in_metrics(event: ClusterEvent, label: str) -> None:
    assert event.label == label


@pytest.mark.parametrize(
    ("registered", "incoming", "hears"),
    [
        (EVERYTHING, ClusterEvent(NODE, ActionType.ADD), True),
        (ClusterEvent(NODE, ActionType.ADD), EVERYTHING, False),
        (ClusterEvent(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL), ClusterEvent(NODE, ActionType.ADD), True),
        (ClusterEvent(NODE, ActionType.ADD), ClusterEvent(NODE, ActionType.UPDATE_NODE_LABEL), False),
        (ClusterEvent(POD, ActionType.DELETE), ClusterEvent(ASSIGNED, ActionType.DELETE), True),
        (ClusterEvent(POD, ActionType.DELETE), ClusterEvent(WAITING, ActionType.DELETE), True),
        (ClusterEvent(ASSIGNED, ActionType.DELETE), ClusterEvent(WAITING, ActionType.DELETE), False),
        (ClusterEvent(POD, ActionType.DELETE), ClusterEvent(NODE, ActionType.DELETE), False),
        (ClusterEvent(EventResource.WILDCARD, ActionType.ADD), ClusterEvent(NODE, ActionType.ADD), True),
    ],
)
def test_a_registration_hears_of_what_it_covers(registered: ClusterEvent, incoming: ClusterEvent, hears: bool) -> None:
    assert registered.covers(incoming) is hears
