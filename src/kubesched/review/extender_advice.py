"""Advice on extenders. `kubesched extender` prints the same sentences at its start."""

import re
from collections.abc import Iterator
from typing import Final

from kubesched.config import DEFAULT_SCHEDULER_NAME, ExtenderConfig, Finding
from kubesched.review.reviewed import Review

_LONG_TIMEOUT: Final = 30
_SHORT_TIMEOUT: Final = 0.01
_URL: Final = re.compile(
    r"(?P<scheme>https?)://([^/?#@\s]*@)?(?P<host>[^/:?#@\[\]\s]+|\[[0-9a-fA-F:.]+\])(:\d+)?(?:[/?#]|$)"
)
_VERBS: Final = ("filterVerb", "prioritizeVerb", "preemptVerb", "bindVerb")


def sampling_advice(
    percentage: int, share: str = "some of the nodes", rejecting: str = "the extender rejects"
) -> tuple[str, str]:
    """That kube-scheduler offers an extender only a share of the nodes, and what to do.

    Args:
        percentage: percentageOfNodesToScore; 0 means that kube-scheduler chooses.
        rejecting: what can reject these nodes, with its verb.
    """
    where = f"percentageOfNodesToScore: {percentage}" if percentage else "percentageOfNodesToScore at its default"
    message = f"With {where}, kube-scheduler stops after {share} passed its own filters and sends only those."
    pending = f"A pod stays pending if {rejecting} all of them."
    return message, f"{pending} percentageOfNodesToScore: 100 sends and scores all nodes."


def scored_as_idle(version: int) -> str:
    """What kube-scheduler does from a version on (33 for v1.33) if an extender gets whole nodes."""
    return (
        f"From v1.{version} on kube-scheduler then scores every node as if it were idle (NodeResourcesFit, "
        "NodeResourcesBalancedAllocation)"
    )


def ignorable_bind_before(version: int) -> str:
    """What `ignorable: true` does not cover before a version (30 for v1.30)."""
    return (
        f"ignorable: true does not cover bind before v1.{version}: a pod is not bound while the "
        "extender is down. Every version silently ignores prioritize calls that fail."
    )


def extender_advice(review: Review) -> Iterator[Finding]:
    """Find the common mistakes with extenders that a configuration shows."""
    for i, extender in enumerate(review.configuration.extenders):
        where = f"extenders[{i}]"
        yield from _calls(extender, where, review)
        yield from _bind(extender, where)
        yield from _timeout(extender, where)
        yield from _address(extender, where)
    yield from _replaced_resources(review)


def _calls(extender: ExtenderConfig, where: str, review: Review) -> Iterator[Finding]:
    verbs = (extender.filter_verb, extender.prioritize_verb, extender.preempt_verb, extender.bind_verb)
    if not any(verbs):
        yield Finding("extender-no-verb", where, "the extender has no verb, so it is never called", _verbs_help())
    if extender.weight and not extender.prioritize_verb:
        message = "the weight has no effect, because the extender has no prioritizeVerb"
        yield Finding("unused-weight", f"{where}.weight", message)
    for name, verb in zip(_VERBS, verbs, strict=True):
        if verb.startswith("/"):
            advice = f'write "{verb.lstrip("/")}"; kube-scheduler adds the slash'
            yield Finding("extender-url", f"{where}.{name}", f'"{verb}" is called as "/{verb}"', advice)
    if not extender.node_cache_capable and any(verbs[:3]):
        message = "without nodeCacheCapable: true, each call has all nodes as whole objects, some 14 KB each"
        advice = "an extender that watches nodes needs only names"
        if extender.filter_verb:
            advice = f"{scored_as_idle(33)}; {advice}"
        yield Finding("extender-whole-nodes", f"{where}.nodeCacheCapable", message, advice)
    if extender.filter_verb:
        yield from _sampling(where, review)
    names = {profile.written.scheduler_name for profile in review.profiles}
    is_for_all = DEFAULT_SCHEDULER_NAME in names and not extender.managed_resources
    if extender.filter_verb and not extender.ignorable and is_for_all:
        message = "if the extender does not answer, no pod of any profile is scheduled, its own replacement included"
        advice = "set ignorable: true, or managedResources so that only pods with these resources need it"
        yield Finding("extender-required", f"{where}.filterVerb", message, advice)


