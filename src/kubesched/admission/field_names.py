"""Rejects unknown fields of manifests, as an API server does when `kubectl apply` asks it for strict decoding.

An unknown field is a mistake that nothing else shows: `request:` instead of `requests:` makes a pod without requests.
"""

import math
from typing import Any, Final

from kubesched.admission.known_fields import FIELDS, VERSIONS
from kubesched.config import did_you_mean
from kubesched.errors import ObjectError
from kubesched.release import Release

_MAX_NAMED: Final = 8
_ALL: Final = (0, math.inf)


def check_fields(kind: str, document: dict[str, Any], release: Release) -> None:
    """Check the names of all fields of an object that has the right types where it is read.

    Args:
        kind: a type in FIELDS.
        release: the version of the API server.
    Raises:
        ObjectError: the first field that the version does not have: since when there is such a field, or the known
            one that is nearest.
    """
    _check(kind, document, "", release)


def _check(name: str, value: Any, path: str, release: Release) -> None:
    if isinstance(value, list):
        for i, one in enumerate(value):
            _check(name, one, f"{path}[{i}]", release)
    elif isinstance(value, dict):
        known = FIELDS[name]
        for field, content in value.items():
            where = f"{path}.{field}" if path else field
            if field not in known:
                raise ObjectError(f"{where}: unknown field{_advice(field, known)}")
            first, last = VERSIONS.get((name, field), _ALL)
            if not first <= release.minor <= last:
                since = f"since v1.{first}" if release.before(first) else f"until v1.{last}"
                raise ObjectError(
                    f"{where}: unknown field in v1.{release.minor}; Kubernetes has it {since}; --kubernetes-version "
                    "names another version"
                )
            if known[field]:
                _check(known[field], content, where, release)


def _advice(field: str, known: dict[str, str]) -> str:
    """What may have been meant: a field further inside, a similar one here, or one of the pod."""
    if field.startswith("$"):  # of a patch
        return ""
    if inner := _inside(field, known):
        return f'; did you mean "{inner}"?'
    if near := did_you_mean(field, known):
        return f"; {near}"
    if field.startswith("x-"):
        return "; an API server rejects it too: put the anchor where it is used first"
    if field in FIELDS["PodSpec"]:
        return "; it belongs to the spec of the pod"
    return f"; expected {', '.join(known)}" if len(known) <= _MAX_NAMED else ""


def _inside(field: str, known: dict[str, str]) -> str:
    """The path of a field with this name one or two levels further inside, but for claims of devices."""
    inner = [(name, FIELDS[kind]) for name, kind in known.items() if kind and name != "claims"]
    inner += [(f"{name}.{deeper}", FIELDS[kind]) for name, fields in inner for deeper, kind in fields.items() if kind]
    return next((f"{path}.{field}" for path, fields in inner if field in fields), "")
