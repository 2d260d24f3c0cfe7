import json

import pytest
import yaml

from kubesched.config import Input, LeaderElectionFlags, LocalFiles, find_sources
from kubesched.errors import InputError

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
POLICY = '{"kind": "Policy", "apiVersion": "v1"}'
CONFIG_MAP = {"kind": "ConfigMap", "metadata": {"name": "m", "namespace": "n"}, "data": {"c.yaml": HEADER}}
KUBEADM = """apiVersion: v1
kind: Pod
metadata: {name: kube-scheduler, namespace: kube-system}
spec:
  containers:
  - name: kube-scheduler
    image: registry.k8s.io/kube-scheduler:v1.36.3
    command:
    - kube-scheduler
    - --authentication-kubeconfig=/etc/kubernetes/scheduler.conf
    - --kubeconfig=/etc/kubernetes/scheduler.conf
    - --leader-elect=true
"""


def workload(*command: str, kind: str = "Deployment", volume: dict | None = None, **container) -> dict:
    one = {"name": "scheduler", "image": "example.com/a/my-scheduler:v1", "command": list(command), **container}
    if volume:
        one["volumeMounts"] = [{"name": "other", "mountPath": "/etc"}, {"name": "v", "mountPath": "/etc/sched/"}]
    spec = {"containers": [one], "volumes": [{"name": "v", **(volume or {})}]}
    metadata = {"name": "d", "namespace": "n"}
    return {"kind": kind, "metadata": metadata, "spec": spec if kind == "Pod" else {"template": {"spec": spec}}}


def find(*documents: dict | str, local: dict[str, str] | None = None):
    files = LocalFiles(lambda path, beside: (path, f"beside {beside}"), (local or {}).get)
    texts = [one if isinstance(one, str) else json.dumps(one) for one in documents]
    return find_sources([Input(f"{'abc'[i]}.yaml", text) for i, text in enumerate(texts)], files)


@pytest.mark.parametrize("words", [["--config=/etc/sched/c.yaml"], ["--config", "/etc/sched/c.yaml", "--v", "3"]])
@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet", "Pod"])
def test_the_config_map_that_a_scheduler_mounts_is_one_source_with_its_flags(kind, words):
    flags = ["--leader-elect-resource-name=x", "--leader-elect-lease-duration", "20s", "--leader-elect=false"]
    one = workload("/bin/my-scheduler", *words, kind=kind, volume={"configMap": {"name": "m"}}, args=flags)
    (source,) = find(one, CONFIG_MAP)
    assert str(source) == f"b.yaml: ConfigMap n/m, c.yaml ({kind} n/d)"
    assert (source.text, source.file) == (HEADER, "b.yaml")
    assert source.flags.given == {"resource_name": "x", "lease_duration": 20.0, "leader_elect": False}


@pytest.mark.parametrize(
    ("volume", "path"),
    [
        ({"configMap": {"name": "m", "items": [{"key": "c.yaml", "path": "sub/x"}]}}, "/etc/sched/sub/x"),
        ({"projected": {"sources": [{"secret": {}}, {"configMap": {"name": "m"}}]}}, "/etc/sched/c.yaml"),
    ],
)
def test_a_config_map_is_found_through_items_and_projections(volume, path):
    (source,) = find(workload("kube-scheduler", f"--config={path}", volume=volume), CONFIG_MAP)
    assert source.name == "b.yaml: ConfigMap n/m, c.yaml (Deployment n/d)"


def test_a_mounted_file_is_found_through_its_sub_path():
    one = workload("kube-scheduler", "--config=/etc/file.yaml", volume={"configMap": {"name": "m"}})
    container = one["spec"]["template"]["spec"]["containers"][0]
    container["volumeMounts"] = [{"name": "v", "mountPath": "/etc/file.yaml", "subPath": "c.yaml"}]
    assert [source.text for source in find(one, CONFIG_MAP)] == [HEADER]


def test_the_config_map_of_another_namespace_is_another_one():
    other = {**CONFIG_MAP, "metadata": {"name": "m", "namespace": "other"}}
    one = workload("kube-scheduler", "--config=/etc/sched/c.yaml", volume={"configMap": {"name": "m"}})
    with pytest.raises(InputError, match="ConfigMap m, which is missing"):
        find(one, other)
    assert len(find(one, {**CONFIG_MAP, "metadata": {"name": "m"}})) == 1


