"""What a conversion of an older configuration gives: a v1 document, and what has changed or is lost on the way."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from kubesched.config import API_VERSION
from kubesched.documents import read_yaml
from kubesched.errors import ConfigError

Document = dict[str, Any]
"""A configuration, or an object in it, as plain values with string keys."""

_POLICY_KEY: Final = "policy.cfg"


class Notice(msgspec.Struct, frozen=True):
    """One thing that is not as it was.

    Attributes:
        text: what has changed, and what to do.
        path: the field of the v1 document that it is about; empty for the whole document.
        is_loss: whether the v1 document decides differently, because something has no equivalent any more.
    """

    text: str
    path: str = ""
    is_loss: bool = False


class Use(msgspec.Struct, frozen=True):
    """One use of a plugin at an extension point. `str()` names it, such as `priority RackSpread (ServiceAffinity,
    weight 3)`.

    Attributes:
        point: filter or score.
        name: such as `predicate ZoneTogether`; empty if the profile enables the plugin itself.
        args: the arguments of the plugin that belong to this use.
    """

    plugin: str
    point: str
    name: str = ""
    weight: int = 0
    args: dict[str, Any] = {}

    def __str__(self) -> str:
        weight = f"weight {self.weight}" if self.weight else ""
        if self.name:
            return f"{self.name} ({', '.join(filter(None, (self.plugin, weight)))})"
        return f"{self.plugin} ({weight or self.point})"


class Conversion(msgspec.Struct, frozen=True):
    """A v1 document that means the same as an older one.

    Attributes:
        origin: kind and version of the older document, such as `Policy v1`.
        document: KubeSchedulerConfiguration v1, not yet decoded or validated.
        notices: in the order of the document.
        uses: the predicates and priorities of a Policy.
    """

    origin: str
    document: Document
    notices: tuple[Notice, ...] = ()
    uses: tuple[Use, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Whether the document was v1 already and nothing was to do."""
        return self.origin == API_VERSION and not self.notices

    @property
    def is_lossy(self) -> bool:
        """Whether something has no equivalent any more."""
        return any(notice.is_loss for notice in self.notices)


def _refuse_file(path: str) -> str:
    raise ConfigError(f"missing policy config file {path}")


class PolicySources(msgspec.Struct, frozen=True):
    """Where the Policy is that a v1alpha1 configuration refers to.

    Attributes:
        text: the file of the configuration; a ConfigMap with the Policy may follow as a further YAML document.
        read_file: gives the text of a file that the configuration names.
        config_maps: those that were given together with the configuration.
    """

    text: str = ""
    read_file: Callable[[str], str] = _refuse_file
    config_maps: tuple[Any, ...] = ()

    def config_map(self, namespace: str, name: str) -> str:
        """The Policy in a ConfigMap.

        Raises:
            ConfigError: the ConfigMap is not in the text or has no Policy; upstream's words.
        """
        command = f"kubectl get configmap -n {namespace} {name} -o yaml"
        for further in (*self.config_maps, *(document.value for document in read_yaml(self.text))):
            if not _is_config_map(further, namespace, name):
                continue
            policy = (further.get("data") or {}).get(_POLICY_KEY)
            if not isinstance(policy, str):
                raise ConfigError(f'missing policy config map value at key "{_POLICY_KEY}"')
            return str(policy)  # without its place
        advice = (
            f"append it to the file of the configuration: (echo ---; {command}) >> FILE\n"
            "  or give it to `kubesched config convert` as a second file"
        )
        raise ConfigError(f"couldn't get policy config map {namespace}/{name}: not in the file\n  {advice}")


def _is_config_map(value: Any, namespace: str, name: str) -> bool:
    if not isinstance(value, dict) or value.get("kind") != "ConfigMap":
        return False
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name") != name:
        return False
    return metadata.get("namespace") in (namespace, None) and isinstance(value.get("data") or {}, dict)
