"""What is wrong with the command line that a configuration is given to."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubesched.config import REPLACED_FLAGS, FieldFlag, Finding, ReadingStage, did_you_mean, dig
from kubesched.known_flags import FLAGS


def flag_findings(unknown: Iterable[str], *, has_file: bool) -> Iterator[Finding]:
    """One finding for each flag that kube-scheduler does not have, in its words.

    Args:
        has_file: whether the command line has --config, beside which such a flag had no effect.
    """
    for flag in unknown:
        advice = _advice(flag, has_file)
        yield Finding("unknown-flag", "", f"unknown flag: --{flag}", advice, stage=ReadingStage.COMMAND_LINE)


def ignored_flag_findings(flags: Iterable[FieldFlag], effective: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each flag that would change the configuration, and has no effect beside --config.

    Rule: kube-scheduler v1.36: --config makes --kubeconfig, --profiling, --contention-profiling and --kube-api-*
    ineffective.

    Args:
        effective: the configuration in the file, with all defaults.
    """
    for flag in flags:
        counts = dig(effective, *flag.field.split("."))
        if counts != flag.value:
            pod = ", the service account of its pod" if flag.name == "kubeconfig" and not counts else ""
            yield Finding(
                "ignored-flag",
                flag.field,
                f"--{flag.name} has no effect beside --config",
                f"kube-scheduler uses {flag.field} of the file: {json.dumps(counts)}{pod}; write "
                f"{flag.field}: {json.dumps(flag.value)} there if you need it, and remove the flag",
            )


def _advice(flag: str, has_file: bool) -> str:
    if flag not in REPLACED_FLAGS:
        return did_you_mean(flag, FLAGS) or "remove it"
    if has_file:
        return "earlier versions had it, without effect beside --config; remove it"
    return (
        'earlier versions had it; "kubesched config convert" prints a file that says the same: give it to --config, '
        "and remove the flag"
    )
