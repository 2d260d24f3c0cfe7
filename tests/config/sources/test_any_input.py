"""Whatever a file has: it gives configurations that lie inside it, or a refusal of one sentence."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubesched.config import ConfigSource, Input, LocalFiles, find_sources
from kubesched.errors import InputError
from tests.trials import examples

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
CONFIGURATION = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
TEXTS = st.sampled_from(
    [
        HEADER,
        json.dumps(CONFIGURATION),
        f"# a\n\n{HEADER}x: [",
        "kube-scheduler",
        "--config=/etc/c.yaml",
        "--config",
        "--policy-config-file=/etc/c.yaml",
        "--policy-configmap=m",
        "--leader-elect=maybe",
        "sh 'x",
        "m",
        "/etc",
        "c.yaml",
        "",
    ]
)
WORDS = """apiVersion kind metadata name namespace data items spec template containers command args volumes configMap
key path volumeMounts mountPath subPath hostPath projected sources scheduler extraArgs extraVolumes value c.yaml
kube-scheduler-arg algorithmSource policy policy.cfg"""
KEYS = st.sampled_from(WORDS.split())
KINDS = st.sampled_from(["Pod", "Deployment", "ConfigMap", "List", "ConfigMapList", "ClusterConfiguration", "Policy"])
VALUES = st.recursive(
    TEXTS | KINDS | st.none() | st.booleans() | st.integers(-2, 2) | st.just(CONFIGURATION),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
CONFIG_MAPS = st.fixed_dictionaries(
    {"kind": st.just("ConfigMap"), "metadata": st.just({"name": "m"}), "data": st.dictionaries(KEYS, TEXTS)}
)
CONTAINERS = st.fixed_dictionaries(
    {"command": st.lists(TEXTS, max_size=4)},
    optional={"volumeMounts": st.just([{"name": "m", "mountPath": "/etc"}]), "name": TEXTS, "image": TEXTS},
)
PODS = st.fixed_dictionaries(
    {
        "kind": st.just("Pod"),
        "spec": st.fixed_dictionaries(
            {"containers": st.lists(CONTAINERS, max_size=2)},
            optional={"volumes": st.just([{"name": "m", "configMap": {"name": "m"}}])},
        ),
    }
)
DOCUMENTS = st.lists(VALUES | CONFIG_MAPS | PODS | st.just(CONFIGURATION), max_size=3)
FILES = LocalFiles(lambda path, beside: (path, beside), {"/etc/c.yaml": HEADER}.get)


def sources_or_refusal(texts: list[str]) -> tuple[ConfigSource, ...]:
    """The sources, at least one; none if the input is refused with one sentence that names the file."""
    inputs = [Input(f"{i}.yaml", text) for i, text in enumerate(texts)]
    sources, refusal = (), ""
    try:
        sources = find_sources(inputs, FILES)
    except InputError as error:
        refusal = str(error)
    assert sources or refusal.startswith(tuple(one.name for one in inputs))
    assert "\n" not in refusal
    return sources


def check(texts: list[str]) -> None:
    named = {f"{i}.yaml": text for i, text in enumerate(texts)} | {"/etc/c.yaml": HEADER}
    for source in sources_or_refusal(texts):
        assert type(source.text) is str
        assert_inside(source, named)


def assert_inside(source: ConfigSource, texts: dict[str, str]) -> None:
    """Every position of the text is in the file; a verbatim one has the same words there."""
    outer = texts[source.file].split("\n")
    for number, words in enumerate(source.text.split("\n")[:-1], 1):
        line, column = source.position(number, 1)
        assert 1 <= line <= len(outer)
        if source.is_verbatim and words:
            assert outer[line - 1][column - 1 :] == words


@examples(60)
@given(st.lists(st.text(max_size=60) | st.just(HEADER), min_size=1, max_size=2))
def test_any_text_gives_sources_or_a_refusal(texts):
    sources_or_refusal(texts)


@examples(150)
@given(st.lists(DOCUMENTS, min_size=1, max_size=2), st.booleans())
def test_any_objects_give_sources_or_a_refusal(files, as_json):
    if as_json:
        check([json.dumps({"kind": "List", "items": documents}, indent=1) for documents in files])
    else:
        check([yaml.safe_dump_all(documents, default_style="|", sort_keys=False) for documents in files])


def test_a_deep_object_is_refused():
    text = "a: " + "[" * 500 + "]" * 500
    assert [source.text for source in find_sources([Input("a.yaml", text)])] == [text]
    inner = "kind: ConfigMap\ndata:\n  a: |\n    kind: KubeSchedulerConfiguration\n    x: " + "[" * 500 + "]" * 500
    assert [source.name for source in find_sources([Input("a.yaml", inner)])] == ["a.yaml: ConfigMap, a"]


def test_aliases_do_not_multiply():
    bomb = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10 if i else ['x'])}]\n" for i in range(9))
    assert [source.text for source in find_sources([Input("a.yaml", bomb)])] == [bomb]
    smaller = bomb[: bomb.index("a5:")] + "kind: Nothing\n"
    with pytest.raises(InputError, match="found Nothing"):
        find_sources([Input("a.yaml", smaller)])
