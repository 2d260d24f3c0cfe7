"""The rights that a plugin asks for: rules of an RBAC role on its class, checked where the class is defined."""

from collections.abc import Mapping, Sequence
from typing import Final

_FIELDS: Final = ("apiGroups", "resources", "verbs")
_VERBS: Final = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")


def rights_fault(class_name: str, rbac: object) -> str:
    """What is wrong with `rbac` of a class; empty if nothing is.

    A rule has `apiGroups`, `resources` and `verbs`, and may have `resourceNames`. Wildcards are
    refused: manifests grant what is listed.
    """
    if not isinstance(rbac, Sequence) or isinstance(rbac, str):
        return f"{class_name}.rbac is {rbac!r:.80}; expected a list of rules, each with {', '.join(_FIELDS)}"
    for row, rule in enumerate(rbac):
        if fault := _rule_fault(rule):
            return f"{class_name}.rbac[{row}]{fault}"
    return ""


def _rule_fault(rule: object) -> str:
    if not isinstance(rule, Mapping):
        return f" is {rule!r:.80}; expected a rule with {', '.join(_FIELDS)}"
    for field in _FIELDS:
        if field not in rule:
            return f" has no {field}; expected a rule with {', '.join(_FIELDS)}"
    for field, values in rule.items():
        if field not in (*_FIELDS, "resourceNames"):
            return f" has the field {field!r:.80}; expected {', '.join(_FIELDS)} or resourceNames"
        is_list = isinstance(values, Sequence) and not isinstance(values, str)
        if not is_list or not values or not all(isinstance(value, str) for value in values):
            return f".{field} is {values!r:.80}; expected a list of texts"
        if "*" in values:
            return f'.{field} has "*"; list what the plugin needs'
    unknown = [verb for verb in rule["verbs"] if verb not in _VERBS]
    return f".verbs has {unknown[0]!r:.80}; expected some of {', '.join(_VERBS)}" if unknown else ""
