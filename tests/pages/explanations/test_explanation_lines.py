from kubesched.pages.explanations import as_line
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import ask, three_nodes


def test_a_pod_that_fits_has_nodes_and_scores_and_no_message():
    line = as_line(ask(make_pod("p"), *three_nodes()))
    assert line["feasible"] == ["n1", "n2", "n3"]
    assert line["total"]["n1"] == sum(scores["n1"] for scores in line["scores"].values())
    assert line["best"] == ["n1", "n2", "n3"]
    assert line["plugins"]["NodePorts"] == {"skipped": True}
    assert "message" not in line
    assert "filter" not in line


def test_a_pod_that_fits_nowhere_has_a_message_and_rejections():
    line = as_line(ask(make_pod("p"), make_node("n1", taints=["gpu:NoSchedule"])))
    said = {
        "code": "UnschedulableAndUnresolvable",
        "plugin": "TaintToleration",
        "reasons": ["node(s) had untolerated taint(s)"],
    }
    assert line["filter"] == {"n1": said}
    assert line["plugins"]["TaintToleration"] == {"filter": {"n1": said}}
    assert line["message"] == "0/1 nodes are available: 1 node(s) had untolerated taint(s)."
    assert not {"feasible", "scores", "total", "best"} & line.keys()


def test_reasons_are_sorted():
    line = as_line(ask(make_pod("p", requests={"memory": "1Ti", "cpu": "999"}), make_node("n1")))
    assert line["filter"]["n1"]["reasons"] == ["Insufficient cpu", "Insufficient memory"]


def test_the_rejection_of_the_pod_itself_and_narrowed_nodes_are_told_apart():
    pod = make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})
    assert as_line(ask(pod, *three_nodes()))["plugins"]["VolumeBinding"]["preFilter"]["plugin"] == "VolumeBinding"
