"""Configurations with the traps of articles on extending the scheduler, as `kubesched config` reads them."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main

ARTICLES = Path(__file__).parents[1] / "articles"
MANIFEST = str(ARTICLES / "scheduler-with-policy.yaml")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["config", *words])


def test_a_policy_in_a_manifest_is_converted_once_as_a_part_of_its_configuration():
    result = run("convert", MANIFEST)
    (document,) = yaml.safe_load_all(result.stdout)
    assert document["profiles"][0]["schedulerName"] == "blue-scheduler"
    assert document["leaderElection"]["resourceName"] == "blue-scheduler"
    assert document["extenders"][0]["filterVerb"] == "predicates/always_true"


def test_a_manifest_with_a_configuration_and_its_policy_is_one_side_of_a_diff():
    result = run("diff", MANIFEST, MANIFEST)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_manifest_is_judged_as_one_configuration(command):
    assert "blue-scheduler-policy, policy.cfg" not in run(command, MANIFEST).output
