from kubesched.setup import read_sources, set_up

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
