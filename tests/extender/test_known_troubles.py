"""What people have run into with extenders of any make, and the tests that show what ours does instead.

The sources are reports in public; where one is about kube-scheduler itself, the tests show what we do about it.
"""

import re
from typing import NamedTuple

import pytest

from tests.docs.pages import ROOT


class Trouble(NamedTuple):
    """One row.

    Attributes:
        symptom: what people saw.
        sources: some of the reports.
        shown_by: file under tests -> its tests.
    """

    symptom: str
    sources: str
    shown_by: dict[str, tuple[str, ...]]


WIRE = "extender/test_on_the_wire.py"
ANSWERS = "extender/test_answers_on_the_wire.py"
BINDS = "extender/test_binds_on_the_wire.py"
VERBS = "extender/test_verbs.py"
LATE = "campaigns/deadlines/test_late.py"
NODES = "extender/test_requested_nodes.py"
SCORES = "extender/test_merged_scores.py"
ADVICE = "extender/test_common_mistakes.py"
MANIFESTS = "extender/test_extender_manifests.py"
REAL = "integration/test_extender.py"
REAL_ANSWERS = "integration/test_extender_answers.py"

TROUBLES = [
    Trouble(
        "Fewer than 10 pods a second at 1,000 nodes: JSON on both sides",
        "kubernetes/kubernetes#72634, #121527",
        {
            ANSWERS: ("test_five_thousand_nodes_on_four_connections_are_answered_in_time",),
            NODES: ("test_only_nodes_that_are_new_or_changed_are_decoded",),
        },
    ),
    Trouble(
        "Client.Timeout exceeded while awaiting headers, because a call does I/O or takes long",
        "libopenstorage/stork#99, AliyunContainerService/gpushare-scheduler-extender#128",
        {
            ANSWERS: ("test_a_call_without_time_left_says_so",),
            LATE: ("test_a_late_call_is_answered_as_one",),
        },
    ),
    Trouble(
        "A nil Nodes ends the extender: it was written for one mode, and the configuration has the other",
        "kubernetes/kubernetes#126425, Project-HAMi/HAMi#2688",
        {
            ANSWERS: (
                "test_both_forms_are_answered_in_their_own_whatever_the_author_had_in_mind",
                "test_names_without_a_watch_and_no_nodes_at_all_say_what_to_do",
            )
        },
    ),
    Trouble(
        "Names as the answer to whole nodes, or {}, reject every node without a word",
        "kube-scheduler's reading of answers",
        {
            ANSWERS: (
                "test_a_body_that_asks_nothing_is_an_error_and_never_a_silent_rejection",
                "test_both_forms_are_answered_in_their_own_whatever_the_author_had_in_mind",
            ),
            REAL_ANSWERS: ("test_filter_answers",),
        },
    ),
    Trouble(
        "A node comes back that was not offered",
        "kubernetes/kubernetes#79640",
        {ANSWERS: ("test_no_node_comes_back_that_was_not_offered_or_twice",)},
    ),
    Trouble(
        "EOF or connection reset on a filter call after a quiet time, or while the extender ends",
        "Go's HTTP client",
        {
            WIRE: ("test_an_idle_connection_outlives_the_clients_patience_and_not_for_ever",),
            BINDS: ("test_a_drain_answers_binds_under_way_and_says_close_while_idle_connections_end",),
            "serving/test_server.py": ("test_a_drain_lets_a_body_that_is_on_its_way_arrive",),
        },
    ),
    Trouble(
        "Scores have no effect, or swamp all others",
        "kubernetes/kubernetes#81281, #83490",
        {
            SCORES: ("test_what_kube_scheduler_adds_is_the_weighted_total_to_a_tenth_of_its_range",),
            VERBS: ("test_a_fault_while_scoring_is_a_500_that_names_the_plugin",),
            ADVICE: ("test_scores_lose_resolution",),
            REAL_ANSWERS: ("test_prioritize_answers",),
        },
    ),
    Trouble(
        "Score plugins see idle nodes from v1.33 on",
        "kubernetes/kubernetes#141781, #141919",
        {ADVICE: ("test_whole_nodes_make_newer_versions_score_idle_nodes",)},
    ),
    Trouble(
        "Preemption ends with: expected at least one victim pod; or victims die in vain",
        "kubernetes/kubernetes#135486, #139270, #140252",
        {
            VERBS: ("test_entries_without_victims_are_never_in_the_answer",),
            ADVICE: ("test_rejections_that_become_unresolvable_are_told",),
            REAL_ANSWERS: ("test_filter_answers", "test_a_node_that_only_we_reject_looks_free_to_preemption"),
        },
    ),
    Trouble(
        "Whole victims sent back are read as: no candidates",
        "sample extenders",
        {
            WIRE: ("test_preempt_has_two_names_and_answers_by_uid_in_both_modes",),
            REAL_ANSWERS: ("test_preempt_answers",),
        },
    ),
    Trouble(
        "The extender is down, and no pod is scheduled, its own neither",
        "kubernetes/kubernetes#60616, #91489",
        {
            REAL: ("test_what_becomes_of_pods_when_the_extender_is_gone",),
            MANIFESTS: (
                "test_ignorable_is_said",
                "test_a_sidecar_is_reached_on_loopback_and_is_there_before_the_scheduler",
            ),
        },
    ),
    Trouble(
        "ignorable does not cover bind before v1.30",
        "kubernetes/kubernetes#122494",
        {
            ADVICE: ("test_ignorable_does_not_cover_bind_in_old_versions",),
            REAL_ANSWERS: ("test_an_ignorable_extender_that_fails_a_bind_leaves_it_to_kube_scheduler",),
        },
    ),
    Trouble(
        "A device is handed out twice, since the next filter comes before the first bind",
        "kubernetes/kubernetes#82359, #41235",
        {
            BINDS: (
                "test_two_pods_never_get_one_device_although_neither_is_bound_yet",
                "test_a_pod_that_was_bound_counts_at_once_and_stays_so_when_the_watch_shows_it",
                "test_a_write_that_fails_is_told_and_gives_everything_back",
            )
        },
    ),
    Trouble(
        "A patch of the pod before its binding confuses kube-scheduler",
        "kubernetes/kubernetes#52914",
        {
            BINDS: ("test_annotations_go_with_the_binding_in_one_write",),
            REAL: ("test_pods_are_bound_through_us_with_annotations",),
        },
    ),
    Trouble(
        "A bind timed out but had worked, and the pod is tried for ever",
        "kubernetes/kubernetes#96579",
        {
            BINDS: (
                "test_a_pod_that_is_bound_there_already_is_bound",
                "test_a_second_call_for_the_same_pod_joins_the_first",
                "test_a_late_outcome_is_said_to_be_and_the_next_call_finds_the_pod_bound",
            ),
            "cluster/test_binding.py": ("test_the_binding_names_pod_uid_node_and_annotations",),
        },
    ),
    Trouble(
        "A pod that was made again under the same name is bound",
        "the reason for PodUID",
        {
            BINDS: (
                "test_a_pod_that_was_made_again_is_left_alone",
                "test_a_pod_that_was_made_again_and_not_shown_yet_is_the_one_meant",
            )
        },
    ),
    Trouble(
        "Pods that an extender rejected hang for 5 minutes, before v1.29",
        "kubernetes/kubernetes#122019",
        {"queue/test_requeueing.py": ("test_a_hint_that_says_queue_lets_the_pod_go_after_its_backoff",)},
    ),
    Trouble(
        "The first 100 feasible nodes are rejected, and others would do",
        "kubernetes/kubernetes#122057, #123384, #18414",
        {ADVICE: ("test_a_filter_is_told_of_nodes_that_it_is_not_shown",)},
    ),
    Trouble(
        "A second scheduler never starts: failed to acquire lease",
        "Huang-Wei/sample-scheduler-extender#2, kubernetes-sigs/scheduler-plugins#815",
        {MANIFESTS: ("test_a_scheduler_may_write_its_own_lease_only",)},
    ),
    Trouble(
        "leases is forbidden, configmaps is forbidden; and samples ask for cluster-admin",
        "CentaurusInfra/arktos#1123, kosmos-io/kosmos#118",
        {
            MANIFESTS: (
                "test_accounts_and_roles_that_are_named_exist",
                "test_an_extender_may_read_what_its_plugins_read_and_record_their_events_and_no_more",
                "test_only_an_extender_that_binds_may_bind",
            )
        },
    ),
    Trouble(
        "unknown flag: --policy-config-file",
        "AliyunContainerService/gpushare-scheduler-extender#166",
        {MANIFESTS: ("test_kube_scheduler_accepts_the_configuration_and_calls_what_is_offered",)},
    ),
    Trouble(
        "kube-scheduler on the host's network cannot resolve the service",
        "AliyunContainerService/gpushare-scheduler-extender#128, intel/platform-aware-scheduling#11",
        {MANIFESTS: ("test_a_sidecar_is_reached_on_loopback_and_is_there_before_the_scheduler",)},
    ),
    Trouble(
        "prioritize is never called, in a cluster with one node",
        "Huang-Wei/sample-scheduler-extender",
        {
            ADVICE: ("test_one_node_is_never_scored",),
            REAL: ("test_prioritize_is_not_called_for_one_node",),
            REAL_ANSWERS: ("test_scores_are_asked_for_where_there_is_a_choice",),
        },
    ),
    Trouble(
        "A name comes that the extender's cache does not know yet",
        "Project-HAMi/HAMi#2436",
        {
            ANSWERS: (
                "test_names_that_the_watch_has_not_shown_are_rejected_with_the_reason_until_it_does",
                "test_until_it_is_ready_calls_fail_with_the_reason_and_only_readyz_is_not_ok",
            )
        },
    ),
    Trouble(
        "A verb of the configuration is a 404, seen only when preemption happens",
        "manifests of samples",
        {
            WIRE: (
                "test_every_verb_of_the_printed_stanza_is_answered",
                "test_a_path_that_is_none_is_one_sentence",
            )
        },
    ),
    Trouble(
        "The message of an error is lost, since its status is 500",
        "pingcap/tidb-operator#682",
        {
            ANSWERS: ("test_whatever_a_plugin_raises_is_told_and_the_next_call_is_served",),
            BINDS: ("test_whatever_a_plugin_raises_while_binding_is_told",),
            REAL: ("test_a_plugins_fault_is_the_pods_scheduler_error",),
        },
    ),
    Trouble(
        "The server listens on all addresses, and anybody may place pods",
        "samples",
        {
            WIRE: ("test_nobody_reaches_the_server_from_outside_unless_asked_for", "test_a_body_too_large_is_refused"),
            "serving/test_tls.py": ("test_only_named_clients_are_let_in_and_open_paths_take_all",),
        },
    ),
    Trouble(
        "A redirect to the form with or without a slash turns the POST into a GET",
        "kubernetes/kubernetes#76194",
        {
            WIRE: (
                "test_a_verb_is_answered_where_the_configuration_puts_it",
                "test_nothing_is_ever_redirected",
            )
        },
    ),
    Trouble(
        "40 binds at once wait for each other until kube-scheduler gives up",
        "Project-HAMi/HAMi#1367, #810, #1130",
        {
            BINDS: (
                "test_binds_wait_for_the_api_server_side_by_side",
                "test_a_call_that_runs_out_of_time_before_anything_is_written_takes_nothing",
            )
        },
    ),
]


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.symptom)
def test_somebody_shows_it(trouble: Trouble):
    for file, tests in trouble.shown_by.items():
        found = re.findall(r"^def (test_\w+)", (ROOT / "tests" / file).read_text(encoding="utf-8"), re.MULTILINE)
        assert [test for test in tests if test not in found] == [], file
