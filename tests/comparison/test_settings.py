"""The settings to paste: they say the same as the configuration, and managed clusters accept their form."""

import json
from pathlib import Path

import pytest
import yaml

from kubesched.comparison import Candidate, packed
from kubesched.comparison.candidates import ReadCandidate
from kubesched.comparison.settings import providers, settings
from kubesched.framework import Plugin
from kubesched.setup import comparable, set_up
from kubesched.testing import make_node

EXAMPLES = Path(__file__).parents[2] / "examples"
HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
ONLY_BINDING = """
profiles:
- plugins:
    multiPoint: {disabled: [{name: '*'}], enabled: [{name: DefaultBinder}, {name: PrioritySort}]}
"""
CONFIGURATIONS = ["shop/scheduler.yaml", "configurations/v1-packing.yaml", "configurations/v1-second-scheduler.yaml"]


class Mine(Plugin):
    """A plugin from outside the tree."""

    def score(self, state, pod, node):
        return 1


def of(text: str) -> "object":
    return settings(ReadCandidate(Candidate("x", (HEADER + text).encode())))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_pasted_settings_are_read_as_the_same_configuration(name: str):
    text = settings(ReadCandidate(Candidate("x", EXAMPLES / name))).configuration
    assert comparable(set_up(text.encode())) == comparable(set_up(EXAMPLES / name))


@pytest.mark.parametrize(
    "text",
    [
        "profiles: [{plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 7}]}}}]",
        "profiles: [{plugins: {multiPoint: {enabled: [{name: ImageLocality, weight: 9}]}}}]",
        ONLY_BINDING,
        "percentageOfNodesToScore: 10",
    ],
)
def test_every_kind_of_change_survives(text: str):
    assert comparable(set_up(of(text).configuration.encode())) == comparable(set_up((HEADER + text).encode()))


def test_passwords_and_keys_are_hidden():
    text = """
extenders:
- urlPrefix: "https://scheduler:hunter2@devices:8443"
  tlsConfig: {certData: Zg==, keyData: czNjcjN0}
"""
    pasted = of(text).configuration
    assert "hunter2" not in pasted
    assert "czNjcjN0" not in pasted
    assert "scheduler:***@devices:8443" in pasted


def test_defaults_are_left_out():
    assert yaml.safe_load(settings(ReadCandidate(Candidate("x"))).configuration) == yaml.safe_load(HEADER)


def test_a_plugin_of_the_user_is_enabled():
    written = settings(ReadCandidate(Candidate("x", plugins=[Mine])))
    (profile,) = yaml.safe_load(written.configuration)["profiles"]
    assert profile["plugins"] == {"score": {"enabled": [{"name": "Mine", "weight": 1}]}}
    assert (written.eks, written.aks) == ("", "")


def test_eks_gets_the_scoring_strategy():
    written = json.loads(settings(ReadCandidate(packed(Candidate("x")))).eks)
    resources = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    assert written == {"nodeResourcesFit": {"scoringStrategy": {"type": "MostAllocated", "resources": resources}}}


def _strategy(type: str, rest: str = "") -> str:
    return (
        "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {apiVersion: kubescheduler.config.k8s.io/v1, "
        f"kind: NodeResourcesFitArgs, scoringStrategy: {{type: {type}, resources: [{{name: cpu, weight: 2}}]{rest}"
        "}}}]}]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "percentageOfNodesToScore: 10",
        "profiles: [{schedulerName: other}]",
        "profiles: [{plugins: {multiPoint: {enabled: [{name: ImageLocality, weight: 9}]}}}]",
        _strategy("RequestedToCapacityRatio", ", requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}"),
    ],
)
def test_what_eks_does_not_accept_has_no_form_for_it(text: str):
    assert of(text).eks == ""


def test_aks_gets_the_configuration_in_its_resource():
    written = yaml.safe_load(of(_strategy("MostAllocated")).aks)
    assert (written["apiVersion"], written["kind"]) == ("aks.azure.com/v1alpha1", "SchedulerConfiguration")
    assert written["metadata"] == {"name": "upstream"}
    raw = written["spec"]["rawConfig"].encode()
    assert comparable(set_up(raw)) == comparable(set_up((HEADER + _strategy("MostAllocated")).encode()))


@pytest.mark.parametrize(
    "text",
    [
        "percentageOfNodesToScore: 10",
        "profiles: [{schedulerName: aks-system}]",
        "profiles: [{plugins: {multiPoint: {disabled: [{name: DynamicResources}]}}}]",
    ],
)
def test_what_aks_does_not_accept_has_no_form_for_it(text: str):
    assert of(text).aks == ""


def test_a_provider_is_known_by_its_labels():
    assert providers([make_node("n", labels={"eks.amazonaws.com/nodegroup": "a"})]) == ("eks",)
    assert providers([make_node("n", labels={"kubernetes.azure.com/mode": "user"})]) == ("aks",)
    assert providers([make_node("n")]) == ()
