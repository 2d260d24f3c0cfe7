"""A few broken inputs of each kind: a command ends by itself, with a code it knows."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from campaigns.inputs.broken import KINDS
from campaigns.inputs.run import faults_of, run


@pytest.mark.parametrize("kind", KINDS)
def test_broken_inputs_do_no_harm(kind: str, tmp_path: Path) -> None:
    account = run(kind, 0, range(6), tmp_path)
    assert account.harm == []
    assert len(account.codes) == 6 * len(KINDS[kind].commands)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "stderr", "exception", "fault"),
    [
        (0, "", None, []),
        (2, "kubesched: error: no such file\n", SystemExit(2), []),
        (2, "no such file\n", SystemExit(2), ["exit code 2 without a message"]),
        (2, "kubesched: error: \n", SystemExit(2), ["exit code 2 without a message"]),
        (2, f"kubesched: error: {'x' * 2999}\n", SystemExit(2), ["a message of 3000 characters"]),
        (3, "", SystemExit(3), ["exit code 3"]),
        (1, "Traceback (most recent call last)", SystemExit(1), ["a stack trace"]),
        (1, "", KeyError("a"), ["KeyError('a')"]),
    ],
)
def test_what_must_not_happen_is_found(code: int, stderr: str, exception: BaseException | None, fault: list[str]):
    result = Result(CliRunner(), b"", stderr.encode(), stderr.encode(), None, code, exception)
    assert list(faults_of(result)) == fault
