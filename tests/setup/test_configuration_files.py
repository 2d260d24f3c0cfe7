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


def manifest(*words: str) -> dict:
    containers = [{"image": "kube-scheduler", "command": ["kube-scheduler", *words]}]
    return {"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": {"containers": containers}}}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    inner = tmp_path / "given"
    (inner / "below").mkdir(parents=True)
    monkeypatch.chdir(inner)
    (inner / "below" / "config.yaml").write_text(V1)
    (tmp_path / "config.yaml").write_text(V1)
    (tmp_path / "policy.json").write_text(POLICY)
    return inner


@pytest.mark.parametrize(
    "path", ["{}/config.yaml", "{}/given/../config.yaml", "../config.yaml", "link.yaml", "links/config.yaml"]
)
def test_a_manifest_does_not_choose_files_outside_its_folder(folder, path):
    (folder / "link.yaml").symlink_to(folder.parent / "config.yaml")
    (folder / "links").symlink_to(folder.parent)
    (folder / "d.json").write_text(json.dumps(manifest(f"--config={path.format(folder.parent)}")))
    with pytest.raises(InputError, match=r"yaml is missing; .*files outside the folder of the manifest are not read"):
        read_sources([folder / "d.json"])
    given = folder.parent / path.rpartition("/")[2]
    given.write_text(V1)
    assert [source.text for source in read_sources([folder / "d.json", given])] == [V1]


@pytest.mark.parametrize("path", ["{}/below/config.yaml", "below/config.yaml", "/etc/x/linked.yaml"])
def test_a_file_below_the_folder_of_the_manifest_is_read(folder, path):
    (folder / "linked.yaml").symlink_to("below/config.yaml")
    (folder / "d.json").write_text(json.dumps(manifest(f"--config={path.format(folder)}")))
    assert [source.text for source in read_sources([folder / "d.json"])] == [V1]


def test_a_folder_that_is_a_link_itself_is_the_folder(folder):
    (folder.parent / "other").symlink_to(folder)
    (folder / "d.json").write_text(json.dumps(manifest("--config=/etc/x/config.yaml")))
    (folder / "config.yaml").write_text(V1)
    assert [source.text for source in read_sources([folder.parent / "other" / "d.json"])] == [V1]


def test_a_configuration_does_not_choose_a_policy_outside_its_folder(folder):
    (folder / "old.yaml").write_text(OLDER.replace("/etc/kubernetes", str(folder.parent)))
    with pytest.raises(ConfigError, match=r"missing policy config file .*\n .*outside the folder .* copy it there"):
        set_up(folder / "old.yaml")
    (folder / "policy.json").write_text(POLICY)
    assert set_up(folder / "old.yaml").configuration.profiles[0].plugins.score.enabled_names == ()


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "loop", "..", "/"])
def test_a_path_that_names_no_file_is_missing(folder, path):
    (folder / "loop").symlink_to("loop")
    (folder / "d.json").write_text(json.dumps(manifest(f"--config={path}")))
    with pytest.raises(InputError, match="is missing"):
        read_sources([folder / "d.json"])


SECRETS = ["TOKEN=hunter2\n", "hunter2: x\n", "a: [hunter2\n", '{"hunter2": hunter2', "- *hunter2\n", "'hunter2'"]


@pytest.mark.parametrize("text", SECRETS)
@pytest.mark.parametrize("flag", ["--config", "--policy-config-file"])
def test_a_file_without_a_configuration_is_named_without_its_text(folder, flag, text):
    (folder / ".env").write_text(text)
    (folder / "d.json").write_text(json.dumps(manifest(f"{flag}=/x/.env")))
    with pytest.raises(InputError) as caught:
        set_up(folder / "d.json")
    assert str(caught.value).startswith(
        f"{folder}/d.json: Deployment d: {folder}/.env holds no scheduler configuration"
    )
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("text", SECRETS)
def test_a_file_without_a_policy_is_named_without_its_text(folder, text):
    (folder / "policy.json").write_text(text)
    (folder / "old.yaml").write_text(OLDER)
    with pytest.raises(ConfigError, match=r"policy\.json holds no Policy") as caught:
        set_up(folder / "old.yaml")
    assert "hunter2" not in str(caught.value)


def test_a_policy_that_cannot_be_read_is_refused_with_the_place(folder):
    (folder / "policy.json").write_text(POLICY[:-1])
    (folder / "old.yaml").write_text(OLDER)
    with pytest.raises(ConfigError, match=r"line|column|end"):
        set_up(folder / "old.yaml")
