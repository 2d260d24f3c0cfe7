"""What commands say about their input on standard error."""

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write


def stderr(path, *options) -> list[str]:
    return run("simulate", path, "-o", "summary", *options).stderr.splitlines()


def test_pods_on_nodes_that_the_snapshot_lacks_are_counted_once(tmp_path):
    pods = [make_pod(f"p{i}", node=f"gone-{i % 2}") for i in range(3)]
    path = write(tmp_path, make_node("n1"), *pods, make_pod("done", node="gone-9", status={"phase": "Succeeded"}))
    said = "kubesched: note: 3 pods on 2 nodes that the snapshot does not have (gone-0, gone-1): not counted"
    assert said in stderr(path)


def test_kinds_that_a_scheduler_does_not_read_are_counted(tmp_path):
    (tmp_path / "more.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    write(tmp_path, make_node("n1"))
    said = "kubesched: note: left out, because kubesched does not read these kinds: 1 ConfigMap"
    assert said in stderr(tmp_path)


def test_a_kind_that_is_missing_altogether_is_told_with_the_way_to_get_it(tmp_path):
    pod = make_pod("p", spec={"priorityClassName": "high", "priority": None})
    (line,) = stderr(write(tmp_path, make_node("n1"), pod))
    assert line.startswith("kubesched: note: the snapshot has no PriorityClass: the priority of 1 pod (default/p)")
    assert "kubectl get priorityclasses -o json" in line


def test_bad_objects_stop_the_command_or_are_named_and_left_out(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {unschedulable: maybe}\n")
    result = run("simulate", path)
    assert result.exit_code == 2
    assert "unschedulable" in result.stderr
    (line,) = stderr(path, "--skip-bad-objects")
    assert line.startswith("kubesched: note: left out: ")
    assert "unschedulable" in line


def test_extenders_are_named_as_not_asked(tmp_path):
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders:\n- urlPrefix: https://example.com/x\n  filterVerb: filter\n"
    )
    lines = stderr(write(tmp_path, make_node("n1")), "--config", config)
    assert lines == ["kubesched: note: extenders are not called without --extenders call: https://example.com/x"]


def test_a_snapshot_with_everything_gets_no_notes(tmp_path):
    assert stderr(write(tmp_path, make_node("n1"), make_pod("p", node="n1"))) == []
