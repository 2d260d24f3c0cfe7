"""What a drain has to say beside who moves: outages, steps as commands, devices, nodes that do not report."""

import json
import os
import subprocess
from typing import Any

import msgspec
import pytest

from kubesched import Drainer, drain
from kubesched.api import KubeObject
from kubesched.explanation import PendingReasons
from kubesched.pages.formats import Page, as_csv, as_html, as_markdown, as_text
from kubesched.pages.plans import drain_page, each_page, most_page
from kubesched.planning import Fate
from kubesched.setup import set_up
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.planning.drain_clusters import budget, owned_by

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20", "nvidia.com/gpu": "2"}
SILENT = {"taints": ["node.kubernetes.io/unreachable:NoExecute"]}


def nodes(n: int = 3, **last: Any) -> list[KubeObject]:
    return [*(make_node(f"n{i}", allocatable=ROOM) for i in range(1, n)), make_node(f"n{n}", allocatable=ROOM, **last)]


def pod_of(kind: str, name: str, number: int, node: str, **fields: Any) -> KubeObject:
    return make_pod(f"{name}-{number}", node=node, metadata=owned_by(kind, name), labels={"app": name}, **fields)


def test_workloads_that_do_not_run_meanwhile_are_named():
    pods = [
        pod_of("ReplicaSet", "single", 0, "n1"),
        pod_of("ReplicaSet", "spread", 0, "n1"),
        pod_of("ReplicaSet", "spread", 1, "n2"),
        pod_of("ReplicaSet", "both", 0, "n1"),
        pod_of("ReplicaSet", "both", 1, "n1"),
        pod_of("ReplicaSet", "guarded", 0, "n1"),
        pod_of("ReplicaSet", "guarded", 1, "n1"),
        budget("guarded", "guarded", 1),
        make_pod("bare", node="n1"),
    ]
    result = drain([*nodes(), *pods], ["n1"])
    assert result.out_meanwhile == ("ReplicaSet default/single", "ReplicaSet default/both")
    assert "ReplicaSet default/both" in as_text(drain_page(result)).partition("Would be interrupted")[2]
    assert drain_page(result).document["outMeanwhile"] == list(result.out_meanwhile)


def steps(markdown: str) -> list[str]:
    """The commands of all blocks of code but the last, which is what to run next, without what waits."""
    blocks = markdown.split("```shell\n")[1:]
    lines = [line for block in blocks[:2] for line in block.partition("\n```")[0].splitlines()]
    return [line for line in lines if not line.startswith(("#", "wait_for_pods"))]


def test_markdown_has_the_steps_and_the_way_back():
    known = [*nodes(), pod_of("ReplicaSet", "web", 0, "n1"), make_pod("bare", namespace="dev", node="n2")]
    text = as_markdown(drain_page(drain(known, ["n1", "n2"]), cluster="gke.json"))
    assert steps(text) == [
        "set -o noclobber",
        "saved=",
        "kubectl get pod -n dev bare -o yaml > lost-dev.yaml && saved=yes",
        "kubectl cordon n1 n2",
        "kubectl drain n1",
        'test "$saved" && kubectl drain n2 --force',
        "kubectl uncordon n1 n2",
        "kubectl apply -f lost-dev.yaml",
    ]
    assert "Cluster: gke.json. Nodes: n1, n2." in text


def test_what_was_not_saved_is_not_restored():
    many = [make_pod(f"bare-{i}", node="n1") for i in range(11)]
    text = as_markdown(drain_page(drain([*nodes(), *many], ["n1"])))
    assert "\n# save the manifests of 11 pods that no controller has\n" in text
    assert steps(text) == ["kubectl cordon n1", "kubectl drain n1 --force", "kubectl uncordon n1"]


@pytest.mark.parametrize("name", ["$(id)", "a\nid"])
def test_no_name_of_the_cluster_is_run_by_a_shell(name: str):
    bare = make_pod("bare", node="n1", namespace=name)
    blocking = make_object("PodDisruptionBudget", name, namespace=name, spec={"selector": {}, "minAvailable": 1})
    text = as_markdown(drain_page(drain([*nodes(), bare, blocking], ["n1"])))
    assert not [line for line in steps(text) if name in line or line == "id"]


