"""Building the control plane, with a Go that only counts; needs no real one."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.integration.build import BuildError, find_binary

GO = """#!/bin/sh
[ "$1" = version ] && { echo "go version go1.0"; exit; }
echo build >>"$BUILDS"
while [ "$1" != -o ]; do shift; done
echo made >"$2"
"""


def quiet(line: str) -> None:
    """Nobody listens."""


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a Go that adds a line to this file for each build."""
    write_go(tmp_path, GO)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("BUILDS", str(tmp_path / "builds"))
    monkeypatch.delenv("KUBESCHED_CONTROLPLANE", raising=False)
    return tmp_path / "builds"


def write_go(folder: Path, script: str) -> None:
    go = folder / "bin" / "go"
    go.parent.mkdir(exist_ok=True)
    go.write_text(script)
    go.chmod(0o755)


def test_builders_that_meet_build_once(builds: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(find_binary, [quiet] * 4))
    assert len(found) == 1
    assert found.pop().read_text() == "made\n"
    assert builds.read_text() == "build\n"


def test_a_build_is_announced_and_a_ready_binary_is_not(builds: Path) -> None:
    said: list[str] = []
    binary = find_binary(said.append)
    assert said == [f"building the test control plane (a few minutes the first time) into {binary}"]
    find_binary(said.append)
    assert len(said) == 1


def test_another_go_version_gets_a_binary_of_its_own(builds: Path, tmp_path: Path) -> None:
    first = find_binary(quiet)
    write_go(tmp_path, GO.replace("go1.0", "go1.1"))
    assert find_binary(quiet) != first


def test_a_failed_build_repeats_what_go_says_and_is_tried_again(builds: Path, tmp_path: Path) -> None:
    write_go(tmp_path, GO.replace("echo made", "echo main.go:1: no such thing; exit 1; echo"))
    with pytest.raises(BuildError, match=r"main\.go:1: no such thing"):
        find_binary(quiet)
    write_go(tmp_path, GO)
    assert find_binary(quiet).read_text() == "made\n"


def test_a_named_binary_is_used_as_it_is(builds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBESCHED_CONTROLPLANE", str(tmp_path / "bin" / "go"))
    assert find_binary(quiet) == tmp_path / "bin" / "go"
    assert not builds.exists()


def test_a_named_binary_that_is_none_is_a_fault(builds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBESCHED_CONTROLPLANE", str(tmp_path))
    with pytest.raises(BuildError, match="no program that can be run; name a binary"):
        find_binary(quiet)


def test_without_go_the_message_says_what_to_do(builds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "cache"))
    with pytest.raises(BuildError, match=r"go: not found.*install Go, or name a ready binary"):
        find_binary(quiet)
