"""Writes the page of the versions from the tables of the product and from the recordings.

python -m tests.docs.versions_page > docs/reference/versions.md
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from kubesched.api import IGNORED_FIELDS
from kubesched.comparison.upgrade import upgrade
from kubesched.release import DEFAULT_RELEASE, KEPS, KNOWN, RELEASES, Release, feature_gate
from tests.docs.pages import ROOT

COMMAND = "python -m tests.docs.versions_page > docs/reference/versions.md"
_GOLDEN = ROOT / "tests" / "golden"
_HEAD = f"""\
<!-- This page is the output of: {COMMAND} -->

# Versions of Kubernetes

kubesched has the rules of {KNOWN}. The version of the API server decides, which snapshots keep. If it is not known,
the highest kubelet version of the nodes decides, else {DEFAULT_RELEASE}. `--kubernetes-version` names another one.
A version that kubesched does not have is decided as the nearest one. Every report says which version decided.
[What changes with an upgrade](../guides/upgrades.md) compares two versions on your cluster.

## What they were recorded with

The real plugins of each version decided generated clusters, and small clusters of one feature each, the probes.
kubesched answers all of them word for word: feasible nodes, scores, reasons and preemption
([recordings](../../tests/golden/README.md)). Other patches of a version are decided as the recorded one.
"""
_NOT_EXACT = f"""\
## What is not exact

- Resource claims are exact from v1.36 on. v1.34 and v1.35 take a random device of those that match a claim; kubesched
  takes the one that v1.36 takes. The nodes that fit are those of the version, except where a request has all devices
  among its alternatives, where devices of one name make a pool invalid, and where a selector fails for some devices.
  v1.33 with DynamicResourceAllocation is decided as v1.34.
- The queue is that of v1.36. Of other versions only the release notes are known, so they have the same here: v1.33
  lengthens the backoff of a pod after errors, too (PR 128748); v1.34 and v1.35 keep and clear nominations otherwise
  (PR 133276, PR 135007); only since v1.36 a pod that is preempted while it waits in Permit or PreBind backs off
  (PR 135719, PR 135502). Which node a pod gets is the same; when it is tried again may not be.
- A feature gate that is on in an older version than by default has the rules of the later version.
- v1.33.0 to v1.33.12 may not count host ports of sidecars; they are decided as {RELEASES[0].recorded}.

[Scope](../scope.md) has what is not exact in any version.
"""
_CLAIMS = "[a live scheduler starts them](scheduler.md#what-differs-for-claims)"
_FAULTS = (
    ("v1.34 to v1.36", "a namespaceSelector of NotIn or DoesNotExist alone matches every namespace (issue 141526)"),
    ("v1.33 to v1.36", "a pod of several containers in a resize holds more than it needs (PR 140047)"),
    ("v1.36", "an image of a volume counts more than one of a container (PR 138951)"),
    ("v1.33 and v1.34", "preemption deletes a victim that is being deleted already"),
    ("all", f"some pods with resource claims stay pending forever; {_CLAIMS}"),
)


def page() -> str:
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD
    yield from _table(("version", "recorded with", "generated clusters", "probes"), map(_recordings, RELEASES))
    yield _NOT_EXACT
    yield "## Faults that are reproduced on purpose\n"
    yield "An answer that is right, and not that of your cluster, does not help. So these are decided as there:\n"
    yield from _table(("versions", "what happens"), _FAULTS)
    yield "## Feature gates that decide\n"
    yield "`locked` cannot be set. A dash: the version does not have the gate.\n"
    yield from _table(("gate", "proposal", *map(str, RELEASES)), map(_gate, KEPS))
    for older, newer in pairwise(RELEASES):
        yield f"## From {older} to {newer}\n"
        yield from _table(("subject", str(older), str(newer), "source"), _changes(older, newer))


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|---" * len(headings) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def _recordings(release: Release) -> tuple[str, ...]:
    names = {path.name for path in (_GOLDEN / "versions" / release.version).glob("*.json.gz")}
    if release == DEFAULT_RELEASE:
        names |= {path.name for path in (_GOLDEN / "cases").glob("*.json.gz")}
    n_probes = sum(name.startswith("probe-") for name in names)
    return str(release), release.recorded, str(len(names) - n_probes), str(n_probes)


def _gate(name: str) -> tuple[str, ...]:
    return name, KEPS[name], *(_state(name, release) for release in RELEASES)


def _state(name: str, release: Release) -> str:
    gate = feature_gate(name, release.minor)
    if gate is None:
        return "-"
    return f"{'on' if gate.is_on else 'off'}{', locked' if gate.is_locked else ''}"


def _changes(older: Release, newer: Release) -> Iterator[tuple[str, ...]]:
    for one in upgrade((), older, newer, ("", "")).differences:
        yield one.subject, one.a, one.b, one.source
    gates: dict[str, list[str]] = {}
    for field in IGNORED_FIELDS:
        gates.setdefault(f"{field.kind.__name__} {field.spelled}", []).append(field.gate)
    for subject, needed in gates.items():
        reads = [all(map(release.has, needed)) for release in (older, newer)]
        if reads[0] != reads[1]:
            words = ("reads it" if one else "does not read it" for one in reads)
            yield subject, *words, ", ".join(KEPS[gate] for gate in needed)


if __name__ == "__main__":
    sys.stdout.write(page())
