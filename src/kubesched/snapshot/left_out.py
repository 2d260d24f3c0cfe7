"""Describes objects that were left out, by the reason why their kinds do not count."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubesched.api import KINDS, KUSTOMIZE_GROUP
from kubesched.documents import listed
from kubesched.snapshot.unusable_input import PATCHED

_NO_NAMES: Final[Mapping[str, Sequence[str]]] = {}
_OFF_BY_DEFAULT: Final = frozenset(("DeviceTaintRule",))
"""Kinds that kube-scheduler v1.36 reads only with a feature gate that is off by default."""
_KUSTOMIZED: Final = f".{KUSTOMIZE_GROUP}"
_OTHER_VERSION: Final = " of resource.k8s.io/"
"""Before the version of objects that have other fields in v1."""


def left_out_sentences(
    counts: Mapping[str, int], names: Mapping[str, Sequence[str]] = _NO_NAMES, *, source: str = "", advice: str = ""
) -> Iterator[str]:
    """One sentence for each reason.

    Args:
        counts: how many objects were left out, by kind.
        names: what to call some of them, by kind.
        source: what they are of, such as `the manifests`; empty for a snapshot.
        advice: the end of the sentence on kinds that kubesched does not read.
    """
    begin = f"left out of {source}" if source else "left out"
    older = {kind: n for kind, n in counts.items() if _OTHER_VERSION in kind}
    kustomized = {kind.removesuffix(_KUSTOMIZED): n for kind, n in counts.items() if kind.endswith(_KUSTOMIZED)}
    others = {
        kind: n
        for kind, n in counts.items()
        if kind not in _OFF_BY_DEFAULT and kind not in older and not kind.endswith(_KUSTOMIZED)
    }
    if others:
        yield f"{begin}, because kubesched does not read these kinds: {_counted(others, names)}{advice}"
    gated = {kind: n for kind, n in counts.items() if kind in _OFF_BY_DEFAULT}
    if gated:
        yield f"{begin}, because kube-scheduler does not read these kinds by default: {_counted(gated)}"
    if kustomized:
        yield f"not applied: {_counted(kustomized)}; {PATCHED}"
    if older:
        kinds = sorted({KINDS[kind.partition(_OTHER_VERSION)[0]].plural for kind in older})
        get = f"kubectl get {','.join(f'{kind}.v1.resource.k8s.io' for kind in kinds)} -A -o json"
        advice = f"write them in v1, or add what `{get}` prints of them" if source else f"add `{get}`"
        yield f"{begin}, because kubesched reads them in version v1: {_counted(older)}; {advice}"


def _counted(counts: Mapping[str, int], names: Mapping[str, Sequence[str]] = _NO_NAMES) -> str:
    return ", ".join(f"{n} {kind}{_in_brackets(names.get(kind, ()))}" for kind, n in sorted(counts.items()))


def _in_brackets(names: Sequence[str]) -> str:
    return f" ({listed(names)})" if names else ""
