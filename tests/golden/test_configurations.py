"""kubesched says of configurations what each version of kube-scheduler says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kubesched.config import read_feature_gates
from kubesched.errors import ConfigError
from kubesched.release import RELEASES, Release
from kubesched.review import check_configuration

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "versions" / "configurations.json").read_text())
BEFORE = {case["name"]: case for case in json.loads((HERE / "config-errors.json").read_text())["cases"]}
LEADS_ELSEWHERE = {"extender-missing-ca", "missing-kubeconfig"}  # what a configuration names is not read

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
OF_PROFILE = re.compile(r"^initializing profiles: creating profile for scheduler name [^:]*: ")
GO_DECODER = re.compile(
    r"json: (cannot unmarshal|unknown)|panic|Object '\w+' is missing|couldn't decode as|not a KubeSch"
)
REFUSED = "kubesched has no rules for "  # a gate
IN_SCHEME = re.compile(r' in scheme "[^"]*"')


def _sorted(text: str) -> str:
    """Kube-scheduler prints gates that need others in any order."""
    return "".join(sorted(text)) if "but depends on features" in text else text


def _whole(text: str) -> str:
    return text if text.startswith("apiVersion") else HEADER + text


def _cases() -> list[Any]:
    differing = {case["name"]: case["said"] for case in RECORDED["differing"]}
    of_all = [
        (name, case["config"], "", {"v1.36": case["error"] or "", **differing.get(name, {})})
        for name, case in BEFORE.items()
        if name not in LEADS_ELSEWHERE
    ]
    own = [(case["name"], _whole(case["config"]), case.get("gates", ""), case["said"]) for case in RECORDED["cases"]]
    return [*of_all, *own]


CASES = _cases()


def _said(text: str, gates: str, release: Release) -> str:
    """What kube-scheduler would print, without our help."""
    try:
        release = release.with_gates(read_feature_gates([gates], release))
    except ConfigError as error:
        return str(error).removeprefix("--feature-gates: ").partition("\n  ")[0]
    return OF_PROFILE.sub("", check_configuration(text, release=release).error).partition("\n  ")[0]


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_each_version_says_the_same(release: Release) -> None:
    wrong = []
    for name, text, gates, said in CASES:
        expected = OF_PROFILE.sub("", said.get(str(release), said["v1.36"]))
        ours = _said(text, gates, release)
        is_alike = bool(ours) is bool(expected)
        if not GO_DECODER.search(expected):
            is_alike = _sorted(ours.rstrip()) == _sorted(IN_SCHEME.sub("", expected))
        if not is_alike and not ours.startswith(REFUSED):
            wrong.append((name, expected, ours))
    assert wrong == []
