"""Merges the tolerations of a pod and of its RuntimeClass, without those that others include.

Rule: kube-apiserver v1.36 admission plugin RuntimeClass: a toleration is left out if another one, of the pod or of the
class, tolerates all that it tolerates; of two equal ones the first stays.
"""

from collections.abc import Sequence
from typing import Any

Toleration = dict[str, Any]


def merged(own: Sequence[Toleration], added: Sequence[Toleration]) -> list[Toleration]:
    """The tolerations of a pod that gets further ones."""
    kept: list[Toleration] = []
    tolerations = [*own, *added]
    for i, one in enumerate(tolerations):
        later = (other for other in tolerations[i + 1 :] if other != one)
        if not any(_includes(other, one) for other in (*kept, *later)):
            kept.append(one)
    return kept


def _includes(wide: Toleration, narrow: Toleration) -> bool:
    """Whether one toleration tolerates all that another one does, as far as the API server looks."""
    if wide == narrow:
        return True
    is_any = not wide.get("key") and wide.get("operator") == "Exists"
    if not is_any and (wide.get("key") or "") != (narrow.get("key") or ""):
        return False
    if wide.get("effect") and wide["effect"] != narrow.get("effect"):
        return False
    if wide.get("effect") == "NoExecute" and not _lasts_as_long(wide, narrow):
        return False
    if wide.get("operator") == "Exists":
        return True
    return narrow.get("operator") == "Equal" and (wide.get("value") or "") == (narrow.get("value") or "")


def _lasts_as_long(wide: Toleration, narrow: Toleration) -> bool:
    wide_seconds, seconds = wide.get("tolerationSeconds"), narrow.get("tolerationSeconds")
    return wide_seconds is None or (seconds is not None and seconds <= wide_seconds)
