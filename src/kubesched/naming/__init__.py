"""Finds what people name: pods, workloads, nodes and labels, and suggests the name that was meant."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.naming.chosen_pods import (
        ChosenPods as ChosenPods,
        choose_pods as choose_pods,
        selected_pods as selected_pods,
    )
    from kubesched.naming.label_hints import (
        near_key as near_key,
        near_letters as near_letters,
        near_spelling as near_spelling,
        respelt as respelt,
    )
    from kubesched.naming.node_names import (
        chosen_nodes as chosen_nodes,
        full_names as full_names,
        is_selector as is_selector,
        nodes_matching as nodes_matching,
        nodes_named as nodes_named,
        shared_ends as shared_ends,
    )
    from kubesched.naming.pod_names import find_pod as find_pod, near_words as near_words
    from kubesched.naming.workload_names import (
        find_workload as find_workload,
        is_workload_kind as is_workload_kind,
        typed_name as typed_name,
    )
