import json
from pathlib import Path

import pytest
import yaml

from kubesched.config import effective, load_configuration
from kubesched.documents import write_yaml
from kubesched.release import DEFAULT_RELEASE
from tests.config.loading import ARGS_TYPES, load

RECORDED = Path(__file__).parents[1] / "golden" / "recorded" / "default-configuration-v1.36.3.yaml"


def shown(body: str) -> dict:
    """The effective configuration after a passage through JSON."""
    return json.loads(json.dumps(effective(load(body), DEFAULT_RELEASE)))


def test_the_default_configuration_is_the_recorded_one():
    recorded = yaml.safe_load(RECORDED.read_text())
    ours = shown("leaderElection: {leaderElect: false}")  # the recorded process had no rivals
    assert ours.pop("clientConnection") == {**recorded.pop("clientConnection"), "kubeconfig": "", "qps": -1}  # no limit
    assert ours == recorded


def test_keys_are_sorted():
    text = json.dumps(effective(load(), DEFAULT_RELEASE))
    assert text == json.dumps(json.loads(text), sort_keys=True)


def test_arguments_are_those_of_plugins_that_run_by_name():
    profile = shown(
        "profiles: [{plugins: {multiPoint: {disabled: [{name: InterPodAffinity}], enabled: [{name: Zed}]}},"
        "pluginConfig: [{name: Zed, args: {b: null}}, {name: Nope, args: {a: 1}}, {name: NodeAffinity, args: {}}]}]"
    )["profiles"][0]
    assert [entry["name"] for entry in profile["pluginConfig"]] == [
        "DefaultPreemption", "DynamicResources", "NodeAffinity", "NodeResourcesBalancedAllocation", "NodeResourcesFit",
        "PodTopologySpread", "VolumeBinding", "Zed",
    ]  # fmt: skip
    assert profile["pluginConfig"][-1] == {"name": "Zed", "args": {"b": None}}


def test_empty_values_are_left_out_where_upstream_leaves_them_out():
    configuration = shown(
        "delayCacheUntilActive: true\nextenders: [{urlPrefix: 'http://x', filterVerb: f, tlsConfig: {caData: YWJj},"
        "managedResources: [{name: a.b/c, ignoredByScheduler: true},{name: a.b/d}]}]"
    )
    assert configuration["delayCacheUntilActive"] is True
    assert configuration["extenders"] == [
        {
            "filterVerb": "f",
            "httpTimeout": "0s",
            "managedResources": [{"ignoredByScheduler": True, "name": "a.b/c"}, {"name": "a.b/d"}],
            "tlsConfig": {"caData": "YWJj"},
            "urlPrefix": "http://x",
        }
    ]
    assert "percentageOfNodesToScore" not in configuration["profiles"][0]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "profiles: [{schedulerName: 'y', percentageOfNodesToScore: 0, plugins: {score: {disabled: [{name: '*'}]}}}]",
        (
            "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeName}],"
            " enabled: [{name: ImageLocality, weight: 7}, {name: NodeName}]}}}]"
        ),
        (
            "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: "
            "[{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]}}]}]"
        ),
    ],
)
def test_what_is_shown_stands_for_itself(body):
    written = write_yaml(effective(load(body), DEFAULT_RELEASE))
    again = load_configuration(written, args_types=ARGS_TYPES)
    assert write_yaml(effective(again, DEFAULT_RELEASE)) == written