def _verbs_help() -> str:
    return f"set one or more of {', '.join(_VERBS)}"


def _sampling(where: str, review: Review) -> Iterator[Finding]:
    general = review.configuration.percentage_of_nodes_to_score
    own = (profile.percentage_of_nodes_to_score for profile in review.configuration.profiles)
    lowest = min({general if percentage is None else percentage for percentage in own} or {general})
    if lowest < 100:
        message, advice = sampling_advice(lowest)
        yield Finding("extender-sampling", f"{where}.filterVerb", message, advice)


def _bind(extender: ExtenderConfig, where: str) -> Iterator[Finding]:
    if extender.bind_verb and extender.ignorable:
        yield Finding(
            "extender-ignorable-bind",
            f"{where}.ignorable",
            "if the extender's bind fails, the bind plugins bind the pod, without what the extender assigns",
            f"set ignorable: false, or let another extender bind. {ignorable_bind_before(30)}",
        )


def _timeout(extender: ExtenderConfig, where: str) -> Iterator[Finding]:
    timeout = extender.http_timeout
    if timeout > _LONG_TIMEOUT:
        message = f"one call that gets no answer stops all scheduling for {timeout}"
        advice = "kube-scheduler decides one pod at a time; give a few seconds"
        yield Finding("extender-timeout", f"{where}.httpTimeout", message, advice)
    elif 0 < timeout < _SHORT_TIMEOUT:
        message = f"no extender answers within {timeout}"
        yield Finding("extender-timeout", f"{where}.httpTimeout", message, "did you mean seconds, such as 5s?")


def _address(extender: ExtenderConfig, where: str) -> Iterator[Finding]:
    url, path = _URL.match(extender.url_prefix), f"{where}.urlPrefix"
    if url is None:
        example = "https://127.0.0.1:8888/scheduler"
        message = f'"{extender.url_prefix}" is not a URL, so every call fails' if extender.url_prefix else _NO_URL
        yield Finding("extender-url", path, message, f"write a URL such as {example}")
        return
    tls = extender.tls_config
    if url["scheme"] == "http" and (extender.enable_https or tls is not None):
        field = "enableHTTPS" if extender.enable_https else "tlsConfig"
        message = f"{field} has no effect on a URL that begins with http://"
        yield Finding("extender-scheme", f"{where}.{field}", message, "write https:// in urlPrefix")
    elif url["scheme"] == "https":
        yield from _tls(extender, where)
    if url["host"].endswith((".svc", ".svc.cluster.local", ".cluster.local")):
        message = f"{url['host']} is a Service name, which the DNS of a host does not resolve"
        advice = "a kube-scheduler on the host network needs dnsPolicy: ClusterFirstWithHostNet"
        yield Finding("extender-host", path, message, advice)


_NO_URL: Final = "the extender has no urlPrefix, so every call fails"


def _tls(extender: ExtenderConfig, where: str) -> Iterator[Finding]:
    tls = extender.tls_config
    has_ca = tls is not None and bool(tls.ca_file or tls.ca_data)
    if tls is not None and tls.insecure:
        advice = "give a CA, and no insecure: true"
        yield Finding("extender-tls", f"{where}.tlsConfig.insecure", "insecure: true accepts any certificate", advice)
    elif extender.enable_https and not has_ca:
        message = "enableHTTPS without a CA in tlsConfig turns the check of the certificate off"
        advice = "set tlsConfig.caFile or caData; without enableHTTPS, the CAs of the system count"
        yield Finding("extender-tls", f"{where}.enableHTTPS", message, advice)


def _replaced_resources(review: Review) -> Iterator[Finding]:
    """Rule: the ignored resources of all extenders replace those of NodeResourcesFit's arguments."""
    extenders = review.configuration.extenders
    if not any(resource.ignored_by_scheduler for extender in extenders for resource in extender.managed_resources):
        return
    for profile in review.profiles:
        for j, entry in enumerate(profile.written.plugin_config):
            if entry.name == "NodeResourcesFit" and getattr(entry.args, "ignored_resources", None):
                yield Finding(
                    "ignored-resources-replaced",
                    profile.at(f"pluginConfig[{j}].args.ignoredResources"),
                    "the resources with ignoredByScheduler of the extenders replace this list",
                    "add its resources to managedResources of an extender, or remove ignoredByScheduler",
                )
