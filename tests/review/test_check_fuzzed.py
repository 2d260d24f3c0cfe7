"""Any text is judged: findings come out, never an exception, and an error exactly when kube-scheduler rejects it."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from campaigns.inputs.configurations import any_release, changed, faults_of_check
from kubesched.cli import main
from kubesched.errors import KubeschedError
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.setup import set_up
from tests.config.test_load import CASES
from tests.golden.test_configurations import CASES as CASES_OF_VERSIONS
from tests.review.checked_cases import FOLDER, HEADER, cases
from tests.trials import examples, seeds

TEXTS = [
    *(case["config"] for case in CASES),
    *(case.text for file in sorted(FOLDER.iterdir()) for case in cases(file.name).values()),
]
OF_VERSIONS = [text for _, text, gates, _ in CASES_OF_VERSIONS if not gates]


def judge(text: str, release: Release = DEFAULT_RELEASE) -> None:
    assert list(faults_of_check(text, release)) == []


@examples(40)
@given(st.text(max_size=80))
def test_any_text_is_judged(text: str):
    judge(text)
    judge(HEADER + text)


@examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60), output=st.sampled_from(["text", "json", "sarif", "github"]))
def test_a_file_of_any_bytes_ends_the_command_in_order(content: bytes, output: str, tmp_path: Path):
    file = tmp_path / "scheduler.yaml"
    for written in (content, HEADER.encode() + content):
        file.write_bytes(written)
        result = CliRunner().invoke(main, ["config", "check", str(file), "-o", output])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code in (0, 1, 2)


@pytest.mark.parametrize("seed", seeds(2))
def test_a_changed_configuration_is_judged(seed: int):
    rng = random.Random(seed)
    for _ in range(30):
        judge(changed(rng.choice(TEXTS), rng))


@pytest.mark.parametrize("seed", seeds(2))
def test_a_changed_configuration_is_judged_and_used_as_any_version_does(seed: int):
    rng = random.Random(seed)
    for _ in range(30):
        text, release = rng.choice(OF_VERSIONS), any_release(rng)
        text = text if rng.random() < 0.5 else changed(text, rng)
        judge(text, release)
        with suppress(KubeschedError):
            set_up(text.encode(), release=release)


@pytest.mark.parametrize("part", range(4))
def test_every_recorded_configuration_is_judged(part: int):
    for text in TEXTS[part::4]:
        judge(text)
