import re
from pathlib import Path

import pytest

from kubesched.cluster.kubeconfig import find_kubeconfigs, load_kubeconfig
from kubesched.errors import ConfigError
from tests.cluster.kubeconfigs import kubeconfig, write

QUOTES = "put text with special characters in quotes"


def test_a_named_file_goes_before_the_variable_and_that_before_home() -> None:
    environ = {"KUBECONFIG": "/a:/b", "HOME": "/home/ann"}
    assert find_kubeconfigs("/named", environ) == [Path("/named")]
    assert find_kubeconfigs(None, environ) == [Path("/a"), Path("/b")]
    assert find_kubeconfigs(None, {"HOME": "/home/ann"}) == [Path("/home/ann/.kube/config")]
    assert find_kubeconfigs(None, {}) == []


def test_empty_and_repeated_names_in_the_variable_count_once_or_not_at_all() -> None:
    assert find_kubeconfigs(None, {"KUBECONFIG": ":/a::/b:/a:"}) == [Path("/a"), Path("/b")]


def test_the_first_file_that_says_something_is_right(tmp_path: Path) -> None:
    first = kubeconfig({"server": "https://first"}, {"token": "one"}, **{"current-context": ""})
    second = kubeconfig({"server": "https://second", "tls-server-name": "x"}, {"token": "two"})
    second["users"].append({"name": "other", "user": {"token": "three"}})
    merged = load_kubeconfig([write(tmp_path / "a", first), tmp_path / "absent", write(tmp_path / "b", second)])
    assert merged.clusters["c"].value.server == "https://first"
    assert merged.clusters["c"].value.tls_server_name is None
    assert [merged.users[name].value.token for name in ("u", "other")] == ["one", "three"]
    assert merged.current_context == "dev"
    assert merged.users["other"].at("token") == f"kubeconfig {tmp_path / 'b'}: users[1].user.token"


def test_a_file_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"^kubeconfig {tmp_path}/x: cannot be read: No such file or directory$"):
        load_kubeconfig([tmp_path / "x"], must_exist=True)


def test_empty_files_and_null_lists_say_nothing(tmp_path: Path) -> None:
    empty = "apiVersion: v1\nkind: Config\nclusters: null\nusers: null\ncontexts: null\npreferences: {}\n"
    merged = load_kubeconfig([write(tmp_path / "a", ""), write(tmp_path / "b", empty)])
    assert merged.is_empty


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: [s3cret", "line 2, column 1: not valid YAML: did not find expected ',' or ']'"),
        ("a: b\n\tc: s3cret", "line 2, column 1: not valid YAML: found a tab character that violates indentation"),
        ("a: \x00s3cret", "not valid YAML: control characters are not allowed"),
        *(
            (text, f"line 1, column {column}: an alias, tag or key that is not defined; {QUOTES}")
            for text, column in (("a: *s3cret", 4), ("a: !s3cret x", 4), ("? [s3cret]\n: b", 3))
        ),
        ("[s3cret]", "expected an object, found a list"),
        ("users: s3cret", "users: expected a list, found a string"),
        ("users: [{user: {token: s3cret}}]", "users[0].name: Required value"),
        ("users: [{name: u, user: {token: 12345}}]", "users[0].user.token: expected a string, found an integer"),
        (
            "users: [{name: u, user: {exec: {interactiveMode: s3cret}}}]",
            "users[0].user.exec.interactiveMode: expected Never, IfAvailable or Always",
        ),
        (
            "clusters: [{name: c, cluster: {insecure-skip-tls-verify: 's3cret'}}]",
            "clusters[0].cluster.insecure-skip-tls-verify: expected true or false, found a string",
        ),
        (
            "kind: Pod\napiVersion: v1",
            "found kind 'Pod', apiVersion 'v1'; a kubeconfig has kind 'Config', apiVersion 'v1'",
        ),
    ],
)
def test_a_fault_has_its_place_and_shows_no_value(tmp_path: Path, text: str, fault: str) -> None:
    file = write(tmp_path / "config", text)
    with pytest.raises(ConfigError) as raised:
        load_kubeconfig([file])
    assert str(raised.value) == f"kubeconfig {file}: {fault}"
    assert raised.value.__cause__ is None  # which would quote the file
    assert not any(secret in str(raised.value) for secret in ("12345", "s3cret"))


def test_a_context_that_is_not_there_is_an_error_with_those_that_are(tmp_path: Path) -> None:
    merged = load_kubeconfig([write(tmp_path / "k", kubeconfig())])
    with pytest.raises(ConfigError, match=r"/k: no context named 'prod'; there are 'dev'$"):
        merged.context("prod")


def test_without_a_current_context_one_has_to_be_chosen(tmp_path: Path) -> None:
    merged = load_kubeconfig([write(tmp_path / "k", kubeconfig(**{"current-context": None}))])
    with pytest.raises(ConfigError, match=r"current-context is not set; .* choose a context: there are 'dev'$"):
        merged.context()
    assert merged.context("dev").value.cluster == "c"


@pytest.mark.parametrize(
    ("context", "fault"),
    [
        ({"cluster": "x"}, "contexts[0].context.cluster: no cluster named 'x'; there are 'c'"),
        ({"cluster": ""}, "contexts[0].context.cluster: does not name a cluster; there are 'c'"),
        ({"user": "x"}, "contexts[0].context.user: no user named 'x'; there are 'u'"),
    ],
)
def test_a_context_names_what_is_there(tmp_path: Path, context: dict[str, str], fault: str) -> None:
    merged = load_kubeconfig([write(tmp_path / "k", kubeconfig(context=context))])
    chosen = merged.context()
    with pytest.raises(ConfigError, match=re.escape(fault)):
        _ = merged.cluster_of(chosen), merged.user_of(chosen)


def test_a_context_without_a_user_has_no_credentials(tmp_path: Path) -> None:
    merged = load_kubeconfig([write(tmp_path / "k", kubeconfig(user={"token": "t"}, context={"user": ""}))])
    assert merged.user_of(merged.context()).value.token is None


def test_nothing_shows_what_is_secret(tmp_path: Path) -> None:
    merged = load_kubeconfig([write(tmp_path / "k", kubeconfig(user={"token": "s3cret"}))])
    assert "s3cret" not in repr(merged) + repr(merged.users)
