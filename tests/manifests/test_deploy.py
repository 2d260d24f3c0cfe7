"""What is in deploy/ and generated is what the command prints now."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.documents import write_yaml
from kubesched.manifests import cluster_grants
from kubesched.version import VERSION
from tests.cli.clusters import run

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "helm" / "kubesched"


@pytest.mark.parametrize(("folder", "options"), [("base", ()), ("replace", ("--replace",))])
def test_kustomize_bases_are_the_output_of_the_command(folder: str, options: tuple[str, ...]) -> None:
    """Otherwise, run the command in the first line of kustomization.yaml again."""
    base = DEPLOY / "kustomize" / folder
    command = ("scheduler", "manifests", "--image", "kubesched", *options)
    assert (base / "kubesched.yaml").read_text() == run(*command).stdout
    first_line = (base / "kustomization.yaml").read_text().splitlines()[0]
    assert first_line == f"# kubesched.yaml is the output of: kubesched {' '.join(command)}"


def test_the_chart_grants_what_the_command_grants() -> None:
    reasons = {f"[{row}]": grant.why for row, grant in enumerate(cluster_grants())}
    expected = write_yaml([grant.rule for grant in cluster_grants()], reasons)
    assert (CHART / "files" / "cluster-rules.yaml").read_text() == expected


def test_the_chart_has_the_version_of_kubesched() -> None:
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == VERSION


def test_the_schema_knows_every_value_and_no_other() -> None:
    def known(schema: dict[str, Any], values: dict[str, Any], path: str = "") -> None:
        for name, value in values.items():
            assert name in schema["properties"], f"{path}{name} is not in the schema"
            if value and isinstance(value, dict) and "properties" in schema["properties"][name]:
                known(schema["properties"][name], value, f"{path}{name}.")
        assert schema["properties"].keys() - values.keys() <= {"global"}

    schema = json.loads((CHART / "values.schema.json").read_text())
    known(schema, yaml.safe_load((CHART / "values.yaml").read_text()))
