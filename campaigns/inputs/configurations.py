"""Configurations with tokens, lines and values in other places, and what a check of any text has to hold."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from kubesched.config import read_feature_gates
from kubesched.errors import ConfigError
from kubesched.release import DEFAULT_RELEASE, RELEASES, Release
from kubesched.review import check_configuration
from tests.review.checked_cases import FOLDER, cases

GOLDEN = Path(__file__).parents[2] / "tests" / "golden" / "configs"
GATES = ("DRADeviceBindingConditions", "DynamicResourceAllocation", "NodeDeclaredFeatures", "StorageCapacityScoring")
TOKENS = ("{", "}", "[", "]", ":", "-", "'", '"', "&a ", "*a", "<<: ", "null", "~", "5", "-1", "1e999", "!x", "|", "\t")
VALUES = ("null", "[]", "{}", "5", "-5", "text", '""', "true", "1.5", "[null]", "[{}]", "[[]]", "{a: 1}", "[{name: 5}]")


@cache
def texts() -> list[str]:
    """Configurations to begin with, with and without faults."""
    checked = [case.text for file in sorted(FOLDER.iterdir()) for case in cases(file.name).values()]
    return [*(file.read_text() for file in sorted(GOLDEN.glob("*.yaml"))), *checked]


def changed(text: str, rng: Random) -> str:
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


def changed_configuration(rng: Random) -> bytes:
    return changed(rng.choice(texts()), rng).encode()


def any_release(rng: Random) -> Release:
    """A version, perhaps with gates that the configuration depends on, as far as it starts with these."""
    release = rng.choice(RELEASES)
    gates = {name: rng.random() < 0.5 for name in rng.sample(GATES, rng.randint(0, len(GATES)))}
    try:
        read_feature_gates([f"{name}={is_on}" for name, is_on in gates.items()], release)
    except ConfigError:
        return release
    return release.with_gates(gates)


def faults_of_check(text: str, release: Release = DEFAULT_RELEASE) -> Iterator[str]:
    """What is wrong with the findings about a text: it has an error exactly when kube-scheduler rejects it."""
    checked = check_configuration(text, release=release)
    errors = [finding for finding in checked.findings if finding.severity == "error"]
    if bool(checked.error) != bool(errors):
        yield f"loading says {checked.error!r}, the check finds {errors}"
    if not all(finding.line >= 1 and finding.column >= 1 for finding in checked.findings):
        yield "a finding has no place"
    if "rejected" in {error.rule for error in errors}:
        yield "an error has no rule of its own"