def test_a_shell_command_is_read_as_a_shell_reads_it():
    script = "exec /usr/bin/kube-scheduler \\\n  --config='/etc/c.yaml' --leader-elect=false"
    (source,) = find(workload("sh", "-c", script), local={"/etc/c.yaml": HEADER})
    assert (source.name, source.file) == ("/etc/c.yaml (Deployment n/d)", "/etc/c.yaml")
    assert source.flags == LeaderElectionFlags(given={"leader_elect": False})


def test_a_file_of_the_node_is_read_where_the_volume_has_it():
    one = workload("kube-scheduler", "--config=/etc/sched/c.yaml", kind="Pod", volume={"hostPath": {"path": "/real/"}})
    assert [source.file for source in find(one, local={"/real/c.yaml": HEADER})] == ["/real/c.yaml"]
    assert [source.file for source in find(one, local={"beside a.yaml": HEADER})] == ["beside a.yaml"]


def test_another_file_of_the_input_with_the_same_name_is_the_configuration():
    one = workload("kube-scheduler", "--config=/etc/kubernetes/b.yaml", "--leader-elect=false")
    (source,) = find(one, HEADER)
    assert (source.name, source.flags.given) == ("b.yaml (Deployment n/d)", {"leader_elect": False})


def test_a_missing_file_is_named_with_the_places_where_it_was_looked_for():
    with pytest.raises(InputError) as refusal:
        find(workload("kube-scheduler", "--config=/etc/c.yaml"))
    assert str(refusal.value) == (
        "a.yaml: Deployment n/d: /etc/c.yaml is missing; looked for /etc/c.yaml and beside a.yaml; give that file, too"
    )


def test_a_missing_config_map_is_named_with_the_command_that_prints_it():
    with pytest.raises(InputError) as refusal:
        find(workload("kube-scheduler", "--config=/etc/sched/c.yaml", volume={"configMap": {"name": "m"}}))
    assert str(refusal.value) == (
        "a.yaml: Deployment n/d: /etc/sched/c.yaml is key c.yaml of ConfigMap m, which is missing; looked for "
        "/etc/sched/c.yaml and beside a.yaml; give it, too: kubectl get configmap -n n m -o yaml"
    )


def test_a_kube_scheduler_without_a_file_has_the_defaults_and_its_flags():
    (source,) = find(KUBEADM)
    assert source.name == "a.yaml: flags of Pod kube-system/kube-scheduler"
    assert yaml.safe_load(source.text) == {
        **yaml.safe_load(HEADER),
        "clientConnection": {"kubeconfig": "/etc/kubernetes/scheduler.conf"},
    }
    assert source.flags.given == {"leader_elect": True}
    assert source.position(2, 3) == (9, 7)


def test_removed_flags_are_a_configuration_of_their_time():
    (source,) = find(
        workload(
            "kube-scheduler",
            "--algorithm-provider=ClusterAutoscalerProvider",
            "--scheduler-name=old",
            "--lock-object-name=lock",
            "--hard-pod-affinity-symmetric-weight=5",
            "--kube-api-qps=12.5",
            "--profiling=false",
        )
    )
    assert yaml.safe_load(source.text) == {
        "apiVersion": "kubescheduler.config.k8s.io/v1alpha1",
        "kind": "KubeSchedulerConfiguration",
        "algorithmSource": {"provider": "ClusterAutoscalerProvider"},
        "schedulerName": "old",
        "leaderElection": {"lockObjectName": "lock"},
        "hardPodAffinitySymmetricWeight": 5,
        "clientConnection": {"qps": 12.5},
        "enableProfiling": False,
    }


