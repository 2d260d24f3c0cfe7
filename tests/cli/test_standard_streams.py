"""Commands end with a message and an exit code whatever the shell did to their streams."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from kubesched.cli.standard_streams import checked_output
from tests.cli.clusters import shop, write


def shell(redirected: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command with redirections, run by a shell."""
    words = f'exec "$@" {redirected}'
    command = ["sh", "-c", words, "sh", sys.executable, "-m", "kubesched", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("arguments", [["simulate", "-o", "json"], ["explain"], ["snapshot"]], ids=" ".join)
def test_a_full_disk_is_one_message(arguments: list[str], tmp_path: Path) -> None:
    ended = shell(">/dev/full", *arguments, write(tmp_path, *shop()), "--quiet")
    message = "kubesched: error: standard output cannot be written: No space left on device\n"
    assert (ended.returncode, ended.stderr) == (2, message)


def test_a_full_disk_under_both_streams_shows_in_the_exit_code() -> None:
    assert shell(">/dev/full 2>&1", "--version").returncode == 2


@pytest.mark.parametrize(("closed", "command"), [(">&-", "explain"), ("2>&-", "simulate"), (">&- 2>&-", "snapshot")])
def test_a_closed_stream_is_a_stream_to_nowhere(closed: str, command: str, tmp_path: Path) -> None:
    ended = shell(f"{closed} <&-", command, write(tmp_path, *shop()), "--quiet")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_closed_standard_input_is_an_empty_one() -> None:
    ended = shell("<&-", "explain", "-")
    assert ended.returncode == 2
    assert ended.stderr.startswith("kubesched: error: <stdin>: the file is empty")


def test_a_fault_of_another_file_is_not_one_of_standard_output() -> None:
    with pytest.raises(OSError, match=r"cert\.pem"), checked_output():
        raise OSError(errno.ENOSPC, "No space left on device", "cert.pem")
