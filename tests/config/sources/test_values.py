import json

import pytest
import yaml

from kubesched.config import Input, find_sources
from kubesched.errors import InputError

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def find(text: str, name: str = "values.yaml"):
    return find_sources([Input(name, text)])


def outer(text: str, source, needle: str) -> str:
    """What is in the file where a position of the inner text says that the needle is."""
    before, middle, _ = source.text.partition(needle)
    assert middle
    line, column = source.position(before.count("\n") + 1, len(before) - before.rfind("\n"))
    return text.split("\n")[line - 1][column - 1 :]


def test_a_text_in_helm_values_is_named_by_its_path():
    text = """replicas: 2
scheduler:
  extra:
  - name: other
  - config: |
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: KubeSchedulerConfiguration
      parallelism: 3
"""
    (source,) = find(text)
    assert (source.name, source.text) == ("values.yaml: scheduler.extra[1].config", HEADER + "parallelism: 3\n")
    assert outer(text, source, "parallelism") == "parallelism: 3"


def test_a_mapping_in_helm_values_keeps_its_lines():
    text = """scheduler:
  config:
    # why
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration

    profiles:
    - schedulerName: mine  # and why

  replicas: 2
"""
    (source,) = find(text)
    assert source.name == "values.yaml: scheduler.config"
    assert source.text.startswith("# why\napiVersion:")
    assert outer(text, source, "schedulerName") == "schedulerName: mine  # and why"
    assert outer(text, source, "# and") == "# and why"


@pytest.mark.parametrize(
    "text",
    [
        "config: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, parallelism: 3}\n",
        f"configs:\n- parallelism: 3\n  {HEADER.replace(chr(10), chr(10) + '  ')}\n",
        f"common: &p 3\nconfig:\n  parallelism: *p\n  {HEADER.replace(chr(10), chr(10) + '  ')}\n",
    ],
)
def test_a_mapping_that_cannot_be_cut_out_is_where_its_kind_is(text):
    (source,) = find(text)
    assert yaml.safe_load(source.text) == {**yaml.safe_load(HEADER), "parallelism": 3}
    line, column = source.position(3, 1)
    assert text.split("\n")[line - 1][column - 1 :].startswith(("KubeSchedulerConfiguration", "kubescheduler.config"))


def test_the_values_inside_an_object_are_named_with_it():
    release = {"kind": "HelmRelease", "metadata": {"name": "r", "namespace": "n"}, "spec": {"values": {"a": HEADER}}}
    assert [source.name for source in find(json.dumps(release))] == ["values.yaml: HelmRelease n/r, spec.values.a"]


def test_values_without_a_configuration_go_to_the_loader():
    text = "scheduler:\n  name: KubeSchedulerConfiguration\n"
    assert [source.text for source in find(text)] == [text]


@pytest.mark.parametrize("version", ["v1beta3", "v1beta4"])
def test_the_flags_that_kubeadm_gives_to_kube_scheduler_count(version):
    arguments = {
        "v1beta3": "{leader-elect: 'false', config: /etc/sched/c.yaml}",
        "v1beta4": "[{name: leader-elect, value: 'false'}, {name: config, value: /etc/sched/c.yaml}]",
    }
    text = f"""apiVersion: kubeadm.k8s.io/{version}
kind: ClusterConfiguration
scheduler:
  extraArgs: {arguments[version]}
  extraVolumes: [{{name: c, hostPath: /real/c.yaml, mountPath: /etc/sched/c.yaml}}]
"""
    (source,) = find_sources([Input("kubeadm.yaml", text), Input("real/c.yaml", HEADER)])
    assert source.name == "real/c.yaml (ClusterConfiguration)"
    assert source.flags.given == {"leader_elect": False}


def test_the_flags_that_k3s_gives_to_kube_scheduler_count():
    (source,) = find("node-name: a\nkube-scheduler-arg:\n- leader-elect=false\n- kube-api-qps=5\n", "config.yaml")
    assert source.name == "config.yaml: flags of kube-scheduler-arg"
    assert source.flags.given == {"leader_elect": False}
    assert yaml.safe_load(source.text)["clientConnection"] == {"qps": 5}


@pytest.mark.parametrize(
    "scheduler", ["", "scheduler: {extraArgs: }", "scheduler: {extraArgs: [3, {name: x}]}", "scheduler: {extraArgs: 3}"]
)
def test_a_cluster_without_flags_for_kube_scheduler_has_no_configuration(scheduler):
    with pytest.raises(InputError, match="no scheduler configuration: found ClusterConfiguration"):
        find(f"kind: ClusterConfiguration\n{scheduler}\n")


POLICY = "{kind: Policy, apiVersion: v1}"
APPLICATION = """kind: Application
metadata: {name: scheduling, namespace: argocd}
spec:
  source:
    helm:
      values: |
        # of the chart
        scheduler:
          config: |
            apiVersion: kubescheduler.config.k8s.io/v1
            kind: KubeSchedulerConfiguration
            parallelism: 3
        other:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: KubeSchedulerConfiguration
          parallelism: 4
"""


def test_configurations_in_values_that_are_a_text_are_found_with_their_lines():
    first, second = find(APPLICATION, "app.yaml")
    where = "app.yaml: Application argocd/scheduling, spec.source.helm.values"
    assert (first.name, first.text) == (f"{where}: scheduler.config", HEADER + "parallelism: 3\n")
    assert (second.name, second.text.rstrip()) == (f"{where}: other", f"{HEADER}parallelism: 4")
    assert first.file == second.file == "app.yaml"
    for source in (first, second):
        assert outer(APPLICATION, source, "parallelism").startswith("parallelism: ")
    assert outer(APPLICATION, second, "parallelism") == "parallelism: 4"


def test_a_nested_text_in_quotes_is_where_it_begins():
    values = yaml.safe_dump({"scheduler": {"config": HEADER}})
    text = f"kind: Application\nvalues: {json.dumps(values)}\n"
    (source,) = find(text)
    assert source.text == HEADER
    assert source.position(2, 1) == (2, 9)


def test_a_text_with_several_objects_is_looked_through():
    manifests = f"kind: Service\n---\n{HEADER}---\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {{k: '{POLICY}'}}\n"
    text = "extraManifests: |\n" + "".join(f"  {line}\n" for line in manifests.splitlines())
    first, second = find(text)
    assert first.name == "values.yaml: extraManifests: line 3"
    assert outer(text, first, "kind") == "kind: KubeSchedulerConfiguration"
    assert second.name == "values.yaml: extraManifests: ConfigMap m, data.k"


def test_a_config_map_may_hold_values_as_a_text():
    text = "kind: ConfigMap\nmetadata: {name: m}\ndata:\n  values.yaml: |\n    config:\n"
    text += "".join(f"      {line}\n" for line in HEADER.splitlines())
    (source,) = find(text, "map.yaml")
    assert (source.name, source.text.strip()) == ("map.yaml: ConfigMap m, values.yaml: config", HEADER.strip())


@pytest.mark.parametrize(
    "inner", ["KubeSchedulerConfiguration: {", "a text about a KubeSchedulerConfiguration", "- Policy"]
)
def test_a_text_that_only_names_a_configuration_is_none(inner):
    with pytest.raises(InputError, match="no scheduler configuration"):
        find(f"kind: Service\nnote: {json.dumps(inner)}\n")


def test_a_secret_is_refused_with_a_way_to_print_it():
    with pytest.raises(InputError, match=r"found Secret; .*base64decode"):
        find("kind: Secret\nmetadata: {name: s}\ndata: {config.yaml: YQ==}\n")
