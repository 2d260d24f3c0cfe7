from pathlib import Path

import pytest

from kubesched.cluster.find_access import find_access, in_cluster_access
from kubesched.errors import ConfigError
from tests.cluster.kubeconfigs import kubeconfig, write
from tests.cluster.test_in_cluster import ENVIRON, service_account


def test_the_variable_leads_to_the_current_context(tmp_path: Path) -> None:
    write(tmp_path / "k", kubeconfig())
    assert find_access(environ={"KUBECONFIG": str(tmp_path / "k")}).server == "https://api.example:6443"


def test_a_context_may_be_chosen(tmp_path: Path) -> None:
    document = kubeconfig()
    document["clusters"].append({"name": "other", "cluster": {"server": "https://other"}})
    document["contexts"].append({"name": "prod", "context": {"cluster": "other"}})
    assert find_access(write(tmp_path / "k", document), "prod", environ={}).server == "https://other"


def test_a_kubeconfig_goes_before_the_pods_own_cluster(tmp_path: Path) -> None:
    write(tmp_path / ".kube" / "config", kubeconfig())
    assert find_access(environ=ENVIRON | {"HOME": str(tmp_path)}).server == "https://api.example:6443"


def test_without_a_kubeconfig_a_pod_talks_to_its_own_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_cluster_access, "__defaults__", (service_account(tmp_path),))
    assert find_access(environ=ENVIRON | {"HOME": str(tmp_path)}).server == "https://10.96.0.1:443"


def test_a_pods_own_cluster_may_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_cluster_access, "__defaults__", (service_account(tmp_path),))
    environ = {"KUBECONFIG": str(write(tmp_path / "k", kubeconfig()))}
    assert find_access(in_cluster=True, environ=ENVIRON | environ).server == "https://10.96.0.1:443"
    with pytest.raises(ConfigError, match="only inside a pod"):
        find_access(in_cluster=True, environ=environ)


def test_where_there_is_nothing_it_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError,
        match=rf"no kubeconfig \(looked for {tmp_path}/.kube/config\), and this process "
        "does not run in a pod",
    ):
        find_access(environ={"HOME": str(tmp_path)})


def test_a_named_file_without_a_context_is_an_error_also_in_a_pod(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="current-context is not set"):
        find_access(write(tmp_path / "k", "kind: Config"), environ=ENVIRON)


def test_nothing_shows_what_is_secret(tmp_path: Path) -> None:
    write(tmp_path / "k", kubeconfig({"proxy-url": "http://u:s3cret@p"}, {"token": "s3cret"}))
    assert "s3cret" not in repr(find_access(tmp_path / "k", environ={}))
