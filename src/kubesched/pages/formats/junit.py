"""Reports as JUnit XML, for CI: one test case for each check of a page."""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from kubesched.documents import replace_controls
from kubesched.pages.formats.model import Check, Page, grouped

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(page: Page) -> str:
    """One suite for each group of checks, in order of first appearance; a check that does not hold is a failure.

    A check that is not made is skipped.

    If plugins failed, the last suite has one case, which is an error.
    """
    n_errors = 1 if page.faults else 0
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {_attributes(page.name, page.checks, n_errors)}>"]
    properties = list(_properties(page))
    for group, checks in grouped(page.checks, lambda check: check.group).items():
        lines.append(f"  <testsuite {_attributes(group, checks)}>")
        lines += properties
        lines += [_case(f"{page.name}.{group}", check) for check in checks]
        lines.append("  </testsuite>")
    if page.faults:
        opened = f'    <testcase classname={_quoted(f"{page.name}.plugins")} name="no plugin fails">'
        lines.append(f"  <testsuite {_attributes('plugins', (), n_errors)}>")
        lines += [f"{opened}{_problem('error', chr(10).join(page.faults))}</testcase>", "  </testsuite>"]
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _properties(page: Page) -> Iterator[str]:
    """The version that decided, of a suite."""
    if page.versions:
        value = _quoted(", ".join(dict.fromkeys(str(one.release) for one in page.versions)))
        yield f'    <properties><property name="kubernetesVersion" value={value}/></properties>'


def _attributes(name: str, checks: Sequence[Check], n_errors: int = 0) -> str:
    n_failures = sum(bool(check.failure) for check in checks)
    n_skipped = sum(bool(check.skipped) for check in checks)
    counts = f'tests="{len(checks) + n_errors}" failures="{n_failures}" errors="{n_errors}"'
    return f"name={_quoted(name)} {counts}" + (f' skipped="{n_skipped}"' if n_skipped else "")


def _case(suite: str, check: Check) -> str:
    opened = f"    <testcase classname={_quoted(suite)} name={_quoted(check.name)}"
    if check.skipped:
        return f"{opened}><skipped message={_quoted(check.skipped)}/></testcase>"
    if not check.failure and check.note:
        return f"{opened}><system-out>{_referred(escape(_clean(check.note)))}</system-out></testcase>"
    if not check.failure:
        return f"{opened}/>"
    return f"{opened}>{_problem('failure', check.failure)}</testcase>"


def _problem(tag: str, text: str) -> str:
    first = text.partition("\n")[0]
    return f"<{tag} message={_quoted(first)}>{_referred(escape(_clean(text)))}</{tag}>"


def _quoted(text: str) -> str:
    return _referred(quoteattr(_clean(text)))


def _referred(markup: str) -> str:
    """The same XML with references to control characters."""
    return replace_controls(markup, lambda control: f"&#x{ord(control):x};")


def _clean(text: str) -> str:
    """Text without the characters that XML does not have."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