def test_a_pod_without_controller_that_a_budget_holds_needs_force_too():
    held = [make_pod("bare", node="n1", labels={"app": "web"}), budget("web", "web", 0)]
    assert "kubectl drain n1 --force" in steps(as_markdown(drain_page(drain([*nodes(), *held], ["n1"]))))


def test_steps_leave_a_node_cordoned_that_was_and_name_a_budget_that_never_allows():
    known = [
        *nodes(3, spec={"unschedulable": True}),
        pod_of("ReplicaSet", "web", 0, "n1"),
        budget("web", "web", 0),
    ]
    text = as_markdown(drain_page(drain(known, ["n1", "n3"])))
    assert "# does not end: budget default/web: it allows no eviction\nkubectl drain n1\n" in text
    assert steps(text)[-1] == "kubectl uncordon n1"


def test_a_name_that_a_shell_could_run_has_no_steps():
    known = [*nodes(1), make_node("x;ls", allocatable=ROOM)]
    assert "### Steps" not in as_markdown(drain_page(drain(known, ["x;ls"])))


def test_the_terminal_has_the_steps_only_if_it_is_asked_for_everything(tmp_path):
    cluster = write(tmp_path, *nodes(), pod_of("ReplicaSet", "web", 0, "n1"))
    assert "kubectl cordon" not in run("drain", cluster, "n1").stdout
    wide = run("drain", cluster, "n1", "-o", "wide").stdout
    assert f"Cluster: {cluster.name}. Nodes: n1." in wide
    assert "kubectl cordon n1" in wide
    assert "kubectl cordon n1" in as_html(drain_page(drain(nodes(), ["n1"])))


def test_devices_are_in_the_table_of_nodes():
    pod = pod_of("ReplicaSet", "train", 0, "n1", requests={"nvidia.com/gpu": "2"})
    text = as_text(drain_page(drain([*nodes(), pod], ["n1"])), width=120)
    table = text.partition("Nodes: requested")[2]
    assert "nvidia.com/gpu" in table.splitlines()[2]
    assert "100% -> 0%" in table
    without = as_text(drain_page(drain([*nodes(), pod_of("ReplicaSet", "web", 0, "n1")], ["n1"])), width=120)
    assert "nvidia.com/gpu" not in without


def test_each_names_a_node_that_does_not_report():
    with Drainer([*nodes(3, **SILENT), pod_of("ReplicaSet", "web", 0, "n1")], set_up()) as drainer:
        page = each_page(list(drainer.each()))
    assert page.verdict.text == "2 of 3 nodes could be drained, each alone. n3 is unreachable."
    last = as_csv(page).splitlines()[-1]
    assert last == "n3,unreachable,0,0,unreachable: repair the machine"
    assert [line["unreachable"] for line in page.document["nodes"]] == [False, False, True]
    assert page.document["canGo"] == 2
    assert not any(check.failure for check in page.checks)


def test_a_drain_of_an_empty_node_that_does_not_report_names_it():
    result = drain(nodes(3, **SILENT), ["n3"])
    said = "n3 is unreachable: kubectl drain waits for no pod there; repair it, or make sure that it is off before"
    assert said in as_text(drain_page(result), width=120)
    assert drain_page(result).next_command == "kubectl drain n3"


