"""The campaign asks the oracle of each version, and says what was left out and why."""

import sys
from pathlib import Path

import pytest

from campaigns.versions import campaign
from kubesched.release import RELEASES

SAYS_NOTHING = """#!{python}
import json, sys
print(json.dumps({{"pod": "default/pend-00000"}}))
"""
FAILS = """#!{python}
import sys
sys.exit("panic: no claims here\\ngoroutine 1")
"""


def oracle(folder: Path, version: str, text: str) -> None:
    file = folder / version / "oracle"
    file.parent.mkdir()
    file.write_text(text.format(python=sys.executable))
    file.chmod(0o755)


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *arguments: str) -> int:
    common = ["--oracles", str(tmp_path), "--out", str(tmp_path / "out"), "--seeds", "1-1", "--nodes", "5"]
    monkeypatch.setattr(sys, "argv", ["campaign", *common, *arguments])
    monkeypatch.setattr(campaign, "cases", lambda seed, nodes: [campaign.Plan("one", ["--only", "labels"])])
    monkeypatch.setattr(campaign, "find_binary", lambda *_: pytest.fail("an oracle is there"))
    return campaign.main()


def test_it_says_what_differs_and_what_was_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    oracle(tmp_path, "v1.36", SAYS_NOTHING)
    oracle(tmp_path, "v1.37", FAILS)
    assert run(monkeypatch, tmp_path) == 1
    *_, first, second, third, fourth, fifth = capsys.readouterr().out.splitlines()
    assert (first, second, third) == tuple(f"{version}: left out, no oracle" for version in ("v1.33", "v1.34", "v1.35"))
    assert fourth.startswith("v1.36.3: seeds 1-1, 1 cases, 1 pods, ")
    assert " 0 differences" not in fourth
    assert fifth == "v1.37.2: seeds 1-1, 0 cases, 0 pods, 0 differences; 1 left out: panic: no claims here"


def test_a_version_that_is_not_known_is_compared_with_the_nearest_rules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newest = RELEASES[-1]
    version = f"v1.{newest.minor + 1}"
    oracle(tmp_path, "v1.36", FAILS)
    oracle(tmp_path, version, FAILS)
    assert run(monkeypatch, tmp_path, "--only", version) == 0
    assert f"{version} is decided as {newest}" in capsys.readouterr().out


def test_every_seed_has_the_rare_features_and_claims() -> None:
    names = [plan.name for plan in campaign.cases(7, 5)]
    assert [name.partition("-")[0] for name in names] == ["more", "most", "config", "claims"]
