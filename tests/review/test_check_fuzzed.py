"""Any text is judged: findings come out, never an exception, and an error exactly when kube-scheduler rejects it."""

import random
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubesched.cli.config import config
from kubesched.review import check_configuration
from tests.config.test_load import CASES
from tests.review.checked_cases import FOLDER, HEADER, cases

TEXTS = [
    *(case["config"] for case in CASES),
    *(case.text for file in sorted(FOLDER.iterdir()) for case in cases(file.name).values()),
]
TOKENS = ("{", "}", "[", "]", ":", "-", "'", '"', "&a ", "*a", "<<: ", "null", "~", "5", "-1", "1e999", "!x", "|", "\t")
VALUES = ("null", "[]", "{}", "5", "-5", "text", '""', "true", "1.5", "[null]", "[{}]", "[[]]", "{a: 1}", "[{name: 5}]")


def judge(text: str) -> None:
    checked = check_configuration(text)
    errors = [one for one in checked.findings if one.severity == "error"]
    assert bool(checked.error) == bool(errors), (checked.error, errors)
    assert all(one.line >= 1 and one.column >= 1 for one in checked.findings)
    assert "rejected" not in {one.rule for one in errors}


@settings(max_examples=150)
@given(st.text(max_size=80))
def test_any_text_is_judged(text: str):
    judge(text)
    judge(HEADER + text)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60), output=st.sampled_from(["text", "json", "sarif", "github"]))
def test_a_file_of_any_bytes_ends_the_command_in_order(content: bytes, output: str, tmp_path: Path):
    file = tmp_path / "scheduler.yaml"
    for written in (content, HEADER.encode() + content):
        file.write_bytes(written)
        result = CliRunner().invoke(config, ["check", str(file), "-o", output])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code in (0, 1, 2)


def changed(text: str, rng: random.Random) -> str:
    """The text with a token, a line or a value in another place."""
    lines = text.splitlines(keepends=True)
    for _ in range(rng.randint(1, 3)):
        kind, at = rng.randrange(4), rng.randrange(len(text) + 1)
        if kind == 0:
            text = text[:at] + rng.choice(TOKENS) + text[at:]
        elif kind == 1 and lines:
            del lines[rng.randrange(len(lines))]
            text = "".join(lines)
        elif kind == 2 and lines:
            number = rng.randrange(len(lines))
            key, colon, _ = lines[number].partition(": ")
            lines[number] = f"{key}: {rng.choice(VALUES)}\n" if colon else lines[number]
            text = "".join(lines)
        else:
            text = text[:at] + text[at + rng.randint(1, 10) :]
    return text


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_configuration_is_judged(seed: int):
    rng = random.Random(seed)
    for _ in range(30):
        judge(changed(rng.choice(TEXTS), rng))


def test_every_recorded_configuration_is_judged():
    for text in TEXTS:
        judge(text)
