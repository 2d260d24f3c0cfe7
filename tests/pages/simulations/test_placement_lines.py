from kubesched.pages.simulations import placed_line, placement_line, report_document
from kubesched.session import Placed, PreemptionOutcome, Simulator
from kubesched.testing import make_node, make_pod

NODES = [make_node("n1", allocatable={"cpu": "2"}), make_node("n2", allocatable={"cpu": "1"})]


def test_a_placed_pod_has_its_score_and_the_next_best_nodes():
    report = Simulator([*NODES, make_pod("p", requests={"cpu": "500m"})]).run()
    line = placement_line(report.placements[0])
    assert (line["state"], line["node"], line["attempts"]) == ("scheduled", "n1", 1)
    assert line["total"] == sum(line["scores"].values())
    assert [set(one) for one in line["runnersUp"]] == [{"node", "total"}]
    assert not {"message", "victims", "nominatedNode"} & line.keys()


def test_what_each_try_alone_gives_has_the_fields_of_a_recorded_case():
    outcome = PreemptionOutcome("n1", ("default/a", "default/b"))
    line = placed_line(
        Placed(
            "default/p",
            "default-scheduler",
            message="0/1 ...",
            preemption=(outcome,),
            post_filter_message="said",
        )
    )
    assert line == {
        "pod": "default/p",
        "profile": "default-scheduler",
        "message": "0/1 ...",
        "preemption": [{"node": "n1", "victims": ["default/a", "default/b"]}],
        "postFilterMessage": "said",
    }


def test_a_report_counts_what_became_of_the_pods():
    victim = make_pod("victim", node="n1", requests={"cpu": "2"})
    pods = [make_pod("p", priority=5, requests={"cpu": "2"}), make_pod("huge", requests={"cpu": "9"})]
    document = report_document(Simulator([*NODES, victim, *pods]).run())
    assert document["summary"] == {
        "pods": 2,
        "scheduled": 1,
        "unschedulable": 1,
        "error": 0,
        "notDecided": 0,
        "notTried": 0,
        "victims": 1,
    }
    assert document["victims"] == [
        {"pod": "default/victim", "owner": "", "node": "n1", "preemptor": "default/p", "broken": []}
    ]
    assert document["pods"][0]["victims"] == ["default/victim"]
    fill = document["nodes"][0]
    assert (fill["node"], fill["before"]["cpu"], fill["after"]["cpu"]) == ("n1", 2000, 2000)