def test_each_groups_the_nodes_by_what_holds_them_back():
    held = [pod_of("StatefulSet", "db", i, f"n{i}", requests={"cpu": "3"}) for i in (1, 2, 3)]
    guarded = [pod_of("ReplicaSet", "web", 0, "n1"), pod_of("ReplicaSet", "web", 1, "n4")]
    spec = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 2}
    guarded.append(make_object("PodDisruptionBudget", "web", spec=spec, status={}))
    bare = [make_pod("a", node="n4"), make_pod("b", node="n5")]
    with Drainer([*nodes(5), *held, *fillers(4, 5), *guarded, *bare], set_up()) as drainer:
        page = each_page(list(drainer.each()))
    pending, lost, blocked = page.document["causes"]
    assert pending["why"].startswith("stay pending: 4 nodes: cpu is short by")
    assert pending["fix"]
    assert (pending["workloads"], pending["nodes"]) == (["StatefulSet default/db"], ["n1", "n2", "n3"])
    assert pending["alone"] == ["n2", "n3"]
    assert blocked["why"] == "are never evicted: budget default/web (minAvailable 2 of 2 pods)"
    assert blocked["fix"] == "set maxUnavailable: 1 instead, or run 3 replicas"
    assert lost["why"] == "are lost: no controller would create it again"
    assert (lost["workloads"], lost["nodes"], lost["alone"]) == (["default/a", "default/b"], ["n4", "n5"], ["n5"])
    assert pending["fix"] in as_csv_of(page, "causes")


def fillers(*nodes_of: int) -> list[KubeObject]:
    """Pods of a DaemonSet that leave no room for a pod of db."""
    return [pod_of("DaemonSet", "agent", i, f"n{i}", requests={"cpu": "2"}) for i in nodes_of]


def as_csv_of(page: Page, name: str) -> str:
    return as_csv(msgspec.structs.replace(page, main=name, data=None))


def test_each_explains_the_pods_of_a_workload_once(monkeypatch):
    found: list[str] = []
    of = PendingReasons.of
    monkeypatch.setattr(PendingReasons, "of", lambda self, one: [found.append(one.pod), of(self, one)][1])
    held = [pod_of("StatefulSet", "db", i, f"n{i}", requests={"cpu": "3"}) for i in (1, 2, 3)]
    with Drainer([*nodes(), *held], set_up()) as drainer:
        results = list(drainer.each())
    assert found == ["default/db-1"]
    assert [bool(pod.cause) for one in results for pod in one.pods] == [True, False, False]


def test_most_explains_what_stays_pending():
    """A pod that is placed before the drain, and is pending again, prevents nothing."""
    waiting = make_pod("waiting", requests={"cpu": "4"}, metadata=owned_by("ReplicaSet", "waiting"))
    full = pod_of("DaemonSet", "agent", 0, "n1", requests={"cpu": "1"})
    with Drainer([*nodes(2), full, waiting], set_up()) as drainer:
        result = drainer.most()
    (pod,) = result.of(Fate.STILL_PENDING)
    assert pod.cause == "1 node: the node is cordoned"
    assert pod.cause in as_text(most_page(result, 2), width=200)


def test_most_has_the_steps_too(tmp_path):
    with Drainer([*nodes(), pod_of("ReplicaSet", "web", 0, "n1")], set_up()) as drainer:
        result = drainer.most()
    commands = steps(as_markdown(most_page(result, 3)))
    assert commands[0] == f"kubectl cordon {' '.join(result.nodes)}"


def test_lost_pods_fail_a_check_of_the_drain(tmp_path):
    cluster = write(tmp_path, *nodes(), make_pod("bare", node="n1"))
    assert run("drain", cluster, "n1", "--fail-on-pending").exit_code == 1
    lost = json.loads(run("drain", cluster, "n1", "-o", "json").stdout)["summary"]["lost"]
    assert lost == 1


# --- -o runbook ---


def runbook(tmp_path, *objects: KubeObject, names: tuple[str, ...] = ("n1",)) -> list[str]:
    return run("drain", write(tmp_path, *objects), *names, "-o", "runbook").stdout.splitlines()


