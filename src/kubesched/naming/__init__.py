"""Finds what people name: pods, workloads, nodes and labels, and suggests the name that was meant."""

from kubesched.naming.chosen_pods import ChosenPods, choose_pods
from kubesched.naming.labels import near_key, near_spelling, unselected
from kubesched.naming.pods import find_pod, near_words, no_such_pod
from kubesched.naming.workloads import find_workload, is_workload_kind, near_kind

__all__ = [
    "ChosenPods",
    "choose_pods",
    "find_pod",
    "find_workload",
    "is_workload_kind",
    "near_key",
    "near_kind",
    "near_spelling",
    "near_words",
    "no_such_pod",
    "unselected",
]
