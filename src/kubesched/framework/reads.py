"""The kinds that plugins declare in `reads`: checked, collected for a watch, and looked up by the handle."""

from collections.abc import Iterable, Mapping
from typing import Final, NoReturn, Protocol

from kubesched.api import KINDS, kind_named
from kubesched.documents import quoted
from kubesched.errors import InputError, PluginDefinitionError, PluginError

_ALWAYS: Final = {"Node": "Node", "Pod": "Pod"}


class _Reader(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def reads(self) -> tuple[str, ...]: ...


def readable(plugin: str, reads: object) -> Mapping[str, str]:
    """What a plugin may ask its handle for: nodes, pods, and the kinds in `reads`.

    Returns: each name of a kind -> what objects of it are stored under.
    Raises:
        PluginDefinitionError: `reads` is not a tuple of kinds.
    """
    if not isinstance(reads, tuple | list) or not all(isinstance(name, str) for name in reads):
        raise PluginDefinitionError(
            f'{plugin}.reads is {reads!r:.80}; expected a tuple of kinds, such as ("Service",)', plugin=plugin
        )
    found = dict(_ALWAYS)
    for name in reads:
        try:
            key = kind_named(name).key
        except InputError as error:
            raise PluginDefinitionError(f"{plugin}.reads: {error}", plugin=plugin) from None
        found[name] = found[name.removesuffix("?")] = found[key] = key
    return found


def kinds_read(plugins: Iterable[_Reader]) -> tuple[str, ...]:
    """The kinds that plugins declare, each once: keys of KINDS, and names as `kind_named` takes them, which are
    optional only where all plugins say so.

    Raises:
        PluginDefinitionError: a plugin's `reads` is not valid.
    """
    found: dict[str, str] = {}
    for plugin in plugins:
        readable(plugin.name, plugin.reads)
        for name in plugin.reads:
            kind = kind_named(name)
            if kind.key not in found or not kind.is_optional:
                found[kind.key] = kind.key if kind.key in KINDS else name
    return tuple(found.values())


def undeclared(plugin: str, kind: str, call: str) -> NoReturn:
    """Refuse a call of the handle: what is not declared may not be watched, and would seem not to exist.

    Raises:
        PluginError: always.
    """
    try:
        kind_named(kind)
        advice = f"the plugin does not declare this kind; add reads = ({quoted(kind)},) to the class"
    except InputError as error:
        advice = str(error)
    text = f"handle.{call}({quoted(kind)}): {advice}"
    raise PluginError(text, plugin=plugin, extension_point="")
