"""Checks `apiVersion` and `kind` of a configuration and its arguments, with upstream's messages."""

from typing import Any, Final

from kubesched.config.defaults import ARGS_PLUGINS
from kubesched.config.field_errors import quoted
from kubesched.documents import shorten
from kubesched.errors import ConfigError

GROUP: Final = "kubescheduler.config.k8s.io"
FIRST_VERSION: Final = "componentconfig/v1alpha1"  # until v1.11
API_VERSION: Final = f"{GROUP}/v1"
KIND: Final = "KubeSchedulerConfiguration"
KINDS: Final = frozenset((KIND, *(f"{name}Args" for name in ARGS_PLUGINS)))


def take_type_meta(document: Any) -> tuple[str, str, dict[str, Any]]:
    """Take kind and apiVersion (empty where absent) out of a document.

    Returns: kind, apiVersion and the document without them.
    Raises:
        ConfigError: the document is not an object, or one of the two is not a string.
    """
    if not isinstance(document, dict):
        raise _unreadable(f"expected an object, found {shorten(document)}")
    return _take_text(document, "kind"), _take_text(document, "apiVersion"), document


def check_registered(kind: str, version: str) -> None:
    """Check that the kind is one of v1.

    Raises:
        ConfigError: it is not.
    """
    if version == API_VERSION and kind in KINDS:
        return
    old = kind == "Policy" or (kind in KINDS and (version.startswith(f"{GROUP}/") or version == FIRST_VERSION))
    text = f"no kind {quoted(kind)} is registered for version {quoted(version)}"
    advice = "`kubesched config convert FILE` converts it" if old else f"its kinds: {', '.join(sorted(KINDS))}"
    raise ConfigError(f"{text}\n  expected apiVersion: {API_VERSION}; {advice}")


def _take_text(body: dict[str, Any], field: str) -> str:
    value = body.pop(field, None)
    if value is not None and not isinstance(value, str):
        raise _unreadable(f"{field}: expected a string, found {shorten(value)}")
    return value or ""


def _unreadable(what: str) -> ConfigError:
    return ConfigError(f"couldn't get version/kind; json parse error: {what}")
