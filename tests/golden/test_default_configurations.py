"""The default configuration of each version is the one that kube-scheduler prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from kubesched.config import effective, points_without_hook
from kubesched.release import RELEASES, Release
from kubesched.setup import Setup, set_up

RECORDED = {
    version.rpartition(".")[0]: recorded
    for version, recorded in json.loads((Path(__file__).parent / "versions" / "defaults.json").read_text()).items()
}


@pytest.fixture(scope="module", params=RELEASES, ids=str)
def setup(request: pytest.FixtureRequest) -> Setup:
    return set_up(release=request.param)


def _go(value: Any) -> Any:
    """Fields in Go's spelling, without what is empty."""
    if isinstance(value, dict):
        names = {"kubeconfig": "Kubeconfig", "qps": "QPS"}
        given = ((names.get(key) or key[:1].upper() + key[1:], _go(entry)) for key, entry in value.items())
        return {
            key: entry for key, entry in given if entry not in (None, "", [], {}) and key != "DelayCacheUntilActive"
        }
    return [_go(entry) for entry in value] if isinstance(value, list) else value


def _entries(enabled: list[dict[str, Any]]) -> list[str]:
    return [f"{one['name']}:{one['weight']}" if one.get("weight") else one["name"] for one in enabled]


def test_the_fields_and_arguments_are_those_of_the_version(setup: Setup) -> None:
    document = effective(setup.configuration, setup.release)
    recorded = RECORDED[str(setup.release)]
    (profile,) = document.pop("profiles")
    fields = {key: entry for key, entry in _go(document).items() if key not in ("ApiVersion", "Kind")}
    expected = _go(recorded["fields"])
    assert fields.pop("ClientConnection") == expected.pop("ClientConnection") | {"QPS": -1}  # kubesched has no limit
    assert fields == expected
    args = {one["name"]: _go(one["args"]) for one in profile["pluginConfig"]}
    for one in args.values():
        del one["ApiVersion"], one["Kind"]
    assert args == {name: _go(one) for name, one in recorded["args"].items()}
    assert _entries(profile["plugins"]["multiPoint"]["enabled"]) == recorded["multiPoint"]
    assert sorted(_go(dict.fromkeys(profile["plugins"], 1))) == sorted([*recorded["points"], "MultiPoint"])


def test_the_plugins_at_each_point_are_those_of_the_version(setup: Setup) -> None:
    (profile,) = setup.profiles
    for point, entries in RECORDED[str(setup.release)]["points"].items():
        ours = point[:1].lower() + point[1:]
        names = [plugin.name for plugin in profile.points.get(ours, ())]
        called = [one for one in entries if ours not in points_without_hook(one.partition(":")[0], setup.release)]
        if ours == "score":
            names = [f"{name}:{profile.weights[name]}" for name in names]
        assert names == called, point


def test_each_version_is_recorded() -> None:
    assert [Release(int(version.rpartition(".")[2])) for version in RECORDED] == list(RELEASES)
