import json
from pathlib import Path

import pytest

from kubesched.config import load_configuration
from kubesched.errors import ConfigError, InputError
from kubesched.setup.profiles import build_profiles
from tests.config.loading import ARGS_TYPES, HEADER, load
from tests.setup.stand_ins import registry

GOLDEN = Path(__file__).parents[1] / "golden" / "config-errors.json"
CASES = json.loads(GOLDEN.read_text())["cases"]

# What kube-scheduler says of files that the configuration leads to; they are read when something uses them.
LEADS_ELSEWHERE = {
    "extender-missing-ca": "the CA file of an extender is read when it is called",
    "missing-kubeconfig": "the kubeconfig is read when a cluster is asked",
}
# Where Go's own words leak through, ours are these.
OUR_WORDS = {
    "old-version-v1beta3": 'no kind "KubeSchedulerConfiguration" is registered for version '
    '"kubescheduler.config.k8s.io/v1beta3"\n',
    "old-version-v1beta2": 'no kind "KubeSchedulerConfiguration" is registered for version '
    '"kubescheduler.config.k8s.io/v1beta2"\n',
    "parallelism-string": 'parallelism: expected an integer, found "lots"',
    "score-weight-overflow-sum": "profiles[0].plugins.score.enabled[0].weight: "
    "expected an integer of at most 2147483647, found 1152921504606846976",
    "plugin-config-bad-type": "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: "
    "ignoredResources: expected a list, found 3",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_kube_scheduler_says_the_same(case):
    plugins = registry()
    said = None
    try:
        build_profiles(load_configuration(case["config"], args_types=plugins.args_types), plugins)
    except ConfigError as error:
        said = str(error)
    if case["accepted"] or case["name"] in LEADS_ELSEWHERE:
        assert said is None
    else:
        assert said is not None
        assert said.startswith(OUR_WORDS.get(case["name"], case["error"]))


def test_the_exceptions_are_cases():
    assert {*LEADS_ELSEWHERE, *OUR_WORDS} <= {case["name"] for case in CASES}


def test_nothing_stands_for_the_default_configuration():
    assert load_configuration(None, args_types=ARGS_TYPES) == load()


def test_text_bytes_and_files_are_read(tmp_path):
    file = tmp_path / "scheduler.yaml"
    file.write_text(HEADER + "parallelism: 3")
    for source in (HEADER + "parallelism: 3", file.read_bytes(), file):
        assert load_configuration(source, args_types=ARGS_TYPES).parallelism == 3


def test_json_is_read_too():
    text = '{"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1", "parallelism": 3}'
    assert load_configuration(text, args_types=ARGS_TYPES).parallelism == 3


def test_a_byte_order_mark_is_no_content():
    assert load_configuration(b"\xef\xbb\xbf" + HEADER.encode(), args_types=ARGS_TYPES) == load()


def test_a_fault_names_its_file_last(tmp_path):
    file = tmp_path / "scheduler.yaml"
    file.write_text(HEADER + "parallelism: 0")
    with pytest.raises(ConfigError) as caught:
        load_configuration(file, args_types=ARGS_TYPES)
    assert str(caught.value).splitlines()[-1] == f"  in {file}"


def test_a_file_that_cannot_be_read_is_no_finding(tmp_path):
    missing = tmp_path / "missing.yaml"
    with pytest.raises(InputError, match="no such file or directory") as caught:
        load_configuration(missing, args_types=ARGS_TYPES)
    assert str(caught.value) == f"open {missing}: no such file or directory"
    assert not isinstance(caught.value, ConfigError)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(InputError, match="not UTF-8 text: byte 0"):
        load_configuration(b"\xff\xfe", args_types=ARGS_TYPES)
