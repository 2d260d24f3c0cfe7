"""Arguments of commands that take snapshots and names: which are which."""

from pathlib import Path

import pytest

from kubesched.cli.targets import split_targets


@pytest.mark.parametrize(
    "argument", ["-", "cluster.json", "cluster.json.gz", "dump.yaml", "./web-7", "/tmp/x", "C.JSON"]
)
def test_what_looks_like_a_file_is_a_snapshot_also_if_it_is_missing(argument: str):
    assert split_targets([argument]) == ((argument,), ())


@pytest.mark.parametrize("argument", ["web-7", "shop/web-7", "deploy/web", "ip-10-0-0-1.eu-west-1.compute.internal"])
def test_everything_else_is_a_name(argument: str):
    assert split_targets([argument]) == ((), (argument,))


def test_a_name_that_no_file_system_takes_is_a_name():
    assert split_targets(["n" * 5000, "shop/" + "n" * 5000]).snapshots == ()


def test_a_folder_that_exists_is_a_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "dump").mkdir()
    monkeypatch.chdir(tmp_path)
    assert split_targets(["n1", "dump", "n2"]) == (("dump",), ("n1", "n2"))
