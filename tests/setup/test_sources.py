import json

import pytest

from kubesched.config import LeaderElectionFlags
from kubesched.errors import ConfigError, InputError
from kubesched.setup import load_configuration, read_sources, set_up

OLDER = """apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
algorithmSource: {policy: {file: {path: /etc/kubernetes/policy.json}}}
"""
POLICY = '{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "EqualPriority", "weight": 1}]}'


def test_a_policy_is_read_from_the_folder_of_the_file_that_holds_the_configuration(tmp_path, caplog):
    file = tmp_path / "map.yaml"
    file.write_text("kind: ConfigMap\ndata:\n  a: |\n" + "".join(f"    {line}\n" for line in OLDER.splitlines()))
    (tmp_path / "policy.json").write_text(POLICY)
    (source,) = read_sources([file])
    setup = set_up(source)
    assert setup.configuration.profiles[0].plugins.score.enabled_names == ()
    assert f"{file}: converted from" in caplog.text
    assert caplog.messages[0].endswith(f"See: kubesched config convert --for kubesched {file}")  # which is what runs


V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 3\n"
CONFIG_MAP = {"kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"config.yaml": V1}}
POD_SPEC = {
    "containers": [
        {
            "command": ["kube-scheduler", "--config=/etc/s/config.yaml", "--leader-elect-resource-name=blue"],
            "volumeMounts": [{"name": "v", "mountPath": "/etc/s"}],
        }
    ],
    "volumes": [{"name": "v", "configMap": {"name": "m"}}],
}
DEPLOYMENT = {"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": POD_SPEC}}}
VALUES = {"scheduler": {"config": V1}}


@pytest.mark.parametrize("documents", [(CONFIG_MAP,), (CONFIG_MAP, DEPLOYMENT), (VALUES,)])
def test_a_configuration_is_loaded_from_whatever_holds_it(tmp_path, documents):
    file = tmp_path / "manifest.yaml"
    file.write_text("\n---\n".join(map(json.dumps, documents)))
    assert load_configuration(file).parallelism == 3


def test_the_flags_of_the_workload_in_the_file_count_below_those_of_the_command(tmp_path):
    file = tmp_path / "manifest.yaml"
    file.write_text("\n---\n".join(map(json.dumps, (CONFIG_MAP, DEPLOYMENT))))
    assert load_configuration(file).leader_election.resource_name == "blue"
    default, given = LeaderElectionFlags(resource_name="kubesched"), LeaderElectionFlags(given={"resource_name": "red"})
    assert set_up(file, flags=default).configuration.leader_election.resource_name == "blue"
    assert set_up(file, flags=given).configuration.leader_election.resource_name == "red"


def test_a_file_with_several_configurations_is_refused_with_their_names(tmp_path):
    file = tmp_path / "both.yaml"
    file.write_text(f"{V1}---\n{json.dumps(CONFIG_MAP)}")
    with pytest.raises(InputError) as caught:
        set_up(file)
    assert str(caught.value) == (
        f"{file}: expected one configuration, found 2: {file}; {file}: ConfigMap m, config.yaml\n"
        f"  give one of them as a file; `kubesched config convert {file}` prints each below its name"
    )


def test_a_fault_in_a_config_map_is_told_with_its_place(tmp_path):
    file = tmp_path / "map.yaml"
    file.write_text(json.dumps({**CONFIG_MAP, "data": {"a": V1.replace("3", "0")}}))
    with pytest.raises(ConfigError, match=f"\n  in {file}: ConfigMap m, a$"):
        load_configuration(file)
