"""Encodes and decodes the scheduler extender protocol, for both sides.

Keys are Go field names without regard to case, because extender/v1 has no JSON tags; what we write has the Go names.
Nodes and pods stay raw slices of the body until they are read, so that a node in an answer is, byte for byte,
the node of the request. Rule: k8s.io/kube-scheduler v0.36 extender/v1, sent and accepted since v1.2; lower-case keys
and `nodeToVictims` come from callers that used the tagged types of v1.16 and older.
"""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.wire.answers import (
        binding_answer as binding_answer,
        binding_error as binding_error,
        filter_answer_error as filter_answer_error,
        filter_answer_names as filter_answer_names,
        filter_answer_nodes as filter_answer_nodes,
        host_priority as host_priority,
        name_of as name_of,
        parse_filter_answer as parse_filter_answer,
        parse_preemption_answer as parse_preemption_answer,
        parse_priorities as parse_priorities,
        preemption_answer as preemption_answer,
        prioritize_answer as prioritize_answer,
        utf8_text as utf8_text,
    )
    from kubesched.wire.protocol_requests import (
        as_kube_scheduler_sends as as_kube_scheduler_sends,
        binding_request as binding_request,
        meta_preemption_request as meta_preemption_request,
        names_request as names_request,
        nodes_request as nodes_request,
        parse_binding_args as parse_binding_args,
        parse_extender_args as parse_extender_args,
        parse_names as parse_names,
        parse_preemption_args as parse_preemption_args,
        preemption_request as preemption_request,
    )
    from kubesched.wire.protocol_values import (
        BindingArgs as BindingArgs,
        Body as Body,
        ExtenderArgs as ExtenderArgs,
        FilterAnswer as FilterAnswer,
        HostPriority as HostPriority,
        MetaPod as MetaPod,
        MetaVictims as MetaVictims,
        PreemptionArgs as PreemptionArgs,
        Victims as Victims,
    )
