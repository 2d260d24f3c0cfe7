"""What a review finds at the first stage with a fault is what the loader raises, for any configuration."""

import random

import pytest

from kubesched.config import ConfigSource, Finding, ReadingStage, ToV1, error_of, load_configuration, only_v1
from kubesched.errors import ConfigError
from kubesched.review import check_configuration
from kubesched.review.judge import judge
from kubesched.setup import find_plugins, older_versions
from kubesched.setup.profiles import build_profiles
from tests.review.checked_cases import HEADER
from tests.review.test_check import OLDER
from tests.review.test_check_fuzzed import TEXTS, changed
from tests.trials import seeds

REGISTRY = find_plugins()
TOGETHER = (ReadingStage.FIELDS, ReadingStage.VALUES)
"""Of these stages the loader raises all findings, of every other one the first."""


def raised(text: str, to_v1: ToV1) -> str:
    """What a scheduler prints that starts with the configuration; empty if it accepts it."""
    try:
        build_profiles(load_configuration(text, args_types=REGISTRY.args_types, to_v1=to_v1), REGISTRY)
    except ConfigError as error:
        return str(error)
    return ""


def of_first_stage(text: str, to_v1: ToV1) -> list[Finding]:
    """What a review finds at the first stage with a fault."""
    findings = judge(ConfigSource("", text, ""), REGISTRY, to_v1).findings
    first = min(finding.stage for finding in findings) if findings else ReadingStage.ADVICE
    return [finding for finding in findings if finding.stage is first is not ReadingStage.ADVICE]


def compare(text: str, to_v1: ToV1) -> ReadingStage | None:
    """The stage at which the loader stops."""
    error, findings = raised(text, to_v1), of_first_stage(text, to_v1)
    assert bool(error) == bool(findings), error
    if not findings:
        return None
    assert error == str(error_of(findings))
    for finding in findings if findings[0].stage in TOGETHER else findings[:1]:
        assert all(line in error for line in finding.lines)
        assert finding.message.rpartition(": ")[2] in error  # a review leaves out what its path says
    return findings[0].stage


def older_texts() -> list[str]:
    return [text.replace(HEADER, header) for text in TEXTS for header in OLDER.values() if HEADER in text]


@pytest.mark.parametrize("seed", seeds(4))
def test_the_first_stage_of_a_review_is_the_error_of_the_loader(seed: int):
    rng = random.Random(seed)
    for _ in range(30):
        compare(changed(rng.choice(TEXTS), rng), only_v1)


@pytest.mark.parametrize("seed", seeds(2))
def test_so_it_is_with_an_older_version(seed: int):
    rng = random.Random(seed)
    texts = older_texts()
    for _ in range(20):
        text = changed(rng.choice(texts), rng)
        compare(text, older_versions(text, lambda _: None).to_v1)


def test_every_stage_of_a_text_is_met():
    converting = older_versions("", lambda _: None).to_v1
    stages = {compare(text, only_v1) for text in TEXTS}
    stages |= {compare(OLDER["v1beta2"] + "parallelizm: 3\n", converting)}
    assert stages - {None} == set(ReadingStage) - {ReadingStage.COMMAND_LINE, ReadingStage.ADVICE}


def test_a_review_begins_with_the_error_of_the_loader():
    for text in TEXTS:
        assert check_configuration(text, kube_scheduler=False).error == raised(
            text, older_versions(text, lambda _: None).to_v1
        )