def test_the_policy_that_a_flag_names_is_part_of_the_configuration():
    policy = {"kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"policy.cfg": POLICY, "c.json": POLICY}}
    (source, other) = find(workload("kube-scheduler", "--policy-configmap=m"), policy)
    assert "namespace: kube-system" in source.text
    assert other.name == "b.yaml: ConfigMap m, c.json"
    mounted = workload("kube-scheduler", "--policy-config-file=/etc/sched/c.json", volume={"configMap": {"name": "m"}})
    source, other = find(mounted, policy)
    assert source.named_files == {"/etc/sched/c.json": POLICY}
    assert other.name == "b.yaml: ConfigMap m, policy.cfg"
    with pytest.raises(InputError, match="is missing; looked for /etc/p"):
        find(workload("kube-scheduler", "--policy-config-file", "/etc/p.json"))


@pytest.mark.parametrize(
    "command",
    [
        ("airflow-scheduler",),
        ("/bin/descheduler", "--config=/etc/c.yaml"),
        ("volcano-scheduler", "--scheduler-conf=/etc/c.yaml"),
    ],
)
def test_other_programs_are_not_schedulers_of_pods(command):
    with pytest.raises(InputError, match="no scheduler configuration: found Deployment"):
        find(workload(*command, name="main", image="example.com/image"))


def test_any_program_that_reads_a_configuration_is_a_scheduler():
    one = workload("/bin/placer", "--config=/etc/c.yaml", name="main", image="example.com/placer")
    assert [source.file for source in find(one, local={"/etc/c.yaml": HEADER})] == ["/etc/c.yaml"]
    with pytest.raises(InputError, match="no scheduler configuration"):
        find(one, local={"/etc/c.yaml": "listen: 80"})


@pytest.mark.parametrize(("flag", "lease"), [("--in-cluster", "kubesched"), ("--replace", "kube-scheduler")])
def test_kubesched_has_another_lease_unless_it_replaces_kube_scheduler(flag, lease):
    (source,) = find(workload("kubesched", "scheduler", flag))
    assert source.flags.resource_name == lease


def test_containers_are_named_where_a_pod_has_several():
    one = workload("kube-scheduler", kind="Pod")
    one["spec"]["containers"].append({"name": "second", "command": ["kube-scheduler"]})
    names = [source.name for source in find(one)]
    assert names == [f"a.yaml: flags of Pod n/d, container {name}" for name in ("scheduler", "second")]


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--leader-elect=perhaps", "--leader-elect: found 'perhaps'; expected true or false"),
        ("--leader-elect-retry-period=2", "--leader-elect-retry-period: '2' is not a duration; write it like 15s"),
        ("--kube-api-burst=many", "--kube-api-burst: found 'many'; expected a number"),
        ("--kube-api-qps=nan", "--kube-api-qps: found 'nan'; expected a number"),
    ],
)
def test_a_bad_value_of_a_flag_is_refused(flag, words):
    with pytest.raises(InputError) as refusal:
        find(workload("kube-scheduler", flag))
    assert str(refusal.value).startswith(f"a.yaml: Deployment n/d: {words}")


@pytest.mark.parametrize(
    "spec", ["5", "{containers: 3}", "{containers: [3, {command: x}, {command: [[]]}], volumes: [2]}", "{template: []}"]
)
def test_a_pod_of_another_shape_has_no_scheduler(spec):
    with pytest.raises(InputError, match="no scheduler configuration"):
        find(f"kind: Pod\nspec: {spec}\n")


def test_flags_that_kube_scheduler_does_not_have_are_kept_by_name():
    flags = ["--leader_elect=false", "--bogus=1", "--policy-config-file", "p.json", "--v=4"]
    (source,) = find(workload("kube-scheduler", "--config=/etc/c.yaml", *flags), local={"/etc/c.yaml": HEADER})
    assert source.unknown_flags == ("bogus", "policy-config-file")
    assert source.flags.given == {"leader_elect": False}
    (source,) = find(workload("kubesched", "scheduler", "--config=c.yaml", "--shadow"), local={"c.yaml": HEADER})
    assert source.unknown_flags == ()


def test_flags_that_count_only_without_a_file_are_kept_with_their_fields():
    flags = ["--kubeconfig", "/etc/a.conf", "--profiling=false", "--kube-api-qps=7", "--master=b", "--v=4"]
    (source,) = find(workload("kube-scheduler", "--config=/etc/c.yaml", *flags), local={"/etc/c.yaml": HEADER})
    assert [(one.name, one.field, one.value) for one in source.ignored_flags] == [
        ("kubeconfig", "clientConnection.kubeconfig", "/etc/a.conf"),
        ("kube-api-qps", "clientConnection.qps", 7),
        ("profiling", "enableProfiling", False),
    ]
    (source,) = find(workload("kube-scheduler", *flags))
    assert source.ignored_flags == ()
    (source,) = find(workload("kubesched", "scheduler", "--config=c.yaml", *flags), local={"c.yaml": HEADER})
    assert source.ignored_flags == ()


