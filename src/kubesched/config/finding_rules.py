"""The rules of `kubesched config check`, and those of `kubesched check`.

docs/reference/config-rules.md and docs/reference/cluster-rules.md have a section for each rule: what it means, and what
to do.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from kubesched.documents import did_you_mean

Severity = Literal["error", "warning", "note"]
"""Of a configuration: error: kube-scheduler does not start. warning: it starts, and pods suffer. note: worth a look.
Of a cluster: error: pods would not come back. warning: a node that goes interrupts a service, or cannot be
drained. note: worth a look.
"""

_PAGES: Final = "https://github.com/kubesched/kubesched/blob/main/docs/reference"


class Rule(msgspec.Struct, frozen=True):
    """What is checked, under the name by which a comment or an annotation silences it.

    Attributes:
        summary: what is wrong where the rule finds something, in a few words.
        page: of the reference, that describes it.
    """

    name: str
    severity: Severity
    summary: str
    page: str = "config-rules"

    @property
    def help_uri(self) -> str:
        """The address of the rule's section in the documentation."""
        return f"{_PAGES}/{self.page}.md#{self.name}"


def silencing_fault(rule: str, rules: Mapping[str, Rule]) -> tuple[str, str] | None:
    """Why a comment or an annotation cannot silence a rule, and what to do; None where it can."""
    if rule not in rules:
        page = next(iter(rules.values())).page
        return f'there is no rule "{rule}"', did_you_mean(rule, rules) or f"docs/reference/{page}.md lists the rules"
    if rules[rule].severity == "error":
        return f"{rule} cannot be silenced", "correct what it finds"
    return None


_ERRORS: Final = {
    "syntax": "the text is not YAML or JSON",
    "type-meta": "apiVersion or kind is missing or wrong",
    "old-version": "the version is older than v1",
    "not-convertible": "a file of an older version cannot be converted to v1",
    "unknown-flag": "kube-scheduler does not have the flag",
    "unknown-field": "the field does not exist",
    "duplicate-field": "the field is given twice",
    "wrong-type": "the value has a wrong type",
    "wrong-args": "the arguments are of another plugin",
    "required-value": "a value is missing",
    "invalid-value": "the value is not valid",
    "unsupported-value": "the value is not one of the supported ones",
    "duplicate-value": "the value is given twice",
    "forbidden-value": "the field must not be set here",
    "removed-plugin": "the plugin was removed from kube-scheduler",
    "unknown-plugin": "the plugin does not exist",
    "wrong-extension-point": "the plugin does not extend this extension point",
    "duplicate-plugin": "the plugin is enabled twice at one extension point",
    "queue-sort": "the profiles do not have exactly one queue sort plugin, the same in all",
    "no-bind-plugin": "no plugin binds pods",
    "weight-overflow": "the weights of the score plugins overflow",
    "plugin-init": "the plugin does not start with its arguments",
    "ignored-resources": "a profile without NodeResourcesFit cannot ignore an extender's resources",
    "extender-insecure-ca": "an extender has a CA, and is not to be checked",
    "rejected": "kube-scheduler rejects the configuration for another reason",
    "extender-probe": "an extender does not answer as the protocol demands",
}

_WARNINGS: Final = {
    "ignored-document": "the file has a second document, which is not read",
    "ignored-flag": "a flag has no effect beside --config",
    "filter-disabled": "pods can be placed on nodes that cannot run them",
    "no-preemption": "pods of high priority do not evict others",
    "half-enabled": "a plugin is enabled without the extension point that prepares it",
    "unknown-disabled": "a plugin that does not exist is disabled",
    "unreachable-bind": "a bind plugin is never called",
    "zero-weight": "a weight of 0 counts as 1",
    "dominant-weight": "one score outweighs all others",
    "low-percentage": "very few nodes are scored",
    "percentage-not-inherited": "a profile does not take the general percentage",
    "flat-shape": "a strategy scores all nodes alike",
    "unused-args": "arguments are not used",
    "default-lease": "a second scheduler uses kube-scheduler's lease",
    "shared-lease": "two schedulers use the same lease",
    "retry-period": "kube-scheduler does not start with these leader election times",
    "extender-whole-nodes": "the extender gets whole nodes",
    "extender-ignorable-bind": "another binder binds when the extender fails",
    "extender-timeout": "a slow extender blocks scheduling",
    "extender-url": "the extender cannot be called at this URL",
    "extender-scheme": "enableHTTPS does not make the URL HTTPS",
    "extender-tls": "the extender's certificate is not checked",
    "extender-no-verb": "the extender is never called",
    "ignored-resources-replaced": "ignoredResources has no effect",
    "unknown-rule": "a comment names a rule that does not exist or cannot be silenced",
}

