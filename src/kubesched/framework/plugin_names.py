"""The names of plugins: that of the class, or what the class sets as `name`, which is checked."""

import re
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_EXPECTED: Final = (
    "expected a text of at most 63 letters, digits, '-', '_' and '.' that begins and ends with a letter or a digit"
)


class ClassName:
    """The name of a class that sets none: that of the class itself, not that of a base."""

    def __get__(self, plugin: object, plugin_class: type) -> str:
        return plugin_class.__name__


def name_fault(plugin_class: type) -> str:
    """What is wrong with the name that a class sets; empty if nothing is, or if it sets none.

    Rule: kube-scheduler takes any text. Here, names are parts of paths (`/predicates/NAME`), of flags (`NAME=FILE`)
    and of metrics, so they have the form of a label value of Kubernetes.
    """
    declared = next(vars(base)["name"] for base in plugin_class.__mro__ if "name" in vars(base))
    if isinstance(declared, ClassName):
        return ""
    where = f"{plugin_class.__name__}.name"
    if not isinstance(declared, str):
        advice = 'write name = "my-plugin" in the class'
        return f"{where} is a {type(declared).__name__}; {_EXPECTED}: {advice}"
    return "" if _NAME.fullmatch(declared) else f"{where} is {declared[:80]!r}; {_EXPECTED}"
