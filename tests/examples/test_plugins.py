"""Both forms of each example plugin place the pods of the shop alike."""

import runpy
from pathlib import Path

import pytest

from kubesched import Simulator, load_snapshot
from tests.examples.record_shop import SHOP

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "examples" / "plugins"


def placements(monkeypatch: pytest.MonkeyPatch, file: str, name: str, args: str) -> dict[str, str]:
    """Pod -> where it goes, or why nowhere."""
    monkeypatch.chdir(ROOT)  # the arguments name a file by its path from here
    snapshot = load_snapshot(SHOP / "cluster.json.gz")
    simulator = Simulator(snapshot, plugins=[f"examples/plugins/{file}:{name}"], plugin_args={name: PLUGINS / args})
    return {found.pod: found.node or found.message.replace(name, "") for found in simulator.run().placements}


@pytest.mark.parametrize(
    ("file", "name", "args"),
    [("team_nodes.py", "TeamNodes", "team-nodes.yaml"), ("usage_file.py", "FileUsage", "usage-file.yaml")],
)
def test_both_forms_place_the_pods_of_the_shop_alike(file: str, name: str, args: str, monkeypatch: pytest.MonkeyPatch):
    assert placements(monkeypatch, file, name, args) == placements(monkeypatch, file, f"{name}ByColumn", args)


def test_the_usage_file_is_what_its_program_writes():
    program = runpy.run_path(str(PLUGINS / "make_usage.py"))
    assert (PLUGINS / "shop-usage.json").read_text(encoding="utf-8") == program["usage_list"]()
