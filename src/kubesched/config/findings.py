"""What is found about a configuration or a cluster, and the error that a scheduler prints about what one stage finds.

A scheduler goes through stages, and stops at the first one that finds an error. A review goes through all of them.
"""

from collections.abc import Iterable
from enum import IntEnum, auto
from typing import Final

import msgspec

from kubesched.config.field_errors import FieldError, bracketed
from kubesched.config.finding_rules import CLUSTER_RULES, RULES, Severity
from kubesched.errors import ConfigError, InputError
from kubesched.release import DEFAULT_RELEASE, Release

_RULES_OF_FIELD_ERRORS: Final = {
    "Required value": "required-value",
    "Duplicate value": "duplicate-value",
    "Unsupported value": "unsupported-value",
    "Forbidden": "forbidden-value",
}


class ReadingStage(IntEnum):
    """The stages of reading a configuration, in kube-scheduler's order.

    It prints all findings about FIELDS, and all about VALUES, in one error; of every other stage, only the first.
    """

    COMMAND_LINE = auto()
    SYNTAX = auto()
    CONVERSION = auto()
    TYPE_META = auto()
    TYPES = auto()
    ARGS = auto()
    FIELDS = auto()
    VALUES = auto()
    PROFILES = auto()
    ADVICE = auto()


class Finding(msgspec.Struct, frozen=True):
    """One thing that a reader of a configuration, or an operator of a cluster, should know.

    Attributes:
        rule: a name in RULES or CLUSTER_RULES.
        path: the field, such as `profiles[0].schedulerName`; empty for the whole document, and in a cluster.
        message: what is wrong; for an error, kube-scheduler's words where it has some.
        help: what follows from it, or what to do; can be empty.
        line, column: of the field or its nearest parent, from 1; 0 until it is located.
        at_key: whether the name of the field is wrong, not its value.
        printed: the lines of a scheduler about it, upstream's text and then our help; none if they are the message,
            and the help behind the path. An empty line says that the finding before has all of it.
        about: the objects of a cluster that it is about, such as `Deployment shop/web`.
        n_pods: how many running pods of the cluster it concerns.
        is_tried: whether the help is a change that was tried in a copy of the cluster and helps.
    """

    rule: str
    path: str
    message: str
    help: str = ""
    line: int = 0
    column: int = 0
    at_key: bool = False
    stage: ReadingStage = ReadingStage.ADVICE
    printed: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    n_pods: int = 0
    is_tried: bool = False

    @property
    def severity(self) -> Severity:
        """The severity of its rule."""
        return (RULES.get(self.rule) or CLUSTER_RULES[self.rule]).severity

    @property
    def lines(self) -> tuple[str, ...]:
        """What a scheduler prints about it: upstream's text, then our help."""
        if self.printed or not self.help:
            return self.printed or (self.message,)
        return self.message, f"{self.path}: {self.help}" if self.path else self.help


def error_of(findings: Iterable[Finding], prefix: str = "") -> ConfigError:
    """The error at which a scheduler stops: findings of the earliest stage, upstream's text first, our help below.

    Args:
        findings: at least one.
        prefix: upstream's words in front of the text.
    """
    findings = tuple(findings)
    stage = min(finding.stage for finding in findings)
    texts, helps = [], {}
    for finding in findings:
        if finding.stage is stage:
            text, *lines = finding.lines
            texts += [text] if text else []
            helps.update(dict.fromkeys(lines))
            if stage not in (ReadingStage.FIELDS, ReadingStage.VALUES):
                break
    whole = f"strict decoding error: {', '.join(texts)}" if stage is ReadingStage.FIELDS else bracketed(texts)
    return ConfigError("\n  ".join([prefix + whole, *helps]))


def split_error(error: InputError) -> tuple[str, str]:
    """Upstream's text and our help, without the paths of the help's lines."""
    message, *helps = str(error).split("\n  ")
    return message, "\n".join(helps)


def error_finding(rule: str, path: str, error: InputError, stage: ReadingStage, prefix: str = "") -> Finding:
    """What an error says as a finding.

    Args:
        prefix: upstream's words in front of the error, which only a scheduler prints.
    """
    return Finding(rule, path, *split_error(error), stage=stage, printed=tuple(f"{prefix}{error}".split("\n  ")))


def field_finding(
    error: FieldError, stage: ReadingStage = ReadingStage.VALUES, release: Release = DEFAULT_RELEASE
) -> Finding:
    """An error of a validation as a finding, in the words of a version."""
    error = error.in_words_of(release)
    rule = next((rule for words, rule in _RULES_OF_FIELD_ERRORS.items() if error.text.startswith(words)), "")
    return Finding(error.rule or rule or "invalid-value", error.path, str(error), error.help, stage=stage)
