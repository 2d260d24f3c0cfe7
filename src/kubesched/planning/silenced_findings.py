"""Annotations that silence rules: `kubesched/ignore: RULE, RULE`, as the comments of a configuration do.

One on a workload, on its pods or on a budget counts for that object, one on a namespace for all in it. What a rule of
the severity error finds cannot be silenced.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from kubesched.api import SILENCED, KubeObject, Namespace, Pod, PodOwners, ReplicaSet, kind_of
from kubesched.config import CLUSTER_RULES, Finding, silencing_fault

_NAME = re.compile(r"[\w-]+")


class Annotations:
    """What the annotations of a cluster silence.

    Args:
        objects: of the cluster.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        known = list(objects)
        owners = PodOwners(known)
        self._rules: dict[str, dict[str, None]] = {}
        for one in known:
            if one.annotations and SILENCED in one.annotations:
                rules = dict.fromkeys(_NAME.findall(one.annotations[SILENCED]))
                self._rules.setdefault(_place(one, owners), {}).update(rules)
        self._used: set[tuple[str, str]] = set()

    def split(self, findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
        """What is to be reported, and what annotations silence."""
        reported: list[Finding] = []
        silenced: list[Finding] = []
        for finding in findings:
            (silenced if self._silences(finding) else reported).append(finding)
        return reported, silenced

    def _silences(self, finding: Finding) -> bool:
        (about,) = finding.about
        namespace = about.partition(" ")[2].partition("/")[0]
        places = [place for place in (about, f"Namespace {namespace}") if finding.rule in self._rules.get(place, ())]
        if finding.severity == "error":
            return False
        self._used |= {(place, finding.rule) for place in places}
        return bool(places)

    def wrong(self, looked_at: Collection[str] | None) -> Iterator[Finding]:
        """A finding for each rule of an annotation that does not exist or cannot be silenced, or finds nothing.

        Args:
            looked_at: the only objects that are judged; None for all.
        """
        for place, rules in sorted(self._rules.items()):
            for rule in rules if looked_at is None or place in looked_at else ():
                about = (place,)
                if fault := silencing_fault(rule, CLUSTER_RULES):
                    yield Finding("unknown-rule", "", *fault, about=about)
                elif (place, rule) not in self._used:
                    message = f"the annotation {SILENCED} silences no {rule}: nothing is found"
                    yield Finding("unused-silence", "", message, "remove what is not needed any more", about=about)


def _place(one: KubeObject, owners: PodOwners) -> str:
    """The object that an annotation counts for, as findings name it."""
    if isinstance(one, Namespace):
        return f"Namespace {one.name}"
    if isinstance(one, Pod):
        return str(owners.workload_of(one))
    above = one.metadata.controller
    if isinstance(one, ReplicaSet) and above is not None:
        return f"{above.kind} {one.key.partition('/')[0]}/{above.name}"
    return f"{getattr(one, 'kind', '') or kind_of(one)} {one.key}"