OLDER = "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nalgorithmSource: "
IN_CONFIG_MAP = f"{OLDER}{{policy: {{configMap: {{namespace: n, name: p}}}}}}\n"
IN_FILE = f"{OLDER}{{policy: {{file: {{path: /etc/sched/policy.cfg}}}}}}\n"
OTHER_CASE = IN_CONFIG_MAP.replace("algorithmS", "AlgorithmS").replace("policy", "Policy").replace("configM", "ConfigM")
SCHEDULER = workload("kube-scheduler", "--config=/etc/sched/c.yaml", volume={"configMap": {"name": "m"}})


def config_map(name: str, **data: str) -> dict:
    return {"kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}, "data": data}


@pytest.mark.parametrize("older", [IN_CONFIG_MAP, OTHER_CASE])
@pytest.mark.parametrize("scheduler", [SCHEDULER, "kind: Service\n"], ids=["run by a workload", "alone"])
def test_a_policy_in_a_config_map_is_a_part_of_the_configuration_that_names_it(older, scheduler):
    manifest = [scheduler, config_map("m", **{"c.yaml": older}), config_map("p", **{"policy.cfg": POLICY})]
    for documents in (manifest, manifest[::-1]):
        text = "---\n".join(one if isinstance(one, str) else f"{json.dumps(one)}\n" for one in documents)
        (source,) = find(text)
        assert source.name.startswith("a.yaml: ConfigMap n/m, c.yaml")


@pytest.mark.parametrize(
    "documents",
    [
        (SCHEDULER, config_map("m", **{"c.yaml": IN_FILE, "policy.cfg": POLICY})),
        (config_map("m", **{"c.yaml": IN_FILE, "policy.cfg": POLICY}),),
        (config_map("m", **{"c.yaml": IN_FILE}), config_map("q", **{"policy.cfg": POLICY})),
        (f"{IN_FILE}---\n{json.dumps(config_map('m', **{'policy.cfg': POLICY}))}",),
    ],
    ids=["mounted", "beside it", "in another ConfigMap", "in another document"],
)
def test_a_policy_file_is_a_part_of_the_configuration_that_names_it(documents):
    (source,) = find(*documents)
    assert source.named_files == {"/etc/sched/policy.cfg": POLICY}
    assert "Policy" not in source.text


def test_a_policy_that_nothing_names_stays_a_configuration():
    (_, policy) = find(config_map("m", **{"c.yaml": IN_CONFIG_MAP}), config_map("other", **{"policy.cfg": POLICY}))
    assert str(policy) == "b.yaml: ConfigMap n/other, policy.cfg"


def names_config_map(name: str) -> str:
    return f"{OLDER}{{policy: {{configMap: {{namespace: n, name: {name}}}}}}}\n"


NAMES_ITS_FILE = f"{OLDER}{{policy: {{file: {{path: /etc/sched/c.yaml}}}}}}\n"


@pytest.mark.parametrize(
    ("documents", "n_sources"),
    [
        ((config_map("a", **{"policy.cfg": names_config_map("a")}),), 1),
        ((config_map("m", **{"c.yaml": NAMES_ITS_FILE}),), 1),
        ((SCHEDULER, config_map("m", **{"c.yaml": NAMES_ITS_FILE})), 1),
        ((f"{OLDER}{{policy: {{file: {{path: a.yaml}}}}}}\n",), 1),
        (tuple(config_map(one, **{"policy.cfg": names_config_map(other)}) for one, other in ("ab", "bc", "ca")), 3),
        ((config_map("a", **{"policy.cfg": f'{POLICY[:-1]}, "algorithmSource": {{"policy": {{"configMap": '
          '{"namespace": "n", "name": "a"}}}}'}),), 1),
    ],
    ids=["in its ConfigMap", "as a file", "of a workload", "a whole file", "in a ring", "a Policy"],
)  # fmt: skip
def test_a_configuration_that_is_named_as_a_policy_is_still_one_to_be_refused(documents, n_sources):
    assert len(find(*documents)) == n_sources


def test_a_policy_file_in_a_config_map_may_be_yaml():
    policy = "kind: Policy\napiVersion: v1\n"
    (source,) = find(SCHEDULER, config_map("m", **{"c.yaml": IN_FILE, "policy.cfg": policy}))
    assert source.named_files == {"/etc/sched/policy.cfg": policy}
    (source,) = find(config_map("m", **{"c.yaml": IN_FILE, "policy.cfg": policy}))
    assert source.named_files == {"/etc/sched/policy.cfg": policy}
