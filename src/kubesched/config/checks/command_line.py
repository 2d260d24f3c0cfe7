"""What is wrong with the command line that a configuration is given to."""

from collections.abc import Iterable, Iterator

from kubesched.config.checks.rules import Finding
from kubesched.config.field_errors import did_you_mean
from kubesched.config.sources import REPLACED_FLAGS
from kubesched.known_flags import FLAGS

__all__ = ["flag_findings"]


def flag_findings(unknown: Iterable[str], *, has_file: bool) -> Iterator[Finding]:
    """One finding for each flag that kube-scheduler does not have, in its words.

    Args:
        has_file: whether the command line has --config, beside which such a flag had no effect.
    """
    for flag in unknown:
        yield Finding("unknown-flag", "", f"unknown flag: --{flag}", _advice(flag, has_file))


def _advice(flag: str, has_file: bool) -> str:
    if flag not in REPLACED_FLAGS:
        return did_you_mean(flag, FLAGS) or "remove it"
    if has_file:
        return "earlier versions had it, without effect beside --config; remove it"
    return (
        'earlier versions had it; "kubesched config convert" prints a file that says the same: give it to --config, '
        "and remove the flag"
    )