def test_a_runbook_is_the_plan_alone_and_a_shell_takes_all_of_it(tmp_path):
    odd = {"volumes": [{"name": "tmp", "emptyDir": {}}]}
    known = [*nodes(), make_pod("bare", node="n1", spec=odd), pod_of("ReplicaSet", "web", 0, "n1", spec=odd)]
    lines = runbook(tmp_path, *known)
    assert lines[1] == "# Draining n1 breaks 1 of 2 pods: 1 would be lost."
    assert lines[-1] == "# Pods that run elsewhere then do not come back by themselves."
    assert "# --force deletes for good, as no controller re-creates them: default/bare" in lines
    data = "# --delete-emptydir-data deletes the data in emptyDir volumes of default/bare, default/web-0"
    assert lines[lines.index(data) + 1] == 'test "$saved" && kubectl drain n1 --delete-emptydir-data --force'
    script = tmp_path / "plan.sh"
    script.write_text("\n".join(lines))
    subprocess.run(["bash", "-n", script], check=True)


def test_a_runbook_runs_one_drain_after_another_and_waits_for_pods_without_a_node(tmp_path):
    """kubectl is a script that writes what it is asked, and lists one pod without a node once."""
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n'
        f'if [ "$1" = get ] && ! [ -e {tmp_path}/once ]; then touch {tmp_path}/once; echo pod/a; fi\n'
    )
    (tmp_path / "sleep").write_text("#!/bin/sh\n")
    for name in ("kubectl", "sleep"):
        (tmp_path / name).chmod(0o755)
    known = [*nodes(), pod_of("ReplicaSet", "a", 0, "n1"), pod_of("ReplicaSet", "b", 0, "n2")]
    lines = runbook(tmp_path, *known, names=("n1", "n2"))
    plan = "\n".join(lines[: lines.index("# How to undo")])
    subprocess.run(["bash", "-c", plan], check=True, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    get = "get pods -A --field-selector spec.nodeName=,status.phase=Pending -o name"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["cordon n1 n2", "drain n1", get, get, "drain n2", get]


def test_a_pod_that_was_not_saved_is_not_deleted(tmp_path):
    """A file of an earlier drain is kept, so that the pod is not saved."""
    (tmp_path / "lost-default.yaml").write_text("earlier")
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    kubectl.chmod(0o755)
    lines = runbook(tmp_path, *nodes(), make_pod("bare", node="n1"), make_pod("other", node="n2"), names=("n1",))
    plan = "\n".join(lines[: lines.index("# How to undo")])
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", plan], check=False, env=environment, cwd=tmp_path)
    assert "drain" not in (tmp_path / "asked").read_text()
    assert (tmp_path / "lost-default.yaml").read_text() == "earlier"


def test_a_runbook_waits_for_the_workloads_that_do_not_run_meanwhile(tmp_path):
    lines = runbook(tmp_path, *nodes(), pod_of("StatefulSet", "db", 0, "n1"), pod_of("ReplicaSet", "web", 0, "n1"))
    assert "# Is out until a new pod is ready: StatefulSet default/db, ReplicaSet default/web." in lines
    at = lines.index("kubectl drain n1")
    assert lines[at + 1 : at + 3] == [
        "wait_for_pods",
        "kubectl rollout status -n default statefulset/db --timeout=10m",
    ]


def test_a_runbook_says_that_several_budgets_block_and_that_a_pod_never_ends(tmp_path):
    known = [*nodes(), pod_of("ReplicaSet", "web", 0, "n1"), budget("one", "web", 1), budget("two", "web", 1)]
    lines = runbook(tmp_path, *known)
    why = "# does not end: budgets default/one and default/two: a pod that several budgets select cannot be evicted"
    assert lines[lines.index(why) + 1] == "# before: delete one of default/one and default/two"
    assert not [line for line in lines if "allows no eviction" in line]
    lines = runbook(tmp_path, *nodes(3, **SILENT), pod_of("StatefulSet", "db", 0, "n3"), names=("n3",))
    (at,) = [i for i, line in enumerate(lines) if line.startswith("# default/db-0 would stay Terminating: ")]
    taint = "kubectl taint node n3 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
    assert lines[at + 1] == f"# before: make sure that n3 is off, then {taint}"


def test_who_starts_over_and_who_asks_not_to_be_evicted_is_named(tmp_path):
    keep = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    owned = {**owned_by("ReplicaSet", "cache"), "annotations": keep}
    job = make_object("Job", "etl", spec={"completions": 9, "backoffLimit": 6})
    pods = [make_pod("cache-0", node="n1", metadata=owned), job]
    pods += [pod_of("Job", "etl", 0, "n1"), pod_of("Job", "etl", 1, "n2")]
    lines = runbook(tmp_path, *nodes(), *pods)
    assert "# Starts over: Job default/etl." in lines
    asks = 'asks not to be evicted (cluster-autoscaler.kubernetes.io/safe-to-evict: "false")'
    assert f"# A{asks[1:]}: ReplicaSet default/cache." in lines
    page = drain_page(drain([*nodes(), *pods], ["n1"]))
    (table,) = [table for table in page.tables if table.name == "interrupted"]
    assert [row[2] for row in table.rows] == [f"is out until a new pod is ready; {asks}", "starts over"]
    assert page.document["pods"][0]["keepsOff"] == asks[24:-1]


def test_a_runbook_says_what_to_do_before_a_drain_that_would_not_end(tmp_path):
    known = [*nodes(), pod_of("ReplicaSet", "web", 0, "n1")]
    spec = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1}
    lines = runbook(tmp_path, *known, make_object("PodDisruptionBudget", "web", spec=spec, status={}))
    at = lines.index("# does not end: budget default/web: minAvailable 1 of 1 pod")
    assert lines[at + 1] == "# before: run a second replica, or set maxUnavailable: 1 instead"


