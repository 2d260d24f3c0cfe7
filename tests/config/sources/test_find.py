import json

import pytest

from kubesched.config import Input, find_sources
from kubesched.errors import InputError

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: my-scheduler, namespace: kube-system}
data:
  README: |
    How this KubeSchedulerConfiguration came about.
  config.yaml: |

    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    parallelism: 3
"""
POLICY = '{"kind": "Policy", "apiVersion": "v1"}'


def find(*texts: str):
    names = ("a.yaml", "b.yaml")
    return find_sources([Input(name, text) for name, text in zip(names, texts, strict=False)])


def outer(text: str, source, needle: str) -> str:
    """What is in the file where a position of the inner text says that the needle is."""
    before, found, _ = source.text.partition(needle)
    assert found
    line, column = source.position(before.count("\n") + 1, len(before) - before.rfind("\n"))
    return text.split("\n")[line - 1][column - 1 :]


def test_a_file_that_is_a_configuration_is_its_own_source():
    (source,) = find(HEADER)
    assert (str(source), source.text, source.file) == ("a.yaml", HEADER, "a.yaml")
    assert source.position(2, 1) == (2, 1)


@pytest.mark.parametrize("text", ["", "a: [", "parallelism: 3\n", "just text\n", "- 1\n"])
def test_what_the_loader_refuses_in_kube_scheduler_s_words_is_given_to_it(text):
    (source,) = find(text)
    assert (source.name, source.text) == ("a.yaml", text)


def test_each_document_is_a_source_with_its_own_lines():
    text = f"# first\n{HEADER}a: 1\n---\n{HEADER}b: 1\n--- {POLICY}\n"
    first, second, third = find(text)
    assert [source.name for source in (first, second, third)] == [f"a.yaml: line {n}" for n in (1, 6, 9)]
    assert first.text.startswith("# first\n")
    assert outer(text, first, "a: 1") == "a: 1"
    assert outer(text, second, "b: 1") == "b: 1"
    assert outer(text, third, "Policy") == 'Policy", "apiVersion": "v1"}'


def test_the_only_configuration_among_other_documents_has_the_name_of_the_file():
    text = f"apiVersion: v1\nkind: Service\n---\n{HEADER}"
    (source,) = find(text)
    assert (source.name, source.text) == ("a.yaml", HEADER)


def test_the_key_of_a_config_map_that_holds_a_configuration_is_a_source():
    (source,) = find(CONFIG_MAP)
    assert source.name == "a.yaml: ConfigMap kube-system/my-scheduler, config.yaml"
    assert source.text == f"\n{HEADER}parallelism: 3\n"
    assert outer(CONFIG_MAP, source, "parallelism") == "parallelism: 3"
    assert outer(CONFIG_MAP, source, "3") == "3"


@pytest.mark.parametrize("begin", ["|", "|-", "|2-", "|  # as it is", "| \n\n"])
def test_every_kind_of_literal_keeps_its_positions(begin):
    text = f"kind: ConfigMap\ndata:\n a: {begin}\n" + "".join(f"   {line}\n" for line in HEADER.splitlines())
    (source,) = find(text)
    assert outer(text, source, "kind") == "kind: KubeSchedulerConfiguration"


@pytest.mark.parametrize("text", ["\n", "\r\n"])
def test_lines_may_end_as_on_windows(text):
    whole = CONFIG_MAP.replace("\n", text)
    (source,) = find(whole)
    assert outer(whole.replace("\r", ""), source, "parallelism") == "parallelism: 3"


def test_a_configuration_in_quotes_is_where_the_quotes_begin():
    text = json.dumps({"kind": "List", "items": [{"kind": "ConfigMap", "data": {"policy.cfg": POLICY}}]}, indent=1)
    (source,) = find(text)
    assert source.name == "a.yaml: ConfigMap, policy.cfg"
    assert source.text == POLICY
    line, column = source.position(1, 20)
    assert text.split("\n")[line - 1][column - 1 :].startswith(json.dumps(POLICY))


def test_several_keys_and_several_files_are_several_sources():
    both = f"kind: ConfigMap\nmetadata: {{name: m}}\ndata: {{a: '{POLICY}', b: '{POLICY}'}}\n"
    names = [source.name for source in find(both, HEADER)]
    assert names == ["a.yaml: ConfigMap m, a", "a.yaml: ConfigMap m, b", "b.yaml"]


def test_a_config_map_with_a_syntax_error_in_its_configuration_is_a_source():
    (source,) = find("kind: ConfigMap\ndata:\n  a: |\n    kind: KubeSchedulerConfiguration\n    x: [\n")
    assert source.name == "a.yaml: ConfigMap, a"


@pytest.mark.parametrize("names", ["{namespace: n, name: p}", "{namespace: '', name: p}"])
def test_the_policy_of_another_configuration_is_not_a_source(names):
    version = "kubescheduler.config.k8s.io/v1alpha1"
    older = (
        f"apiVersion: {version}\nkind: KubeSchedulerConfiguration\nalgorithmSource: {{policy: {{configMap: {names}}}}}"
    )
    policy = f"kind: ConfigMap\nmetadata: {{name: p}}\ndata: {{policy.cfg: '{POLICY}'}}\n"
    sources = find(older, policy)
    assert [source.name for source in sources] == ["a.yaml"]
    assert sources[0].config_maps[0]["metadata"] == {"name": "p"}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("kind: Service\n---\nkind: Service\n---\nkind: Secret\n", "Service, Secret"),
        ("kind: Policy\napiVersion: kyverno.io/v1\n", "Policy"),
        ("".join(f"kind: K{i}\n---\n" for i in range(9)), "K0, K1, K2, K3, K4 and 4 more"),
        ("kind: ConfigMap\ndata: {a: 'kind: Policy'}\n", "ConfigMap"),
        ("kind: List\nitems: []\nx: [1]", "List"),
        ("kind: ConfigMap\ndata: [KubeSchedulerConfiguration]\nmetadata: 3\n", "ConfigMap"),
    ],
)
def test_a_file_without_a_configuration_is_refused_with_the_kinds_that_it_has(text, kinds):
    with pytest.raises(InputError) as refusal:
        find(text)
    assert str(refusal.value).startswith(f"a.yaml: no scheduler configuration: found {kinds}; expected a KubeSched")


BARE = '{"predicates": [{"name": "HostName"}], "priorities": []}'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (BARE, "a.yaml"),
        ("Priorities: [{Name: x, Weight: 1}]\ncomment: ours\n", "a.yaml"),
        ('{"extenders": [{"urlPrefix": "http://127.0.0.1"}], "hardPodAffinitySymmetricWeight": 2}', "a.yaml"),
        (json.dumps({"kind": "ConfigMap", "data": {"policy.cfg": BARE}}), "a.yaml: ConfigMap, policy.cfg"),
        (json.dumps({"scheduler": {"policy": BARE}}), "a.yaml: scheduler.policy"),
        (json.dumps({"scheduler": {"policy": json.loads(BARE)}}), "a.yaml: scheduler.policy"),
        ('{"kind": "Policy", "priorities": []}', "a.yaml"),
        ('{"apiVersion": "v1", "priorities": []}', "a.yaml"),
    ],
)
def test_a_policy_is_known_by_its_fields(text, name):
    (source,) = find(f"kind: Service\n---\n{text}") if name == "a.yaml" else find(text)
    assert source.name.replace(" ,", ",") == name
    assert "riorities" in source.text or "extenders" in source.text


@pytest.mark.parametrize(
    "other",
    [
        {"priorities": [], "replicas": 2},
        {"priorities": [1, 2], "replicas": 2},
        {"extenders": [{"urlPrefix": "http://127.0.0.1"}], "profiles": []},
        {"values": {"extenders": [{"urlPrefix": "http://127.0.0.1"}]}},
        {"kind": "Policy", "apiVersion": "kyverno.io/v1", "predicates": [{"name": "HostName"}]},
    ],
)
def test_fields_that_others_have_too_do_not_make_a_policy(other):
    with pytest.raises(InputError, match="no scheduler configuration"):
        find(json.dumps({"kind": "Values", **other}))