_NOTES: Final = {
    "disabled-without-effect": "a plugin is disabled where it is not enabled",
    "unused-weight": "a weight has no effect",
    "own-plugin": "a stock kube-scheduler does not have the plugin",
    "no-scores": "no plugin scores nodes",
    "packing-outvoted": "a strategy that packs has less weight than one that spreads",
    "hard-default-constraint": "a default constraint rejects nodes",
    "client-rate": "the rate of API requests limits the pods per second",
    "slow-failover": "another replica takes over late",
    "long-backoff": "rejected pods wait long",
    "extender-sampling": "the extender does not see all nodes",
    "extender-required": "without the extender, no pod is scheduled",
    "unused-silence": "a comment silences nothing",
    "not-probed": "--probe called no extender of a rejected configuration",
    "extender-host": "the host name may not resolve on the host network",
}


_CLUSTER: Final = "cluster-rules"

_CLUSTER_ERRORS: Final = {
    "cannot-come-back": "pods that run would stay pending if they were re-created",
    "pods-refused": "the API server refuses pods that a workload needs",
    "rollout-hangs": "a rollout would wait for a pod that has no place",
    "rollout-shares-disk": "the disk of a running pod keeps the new one of a rollout from starting elsewhere",
    "zone-out": "no kubelet of a zone reports",
    "never-ends": "a pod of an unreachable node stays Terminating, and no new one comes",
}

_CLUSTER_WARNINGS: Final = {
    "not-created-again": "no controller would create the pod again",
    "budget-allows-nothing": "a disruption budget allows no eviction",
    "several-budgets": "several disruption budgets select the same pod, which cannot be evicted",
    "job-on-spot": "a Job that may not retry runs on spot nodes",
    "idle-budget": "a disruption budget selects no pod",
    "one-node": "all replicas run on one node",
    "invalid-strategy": "the strategy of a Deployment is not valid",
    "selector-pins": "only one node has what the pod selects",
}

_CLUSTER_NOTES: Final = {
    "claim-pins": "the data of the pod is on one node",
    "whole-machine": "the pod needs most of a machine, and no other one has the room",
    "no-other-node": "no other node takes the pod now",
    "evicts-others": "the pod would come back only by evicting others",
    "idle-constraint": "a spread constraint or an affinity term selects no pod",
    "one-zone": "all replicas run in one zone",
    "single-replica": "the workload has one replica",
}


_OF_ANNOTATIONS: Final = {"unknown-rule": "an annotation names a rule that does not exist, or cannot be silenced"}


def _rules(severity: Severity, summaries: dict[str, str], page: str = "config-rules") -> dict[str, Rule]:
    return {name: Rule(name, severity, summary, page) for name, summary in summaries.items()}


RULES: Final = {**_rules("error", _ERRORS), **_rules("warning", _WARNINGS), **_rules("note", _NOTES)}
"""The rules of configurations by name."""

CLUSTER_RULES: Final = {
    **_rules("error", _CLUSTER_ERRORS, _CLUSTER),
    **_rules("warning", _CLUSTER_WARNINGS, _CLUSTER),
    **_rules("note", _CLUSTER_NOTES, _CLUSTER),
    **_rules("warning", _OF_ANNOTATIONS, _CLUSTER),
    "unused-silence": Rule("unused-silence", "note", "an annotation silences nothing", _CLUSTER),
}
"""The rules of what runs in a cluster by name, with those of annotations that silence."""
