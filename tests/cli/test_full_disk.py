"""What a command writes to a full disk is one message, and no half file is left."""

import errno
from pathlib import Path

import pytest

from tests.cli.clusters import run, shop, write
from tests.forks import Forks
from tests.full_disk import with_full_disk

NAMES = ("c.json", "c.json.gz", "c.json.zst")
COMMANDS = [
    *[("snapshot", "CLUSTER", "-o", name) for name in NAMES],
    ("snapshot", "CLUSTER", "-o", "-", "--anonymize", "--table", "table.json"),
    ("drain", "CLUSTER", "n1", "--write", "after.json"),
    ("plugin", "new", "TeamZone"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_file_that_does_not_fit_is_one_message_and_not_there(
    command: tuple[str, ...], tmp_path: Path, forks: Forks
) -> None:
    cluster = write(tmp_path, *shop())
    folder = tmp_path / "full"
    folder.mkdir()
    words = [str(cluster) if word == "CLUSTER" else word for word in command]
    ended = with_full_disk(forks, 100, folder, "kubesched", *words, "--quiet")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "cannot be written: " in ended.stderr
    assert not list(folder.iterdir())


def test_a_file_that_does_not_fit_leaves_the_one_that_was_there(tmp_path: Path, forks: Forks) -> None:
    (tmp_path / "c.json").write_text("before")
    words = ("snapshot", write(tmp_path, *shop(), name="in.json"), "-o", "c.json")
    assert with_full_disk(forks, 100, tmp_path, "kubesched", *words).returncode == 2
    assert (tmp_path / "c.json").read_text() == "before"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            OSError(errno.EMFILE, "Too many open files", "a"),
            "a: Too many open files; allow more with `ulimit -n`",
        ),
        (OSError(errno.ENOBUFS, "No buffer space available"), "No buffer space available"),
        (MemoryError(), "the memory is full; kubesched needs more for this input, or a smaller input"),
    ],
)
def test_what_the_system_refuses_is_one_message(
    error: Exception, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("kubesched.snapshot.load_snapshot", refused)
    done = run("simulate", write(tmp_path, *shop()))
    assert (done.exit_code, done.stderr) == (2, f"kubesched: error: {text}\n")
    assert "Traceback" in run("simulate", tmp_path / "cluster.json", "--debug").stderr