def test_most_prints_a_runbook_and_each_does_not(tmp_path):
    cluster = write(tmp_path, *nodes(), pod_of("ReplicaSet", "web", 0, "n1"))
    most = run("drain", cluster, "--most", "-o", "runbook").stdout
    assert most.count("kubectl drain n") == 2
    each = run("drain", cluster, "--each", "-o", "runbook")
    assert each.exit_code == 2
    assert "use --most, or name the nodes" in each.output
    assert run("drain", cluster, "--each-zone", "-o", "runbook").exit_code == 2


def test_a_drain_opens_another_cordoned_node_and_never_one_that_it_cordons():
    full = [make_pod(f"full-{name}", node=name, requests={"cpu": "4"}) for name in ("n2", "n4")]
    closed = make_node("n3", allocatable=ROOM, unschedulable=True)
    web = pod_of("ReplicaSet", "web", 0, "n1", requests={"cpu": "3"})
    known = [*nodes(2), closed, make_node("n4", allocatable=ROOM), *full, web]
    (pod, *_) = drain(known, ["n1"]).pods
    assert pod.fix == "uncordon n3 -> 1 node"
    with Drainer(known) as drainer:
        (each,) = drainer.each(["n1"])
    assert each.pods[0].fix == "uncordon n3 -> 1 node"
    (pod, *_) = drain(known, ["n1", "n3"]).pods
    assert "uncordon" not in pod.fix


def test_a_runbook_names_every_pod_that_is_harmed(tmp_path):
    """Also those of a controller, and those elsewhere."""
    ended = make_object("Job", "etl", spec={"backoffLimit": 0})
    low = pod_of("ReplicaSet", "low", 0, "n2", requests={"cpu": "4"})
    high = pod_of("ReplicaSet", "high", 0, "n1", requests={"cpu": "4"}, priority=9)
    jobs = [ended, pod_of("Job", "etl", 0, "n1"), pod_of("Job", "etl", 1, "n2"), pod_of("Kind", "own", 0, "n1")]
    lines = runbook(tmp_path, *nodes(2), low, high, *jobs)
    start = "# pods of Job default/etl are lost: Job etl "
    (lost,) = [i for i, line in enumerate(lines) if line.startswith(start)]
    assert lines[lost + 1] == "# before: wait until Job default/etl is done"
    assert [line for line in lines if line.startswith("# pods of Kind default/own may be lost: ")]
    assert "# Evicts pods of other nodes: ReplicaSet default/low." in lines
    assert [line for line in lines if line.startswith("# Elsewhere, pods of Job default/etl are lost: ")]
