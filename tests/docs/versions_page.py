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
([recordings](../../tests/golden/README.md)).
"""
_NOT_EXACT = """\
## What is not exact

- Resource claims are exact from v1.36 on. v1.34 and v1.35 take a random device of those that match a claim; kubesched
  takes the one that v1.36 takes. The nodes that fit are those of the version, except where a request has all devices
  among its alternatives, where devices of one name make a pool invalid, and where a selector fails for some devices.
  v1.33 with DynamicResourceAllocation is decided as v1.34.
- The queue is that of v1.36, compared with real kube-schedulers of v1.36 alone. Every version has it here. The
  release notes say what other versions do otherwise:
  - v1.33 counts attempts that end with an error, such as one of the network, toward the backoff (PR 128748).
  - v1.34 keeps the nominated node of a pod when an attempt fails; v1.33, and v1.35 and later, clear it (PR 133276,
    PR 135007).
  - Before v1.36, a pod that is preempted while it waits in Permit is unschedulable until an event, and one in PreBind
    is deleted; since v1.36, both back off (PR 135719, PR 135502).
  - Since v1.37, a binding that fails for a moment is tried again at once (PR 138855), and a gated pod with a nominated
    node holds its room (PR 139057).

  The nodes that fit are the same, except through nominations: they hold room against pods of lower priority.
- A feature gate that is on in an older version than by default has the rules of the later version.

[Scope](../scope.md) has what is not exact in any version.
"""
_PATCHES = """\
## Patches

A version is decided as the patch that was recorded, so `--kubernetes-version 1.36` means v1.36.3. So is every other
patch, and for a later one a note says so. The release notes name these rules that are not the same in all patches:
"""
_OF_PATCHES = (
    ("InterPodAffinity", "leaves namespaces out again (issue 141526)", "v1.34.13, v1.35.10, v1.36.6", "as the patch"),
    ("NodePorts", "counts host ports of sidecars (PR 133390)", "v1.33.6", "as v1.33.13, with a note"),
    ("TaintToleration", "does not name the taint in its text (PR 135023)", "v1.34.2", "as v1.34.4, with a note"),
    (
        "DynamicResources",
        "pods that share a claim and have a separate one start (PR 139362)",
        "v1.35.6",
        "as v1.36.3, not compared",
    ),
)
_EXPECTED = """\
## Expected of v1.38

v1.38 is decided as v1.37, with a note. On 2026-11-27 the newest version of its module was v1.38.0-beta.0. Other
modules that it names could not be had (k8s.io/apiextensions-api, k8s.io/ktesting, structured-merge-diff v7.0.1), and it
was not built without them: nothing is measured. The release notes of v1.38.0-alpha.1 to alpha.3 announce:
"""
_CHANGES_EXPECTED = (
    ("PodTopologySpread", "a constraint with `labelSelector: {}` counts all pods of the namespace", "PR 141340"),
    ("DefaultPreemption", "a PodDisruptionBudget with an empty selector counts", "PR 141785"),
    ("extenders that preempt", "get candidates without victims, too", "PR 135486"),
    ("VolumeBinding", "storage above 2^63 bytes is compared exactly", "PR 142088"),
    ("DynamicResources", "an incomplete pool of one node does not end a request for all devices", "PR 141898"),
    ("DynamicResources", "a device that pods share is not given to one pod alone", "PR 140798"),
    ("DynamicResources", "a capacity may be named with or without its driver", "PR 142202"),
    ("DynamicResources", "a DeviceTaintRule without deviceSelector matches no device", "PR 141648"),
    ("feature gates", "DynamicResourceAllocation is gone: remove it from `--feature-gates`", "PR 141946"),
    ("feature gates", "PodSchedulingReadiness is gone", "PR 141741"),
    ("feature gates", "MatchLabelKeysInPodAffinity is gone", "PR 141744"),
    ("feature gates", "TopologyAwareWorkloadScheduling is beta", "PR 140295"),
    ("configuration", "new field percentageOfPlacementsToScore, for that gate", "PR 139859"),
    ("metrics", "the label `type` of scheduler_queued_entities becomes `entity`", "PR 143180"),
)
_CLAIMS = "[a live scheduler starts them](scheduler.md#what-differs-for-claims)"
_FAULTS = (
    (
        "v1.34 to v1.36, until v1.34.12, v1.35.9 and v1.36.5",
        "a namespaceSelector of NotIn or DoesNotExist alone matches every namespace (issue 141526)",
    ),
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
    yield _PATCHES
    yield from _table(("plugin", "what it does", "since", "here"), _OF_PATCHES)
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
    yield _EXPECTED
    yield from _table(("subject", "what is announced", "source"), _CHANGES_EXPECTED)


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
