"""Finds what people name: pods, workloads, nodes and labels, and suggests the name that was meant."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.naming.chosen_pods import ChosenPods, choose_pods
    from kubesched.naming.label_hints import near_key, near_spelling
    from kubesched.naming.node_names import (
        chosen_nodes,
        full_names,
        is_selector,
        nodes_matching,
        nodes_named,
        shared_ends,
    )
    from kubesched.naming.pod_names import find_pod, near_words
    from kubesched.naming.workload_names import find_workload, is_workload_kind, typed_name

__all__ = [
    "ChosenPods",
    "choose_pods",
    "chosen_nodes",
    "find_pod",
    "find_workload",
    "full_names",
    "is_selector",
    "is_workload_kind",
    "near_key",
    "near_spelling",
    "near_words",
    "nodes_matching",
    "nodes_named",
    "shared_ends",
    "typed_name",
]
