"""The causes that keep a pod from nodes, and the remedies that each has."""

from collections.abc import Callable, Iterator
from itertools import zip_longest

import msgspec
import numpy as np

from kubesched.api import KUEUE
from kubesched.documents import joined, plural
from kubesched.engine import BoolVector
from kubesched.explanation.remedies.case import Case, Remedy, field_edit
from kubesched.explanation.remedies.claim_repairs import claims, has_claim_problem
from kubesched.explanation.remedies.device_holders import device_holders
from kubesched.explanation.remedies.device_plugins import devices
from kubesched.explanation.remedies.device_requests import device_requests
from kubesched.explanation.remedies.given_requests import given_requests
from kubesched.explanation.remedies.host_ports import ports
from kubesched.explanation.remedies.lacking_claims import has_lacking_claims, lacking_claims
from kubesched.explanation.remedies.max_pods import max_pods
from kubesched.explanation.remedies.misread_selectors import misread_selectors
from kubesched.explanation.remedies.moved_pod import room
from kubesched.explanation.remedies.namespace_tolerations import namespace_tolerations
from kubesched.explanation.remedies.new_node import more_nodes
from kubesched.explanation.remedies.node_agents import csi_drivers, kubelets
from kubesched.explanation.remedies.node_choice import node_choice
from kubesched.explanation.remedies.other_devices import drivers
from kubesched.explanation.remedies.pods_in_the_way import (
    affinity,
    anti_affinity,
    nominated,
    terminating,
    volume_limits,
    volume_users,
)
from kubesched.explanation.remedies.priority_class import priority
from kubesched.explanation.remedies.requests import requests
from kubesched.explanation.remedies.rollout_strategy import old_first
from kubesched.explanation.remedies.spread import spread
from kubesched.explanation.remedies.taints import cordoned, cordons, tainted, taints
from kubesched.explanation.remedies.volume_places import volume_places
from kubesched.explanation.remedies.waiting_claims import waiting_claims

Remedies = Callable[[Case, BoolVector], Iterator[Remedy]]
_ADMITS = "let Kueue admit the pod (look at its queue), which removes"
_MISSING = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")


class Cause(msgspec.Struct, frozen=True):
    """One reason that keeps the pod from some nodes.

    Attributes:
        name: a plugin's name, or what several of them mean.
        nodes: (nodes,) bool: the nodes.
        remedies: what may help on some of the nodes; nothing for a plugin of which kubesched knows no remedy.
    """

    name: str
    nodes: BoolVector
    remedies: tuple[Remedies, ...] = ()


def causes(case: Case) -> list[Cause]:
    """Every cause that keeps the pod from some node; a node may have several."""
    rejected = case.rejected
    known = [
        Cause("cordon", cordoned(case), (cordons,)),
        Cause("taints", tainted(case), (namespace_tolerations, taints)),
        Cause("NodeAffinity", rejected("NodeAffinity"), (node_choice,)),
        Cause("NodePorts", rejected("NodePorts"), (terminating, nominated, old_first, ports, more_nodes)),
        Cause(
            "NodeResourcesFit",
            rejected("NodeResourcesFit"),
            (
                terminating,
                nominated,
                old_first,
                devices,
                drivers,
                max_pods,
                given_requests,
                requests,
                priority,
                more_nodes,
                room,
            ),
        ),
        Cause("NodeDeclaredFeatures", rejected("NodeDeclaredFeatures"), (kubelets,)),
        _device_cause(case),
        *_volume_causes(case),
        Cause("PodTopologySpread", rejected("PodTopologySpread"), (spread,)),
        Cause(
            "InterPodAffinity",
            rejected("InterPodAffinity"),
            (terminating, nominated, old_first, misread_selectors, anti_affinity, affinity, more_nodes),
        ),
    ]
    covered = {"NodeUnschedulable", "TaintToleration", *_MISSING} | {cause.name for cause in known}
    others = [Cause(name, rejected(name)) for name in case.evaluation.by_plugin if name not in covered]
    return [cause for cause in (*known, *others) if np.count_nonzero(cause.nodes)]


def _volume_causes(case: Case) -> list[Cause]:
    if has_claim_problem(case):
        return [Cause("claims", case.rejected(*_MISSING), (claims,))]
    return [
        Cause("VolumeRestrictions", case.rejected("VolumeRestrictions"), (terminating, volume_users)),
        Cause(
            "NodeVolumeLimits", case.rejected("NodeVolumeLimits"), (csi_drivers, terminating, volume_limits, more_nodes)
        ),
        Cause("volume places", case.rejected("VolumeBinding", "VolumeZone"), (waiting_claims, volume_places)),
    ]


def _device_cause(case: Case) -> Cause:
    remedies = (lacking_claims,) if has_lacking_claims(case) else (terminating, _for_devices, more_nodes)
    return Cause("DynamicResources", case.rejected("DynamicResources"), remedies)


def _for_devices(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Devices that others have, and other requests; equal pods do not share them."""
    every = zip_longest(device_holders(case, where), device_requests(case, where))  # of a pair, a few are tried
    return (msgspec.structs.replace(one, counts_pods=True) for two in every for one in two if one is not None)


def without_gates(case: Case) -> Remedy | None:
    """The remedy for scheduling gates; None where the pod has none."""
    gates = case.pod.spec.scheduling_gates
    if not gates:
        return None
    names = [gate.name for gate in gates]
    which = f"the scheduling {plural(len(names), 'gate')} {joined(names)}"
    whose = plural(len(names), "the controller", "the controllers")
    text = f"let {whose} of {which} remove {plural(len(names), 'it', 'them')} (see whether that runs)"
    if all(name.startswith(KUEUE) for name in names):
        text = f"{_ADMITS} {which}"
    change = field_edit("scheduling_gates")
    return Remedy(text, "schedulingGate", True, change)
