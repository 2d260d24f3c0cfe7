"""Notes are for people; a command does not depend on whether somebody can read them."""

import errno
import io

import pytest

from kubesched.cli.cluster import note


class Broken(io.StringIO):
    """Standard error, where it cannot be written."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def write(self, text: str) -> int:
        raise OSError(self.number, "broken")


def test_a_note_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    note("look")
    assert capsys.readouterr() == ("", "kubesched: note: look\n")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE, errno.EIO])
def test_a_note_that_cannot_be_written_ends_nothing(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Broken(number))
    note("look")
