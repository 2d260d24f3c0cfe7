"""Checks `apiVersion` and `kind` of a configuration and its arguments, with upstream's messages."""

import copy
from typing import Any, Final

from kubesched.config.defaults import ARGS_PLUGINS
from kubesched.config.field_errors import quoted
from kubesched.config.known_since import ignores_arguments
from kubesched.documents import joined, shorten
from kubesched.errors import ConfigError
from kubesched.release import DEFAULT_RELEASE, Release

GROUP: Final = "kubescheduler.config.k8s.io"
FIRST_VERSION: Final = "componentconfig/v1alpha1"  # until v1.11
API_VERSION: Final = f"{GROUP}/v1"
_OLDER: Final = tuple(f"{GROUP}/{version}" for version in ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"))
"""Rule: kube-scheduler v1.12 to v1.28 had them, and no other."""
KIND: Final = "KubeSchedulerConfiguration"
POLICY: Final = "Policy"
KINDS: Final = frozenset((KIND, *(f"{name}Args" for name in ARGS_PLUGINS)))

_POLICY_LISTS: Final = frozenset(("predicates", "priorities", "extenders"))
_POLICY_FIELDS: Final = _POLICY_LISTS | {"hardpodaffinitysymmetricweight", "alwayscheckallpredicates"}
UNREADABLE: Final = "couldn't get version/kind; json parse error: "
CONVERTS: Final = "`kubesched config convert FILE` converts it"
"""Ends the advice on a document of an older version."""


def policy_fields(document: Any) -> tuple[str, ...]:
    """The fields at the top of a document that only a Policy has, in its order and spelling; none if it is not one.

    It is one if it has predicates or priorities with names, or if each of its fields is one of a Policy.

    Example:
        assert policy_fields({"predicates": [{"name": "HostName"}], "comment": "ours"}) == ("predicates",)
        assert policy_fields({"profiles": [], "extenders": []}) == ()
    """
    if not isinstance(document, dict):
        return ()
    lists = [key for key, value in document.items() if key.lower() in _POLICY_LISTS and isinstance(value, list)]
    is_named = any(_has_names(document[key]) for key in lists if key.lower() != "extenders")
    is_whole = {key.lower() for key in document} - {"kind", "apiversion"} <= _POLICY_FIELDS
    return tuple(lists) if is_named or is_whole else ()


def is_bare_policy(document: Any) -> bool:
    """Whether a document is a Policy by its fields, because it has neither kind nor apiVersion."""
    return bool(policy_fields(document)) and not (document.get("kind") or document.get("apiVersion"))


def advice_on_missing(kind: str, version: str, document: Any) -> str:
    """What to add to a document without kind or apiVersion.

    Args:
        kind, version: as they are; empty where they are missing.
        document: with its fields.
    """
    if is_policy := kind == POLICY or (not kind and policy_fields(document)):
        if not kind and not version:
            return f"{joined(policy_fields(document))} at the top are those of a Policy; {CONVERTS}"
        line = f"kind: {POLICY}" if version else "apiVersion: v1"
    elif not kind and not version:
        return f"a configuration starts with apiVersion: {API_VERSION} and kind: {KIND}"
    else:
        line = f"kind: {KIND}" if version else f"apiVersion: {API_VERSION}"
    older = "" if is_policy or version else ", or the version that the file was written for"
    return f"add the line `{line}`{older}"


def _has_names(entries: list[Any]) -> bool:
    keys = [{key.lower() for key in entry} if isinstance(entry, dict) else () for entry in entries]
    return bool(keys) and all("name" in one for one in keys)


def take_type_meta(document: Any) -> tuple[str, str, dict[str, Any]]:
    """Take kind and apiVersion (empty where absent) out of a copy of a document.

    Returns: kind, apiVersion and the copy.
    Raises:
        ConfigError: the document is not an object, or one of the two is not a string.
    """
    if not isinstance(document, dict):
        raise _unreadable(f"expected an object, found {shorten(document)}")
    body = copy.copy(document)
    return _take_text(body, "kind"), _take_text(body, "apiVersion"), body


def kinds_of(release: Release) -> frozenset[str]:
    """The kinds of v1 in a version of kube-scheduler."""
    return frozenset((KIND, *(f"{name}Args" for name in ARGS_PLUGINS if not ignores_arguments(name, release))))


def check_registered(kind: str, version: str, release: Release = DEFAULT_RELEASE) -> None:
    """Check that the kind is one of v1.

    Raises:
        ConfigError: it is not.
    """
    kinds = kinds_of(release)
    if version == API_VERSION and kind in kinds:
        return
    of_kind = ("v1", API_VERSION) if kind == POLICY else (*_OLDER, FIRST_VERSION)
    text = f"no kind {quoted(kind)} is registered for version {quoted(version)}"
    if kind not in kinds and kind != POLICY and GROUP not in version:
        raise ConfigError(f"{text}\n  not a scheduler configuration; expected kind: {KIND}, apiVersion: {API_VERSION}")
    if kind not in kinds and kind != POLICY:
        advice = f"its kinds: {', '.join(sorted(kinds))}"
    else:
        advice = CONVERTS if version in of_kind else _no_such_version(kind)
    raise ConfigError(f"{text}\n  expected apiVersion: {API_VERSION}; {advice}")


def _no_such_version(kind: str) -> str:
    if kind == POLICY:
        return f"a {POLICY} has apiVersion: v1, and `kubesched config convert FILE` converts it then"
    names = joined(version.rpartition("/")[2] for version in _OLDER)
    return f"there is no such version; the older ones are {names}"


def _take_text(body: dict[str, Any], field: str) -> str:
    value = body.pop(field, None)
    if value is not None and not isinstance(value, str):
        raise _unreadable(f"{field}: expected a string, found {shorten(value)}")
    return value or ""


def _unreadable(what: str) -> ConfigError:
    return ConfigError(f"{UNREADABLE}{what}")
