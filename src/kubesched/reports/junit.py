"""Reports as JUnit XML, for CI: one test case for each check of a page."""

import re
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from kubesched.reports.controls import replace_controls
from kubesched.reports.page import Check, Page

__all__ = ["as_junit"]

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(page: Page) -> str:
    """One suite for each group of checks, in order of first appearance; a check that does not hold is a failure."""
    suites: dict[str, list[Check]] = {}
    for check in page.checks:
        suites.setdefault(check.group, []).append(check)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {_attributes(page.name, page.checks)}>"]
    for group, checks in suites.items():
        lines.append(f"  <testsuite {_attributes(group, checks)}>")
        lines += [_case(f"{page.name}.{group}", check) for check in checks]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _attributes(name: str, checks: Sequence[Check]) -> str:
    n_failures = sum(bool(check.failure) for check in checks)
    return f'name={_quoted(name)} tests="{len(checks)}" failures="{n_failures}" errors="0"'


def _case(suite: str, check: Check) -> str:
    opened = f"    <testcase classname={_quoted(suite)} name={_quoted(check.name)}"
    if not check.failure:
        return f"{opened}/>"
    first = check.failure.partition("\n")[0]
    return f"{opened}><failure message={_quoted(first)}>{_referred(escape(_clean(check.failure)))}</failure></testcase>"


def _quoted(text: str) -> str:
    return _referred(quoteattr(_clean(text)))


def _referred(markup: str) -> str:
    """The same XML with references to control characters."""
    return replace_controls(markup, lambda control: f"&#x{ord(control):x};")


def _clean(text: str) -> str:
    """Text without the characters that XML does not have."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
