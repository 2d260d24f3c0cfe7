"""Judges a configuration as a reviewer does: every fault and every risk at once, each with its line."""

from kubesched.config.checks.command_line import flag_findings, ignored_flag_findings
from kubesched.config.checks.extenders import ignorable_bind_before, sampling_advice, scored_as_idle
from kubesched.config.checks.process import shared_leases
from kubesched.config.checks.report import Report, advice_on, report_on
from kubesched.config.checks.review import PluginFacts, Review, ReviewedProfile, entry_path, written_entries
from kubesched.config.checks.rules import RULES, Finding, Rule, Severity
from kubesched.config.checks.written import Written, field_finding, ignored_document, read_written, split_error

__all__ = [
    "RULES",
    "Finding",
    "PluginFacts",
    "Report",
    "Review",
    "ReviewedProfile",
    "Rule",
    "Severity",
    "Written",
    "advice_on",
    "entry_path",
    "field_finding",
    "flag_findings",
    "ignorable_bind_before",
    "ignored_document",
    "ignored_flag_findings",
    "read_written",
    "report_on",
    "sampling_advice",
    "scored_as_idle",
    "shared_leases",
    "split_error",
    "written_entries",
]
